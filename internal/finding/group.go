package finding

import (
	"slices"
	"strings"
)

// Group is one finding with all that it is about: what is wrong with the host is told once,
// not for each of its drives.
type Group struct {
	Finding
	Subjects []Subject
}

// Subject is what a finding is about. TargetID is empty for the node.
type Subject struct{ TargetID, Name string }

// Groups puts findings of the same words together, in the order of the first of each.
func Groups(all []Finding) []Group {
	var groups []Group
	for _, f := range all {
		same := func(g Group) bool {
			return g.Severity == f.Severity && g.Code == f.Code && g.String() == f.String() && g.Since.Equal(f.Since)
		}
		i := slices.IndexFunc(groups, same)
		if i < 0 {
			i, groups = len(groups), append(groups, Group{Finding: f})
		}
		groups[i].Subjects = append(groups[i].Subjects, subject(f))
	}
	return groups
}

func subject(f Finding) Subject {
	if f.TargetID == "" && f.Path == "" {
		return Subject{Name: "this node"}
	}
	return Subject{TargetID: f.TargetID, Name: strings.TrimSpace(f.Path + " " + f.Probe)}
}
