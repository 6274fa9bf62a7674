package finding

import (
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Group is one finding with all its subjects, so that a finding that several drives share is reported
// once.
type Group struct {
	Finding
	Subjects []Subject

	noun string // what the subjects are
}

// Subject is what a finding is about. TargetID is empty for the node, and for a drive that is not a
// target.
type Subject struct{ TargetID, Name string }

// Groups combines findings with the same wording, in the order in which each first occurs.
func Groups(all []Finding) []Group {
	var groups []Group
	for _, f := range all {
		same := func(g Group) bool {
			return g.Severity == f.Severity && g.Code == f.Code && g.String() == f.String() && g.Since.Equal(f.Since)
		}
		i := slices.IndexFunc(groups, same)
		if i < 0 {
			i, groups = len(groups), append(groups, Group{Finding: f, noun: noun(f)})
		}
		groups[i].add(f)
	}
	return groups
}

func (g *Group) add(f Finding) {
	if noun(f) != g.noun {
		g.noun = target
	}
	if s := subject(f); !slices.Contains(g.Subjects, s) {
		g.Subjects = append(g.Subjects, s)
	}
}

// Count returns the number of subjects in words, such as "5 drives"; empty for one.
func (g Group) Count() string {
	if len(g.Subjects) == 1 {
		return ""
	}
	return units.Plural(len(g.Subjects), g.noun)
}

// target is a drive or a file.
const target = "target"

// noun returns the word for the subject of a finding.
func noun(f Finding) string {
	switch {
	case f.Probe != "":
		return "probe"
	case onFile(f):
		return target
	default:
		return "drive"
	}
}

func onFile(f Finding) bool { return f.Path != "/dev/"+f.Device }

func subject(f Finding) Subject {
	if f.TargetID == "" && f.Path == "" {
		return Subject{Name: "this node"}
	}
	name := strings.TrimSpace(f.Path + " " + f.Probe)
	if onFile(f) {
		name = record.FileOn(name, f.Device)
	}
	return Subject{TargetID: f.TargetID, Name: name}
}
