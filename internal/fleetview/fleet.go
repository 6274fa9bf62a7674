package fleetview

import (
	"cmp"
	"slices"
	"time"

	"github.com/maruel/natural"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Fleet is what is known of all drives, hosts and models at a time.
type Fleet struct {
	Time time.Time `json:"time"`
	// Drives are sorted, the worst first.
	Drives []Drive `json:"drives"`
	Hosts  []Host  `json:"hosts"`
	Models []Model `json:"models"`
	// Silent lists the nodes, as by Node.Place, whose daemon was scraped within the last day but is not scraped now.
	Silent []string `json:"silent"`
	// Empty lists the nodes whose daemon watches no drive.
	Empty []string `json:"empty"`
	// Problems are the warnings of the server: an answer may be incomplete.
	Problems []string `json:"problems,omitempty"`
	// Compared is how many drives are compared across nodes. It is 0 when the recording rules are not loaded, or when no
	// model has four drives.
	Compared int `json:"compared"`
	// some is true if only some of the drives were asked for.
	some bool
}

// Node names a node.
type Node struct {
	// Cluster is empty where the series have no such label: then the server is that of a single cluster.
	Cluster string `json:"cluster,omitempty"`
	Name    string `json:"node"`
}

// Place returns "cluster/node", or the name alone where there is no cluster.
func (n Node) Place() string {
	if n.Cluster == "" {
		return n.Name
	}
	return n.Cluster + "/" + n.Name
}

// Drive is a target of a node.
type Drive struct {
	Node
	Device string `json:"device"`
	ID     string `json:"id"`
	Kind   string `json:"kind,omitempty"` // "file" for a probe file
	Model  string `json:"model,omitempty"`
	// Firmware is empty when it is not known.
	Firmware string `json:"firmware,omitempty"`
	// Verdict is the verdict of the drive's node. If only the comparison across nodes finds the drive far slower than its
	// peers, it is on watch, and degraded once the alert SsdprobeDriveSlowerThanPeers fires.
	Verdict record.DriveVerdict `json:"verdict"`
	Slower
	// Since is the onset; zero when it is not known.
	Since time.Time `json:"since,omitzero"`
	// By lists the sources of the verdict: probes, traffic, stalls, errors, or fleet.
	By []string `json:"by,omitempty"`
	// Attribution lists the changes of conditions at the time when the drive became slower, as its node knows them.
	Attribution []record.Change `json:"attribution,omitempty"`
	// Batch says that other drives of the node got slower together with this one.
	Batch bool `json:"batch,omitempty"`
	standing
	// PowerOn is the drive's total power-on time; 0 when it does not report one.
	PowerOn time.Duration `json:"power_on_ns,omitempty"`
}

// Slower is how many times slower a drive is, or a host makes its drives; 0 when neither is known to be slower.
type Slower struct {
	Ratio float64 `json:"ratio,omitempty"`
	// Lower and Upper bound its 95 % interval. Both are 0 when there is none, as for a ratio from the comparison across
	// nodes.
	Lower float64 `json:"ratio_lower,omitempty"`
	Upper float64 `json:"ratio_upper,omitempty"`
}

// standing compares a drive with its peers on all nodes over an hour. It uses the statistic that is furthest beyond its
// limit, or nearest to it. All fields are zero when the drive is not compared.
type standing struct {
	// VsPeers is how many times slower the drive is than the median of its peers, corrected for what slows its whole
	// node. A value above Limit is far slower.
	VsPeers   float64          `json:"vs_peers,omitempty"`
	Limit     float64          `json:"limit,omitempty"`
	Probe     string           `json:"probe,omitempty"`
	Statistic record.Statistic `json:"statistic,omitempty"`
}

// byFleet is the source in By for a drive that is far slower than its peers on all nodes.
const byFleet = "fleet"

// Host is the verdict on a node.
type Host struct {
	Node
	Drives  int                 `json:"drives"`
	Verdict record.DriveVerdict `json:"verdict"`
	Slower
	// Since is the onset; zero when it is not known.
	Since time.Time `json:"since,omitzero"`
}

// Model summarizes the drives of a model with one firmware.
type Model struct {
	Model    string                      `json:"model"`
	Firmware string                      `json:"firmware,omitempty"`
	Drives   int                         `json:"drives"`
	Verdicts map[record.DriveVerdict]int `json:"verdicts"`
	// VsFastest is how many times slower the median of these drives is than that of the model's fastest firmware; 0 when
	// it is not compared. Slower says that the difference is more than chance and large enough to matter.
	VsFastest float64 `json:"vs_fastest,omitempty"`
	Slower    bool    `json:"slower,omitempty"`
}

// order sorts drives and hosts by how bad they are, models by how slow they are, and silent and empty nodes by name.
func (f *Fleet) order() {
	slices.SortFunc(f.Drives, func(a, b Drive) int {
		return cmp.Or(
			cmp.Compare(b.Verdict.Badness(), a.Verdict.Badness()), cmp.Compare(b.Ratio, a.Ratio),
			natural.Compare(a.Place(), b.Place()), natural.Compare(a.Device, b.Device), cmp.Compare(a.ID, b.ID),
		)
	})
	slices.SortFunc(f.Hosts, func(a, b Host) int {
		return cmp.Or(cmp.Compare(b.Verdict.Badness(), a.Verdict.Badness()), cmp.Compare(b.Ratio, a.Ratio), natural.Compare(a.Place(), b.Place()))
	})
	slices.SortFunc(f.Models, func(a, b Model) int {
		return cmp.Or(cmp.Compare(b.VsFastest, a.VsFastest), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Firmware, b.Firmware))
	})
	slices.SortFunc(f.Silent, natural.Compare)
	slices.SortFunc(f.Empty, natural.Compare)
}

// models summarizes the drives of each model and firmware.
func models(drives []Drive, vs map[modelKey]firmware) []Model {
	known := map[modelKey]*Model{}
	for _, d := range drives {
		if d.Kind == "file" || d.Model == "" {
			continue // a probe file also measures a filesystem
		}
		key := modelKey{d.Model, d.Firmware}
		m := known[key]
		if m == nil {
			m = &Model{Model: d.Model, Firmware: d.Firmware, Verdicts: map[record.DriveVerdict]int{}, VsFastest: vs[key].vsFastest, Slower: vs[key].slower}
			known[key] = m
		}
		m.Drives++
		m.Verdicts[d.Verdict]++
	}
	list := []Model{}
	for _, m := range known {
		list = append(list, *m)
	}
	return list
}

// Only returns the fleet with only those drives that keep accepts, and their models. Hosts stay.
func (f Fleet) Only(keep func(Drive) bool) Fleet {
	f.some = true
	f.Drives = slices.DeleteFunc(slices.Clone(f.Drives), func(d Drive) bool { return !keep(d) })
	f.Models = slices.DeleteFunc(slices.Clone(f.Models), func(m Model) bool {
		return !slices.ContainsFunc(f.Drives, func(d Drive) bool { return d.Model == m.Model && d.Firmware == m.Firmware })
	})
	return f
}
