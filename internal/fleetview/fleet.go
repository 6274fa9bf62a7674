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
	// Drives are the worst first.
	Drives []Drive `json:"drives"`
	Hosts  []Host  `json:"hosts"`
	Models []Model `json:"models"`
	// Silent are the nodes that had a daemon within a day and no verdict now.
	Silent []string `json:"silent"`
	// Problems are what the server warned of: an answer may be incomplete.
	Problems []string `json:"problems,omitempty"`
	// Compared is how many drives are compared across nodes: 0 where the recording rules are not loaded, or no model
	// has four drives.
	Compared int `json:"compared"`
}

// Drive is a target of a node.
type Drive struct {
	Node   string `json:"node"`
	Device string `json:"device"`
	ID     string `json:"id"`
	Kind   string `json:"kind,omitempty"` // "file" for a probe file
	Model  string `json:"model,omitempty"`
	// Firmware is empty where it is not known.
	Firmware string `json:"firmware,omitempty"`
	// Verdict is that of its node. A drive that only all nodes together know to be far slower than its peers is on
	// watch, and degraded once the alert SsdprobeDriveSlowerThanPeers fires.
	Verdict record.DriveVerdict `json:"verdict"`
	Slower
	// Since is the onset; zero when it is not known.
	Since time.Time `json:"since,omitzero"`
	// By is who says so: probes, traffic, stalls, errors, or fleet.
	By []string `json:"by,omitempty"`
	// Batch says that drives of its node got slower with it.
	Batch bool `json:"batch,omitempty"`
	standing
	// PowerOn is how long it was powered on since it was made; 0 when it does not say.
	PowerOn time.Duration `json:"power_on_ns,omitempty"`
}

// Slower is how many times slower a drive is, or a host makes its drives; 0 when nothing says so.
type Slower struct {
	Ratio float64 `json:"ratio,omitempty"`
	// Lower and Upper bound its 95 % interval. Both are 0 when there is none, as for what only all nodes together know.
	Lower float64 `json:"ratio_lower,omitempty"`
	Upper float64 `json:"ratio_upper,omitempty"`
}

// standing is where a drive stands beside its peers on all nodes, over an hour, by the statistic that is furthest beyond its
// limit, or nearest to it. All is empty when it is not compared.
type standing struct {
	// VsPeers is how many times slower than the median of the peers it is, without what slows its node. Limit is from
	// where on that is far.
	VsPeers   float64          `json:"vs_peers,omitempty"`
	Limit     float64          `json:"limit,omitempty"`
	Probe     string           `json:"probe,omitempty"`
	Statistic record.Statistic `json:"statistic,omitempty"`
}

// byFleet is who says that a drive is far slower than its peers on all nodes.
const byFleet = "fleet"

// Host is the verdict on a node.
type Host struct {
	Node    string              `json:"node"`
	Drives  int                 `json:"drives"`
	Verdict record.DriveVerdict `json:"verdict"`
	Slower
	// Since is the onset; zero when it is not known.
	Since time.Time `json:"since,omitzero"`
}

// Model is what is known of the drives of a model with one firmware.
type Model struct {
	Model    string                      `json:"model"`
	Firmware string                      `json:"firmware,omitempty"`
	Drives   int                         `json:"drives"`
	Verdicts map[record.DriveVerdict]int `json:"verdicts"`
	// VsFastest is how many times slower the median of its drives is than that of the fastest firmware of the model; 0
	// when it is not compared. Slower says that this is more than chance and large enough to matter.
	VsFastest float64 `json:"vs_fastest,omitempty"`
	Slower    bool    `json:"slower,omitempty"`
}

// order sorts drives and hosts, the worst first.
func (f *Fleet) order() {
	slices.SortFunc(f.Drives, func(a, b Drive) int {
		return cmp.Or(
			cmp.Compare(b.Verdict.Badness(), a.Verdict.Badness()), cmp.Compare(b.Ratio, a.Ratio),
			natural.Compare(a.Node, b.Node), natural.Compare(a.Device, b.Device), cmp.Compare(a.ID, b.ID),
		)
	})
	slices.SortFunc(f.Hosts, func(a, b Host) int {
		return cmp.Or(cmp.Compare(b.Verdict.Badness(), a.Verdict.Badness()), cmp.Compare(b.Ratio, a.Ratio), natural.Compare(a.Node, b.Node))
	})
	slices.SortFunc(f.Models, func(a, b Model) int {
		return cmp.Or(cmp.Compare(b.VsFastest, a.VsFastest), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Firmware, b.Firmware))
	})
	slices.SortFunc(f.Silent, natural.Compare)
}

// models sums up the drives of each model and firmware.
func models(drives []Drive, vs map[modelKey]firmware) []Model {
	known := map[modelKey]*Model{}
	for _, d := range drives {
		if d.Kind == "file" || d.Model == "" {
			continue // a probe file measures a filesystem too
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

// Only leaves the drives that a filter keeps, and the models of those. Hosts stay.
func (f Fleet) Only(keep func(Drive) bool) Fleet {
	f.Drives = slices.DeleteFunc(slices.Clone(f.Drives), func(d Drive) bool { return !keep(d) })
	f.Models = slices.DeleteFunc(slices.Clone(f.Models), func(m Model) bool {
		return !slices.ContainsFunc(f.Drives, func(d Drive) bool { return d.Model == m.Model && d.Firmware == m.Firmware })
	})
	return f
}
