package drift

import "github.com/ssdprobe/ssdprobe/internal/record"

// WorkExplained is what others asked of the device lately, and the load that it causes. Load is the utilisation that
// the work would cause on the healthy device, as a slower one is busier with the same work.
type WorkExplained struct {
	// Others is the work; nil where it was not counted. Load then is the observed utilisation.
	Others *Work `json:"others,omitempty"`
	// Utilisation is the observed share (0 to 1) of time that others used the device.
	Utilisation float64 `json:"utilisation"`
	// Load is the share (0 to 1) that blocks are judged by.
	Load float64 `json:"load"`
	// Modelled says that Load comes from the cost model, which was learned on the first day. Costs are the seconds
	// that, by the model, the healthy device takes for a read, a write, a KiB read and a KiB written.
	Modelled bool            `json:"modelled"`
	Costs    *[works]float64 `json:"costs_seconds,omitempty"`
	// Seen is false when the baseline has not seen this load.
	Seen bool `json:"seen"`
}

// explainWork explains the last rounds; nil while there are none.
func (t *Tracker) explainWork() *WorkExplained {
	if len(t.latest) == 0 {
		return nil
	}
	b := t.current().Baseline
	loads := make([]int, len(t.latest))
	for i, p := range t.latest {
		loads[i] = max(0, p.Load)
	}
	observed, w := median(loads), medianWork(t.latest)
	load := b.load(w, observed)
	out := &WorkExplained{Utilisation: float64(observed) / 1000, Load: float64(load) / 1000, Seen: b.knows(load)}
	if w.Known {
		out.Others = new(w.work())
	}
	if b.Maturity == record.Final && b.Costs != (costs{}) {
		out.Modelled, out.Costs = w.Known, (*[works]float64)(&b.Costs)
	}
	return out
}
