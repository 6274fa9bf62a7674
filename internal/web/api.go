package web

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// status is the JSON shape of /api/v1/status.
type status struct {
	Time    time.Time `json:"time"`
	Node    string    `json:"node"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Ready   bool      `json:"ready"`
	// Summary says how the node is, as on the status page: "1 critical, 2 warnings".
	Summary string `json:"summary"`
	// Findings has the worst first; empty when all is well.
	Findings   []finding.Finding        `json:"findings"`
	Targets    int                      `json:"targets"`
	Probes     int                      `json:"probes"`
	Ignored    int                      `json:"ignored"`
	Collectors []record.CollectorStatus `json:"collectors"`
}

func newStatus(s record.Snapshot, version string) status {
	found := finding.Of(s)
	summary, _ := finding.Summary(s, found)
	answer := status{
		Time: s.Time, Node: s.Node, Version: version, Started: s.Started, Ready: s.NotReady == "",
		Summary: summary, Findings: found, Targets: len(s.Targets), Ignored: len(s.Ignored),
		Collectors: append([]record.CollectorStatus{}, s.Collectors...),
	}
	for _, t := range s.Targets {
		answer.Probes += len(t.Probes)
		answer.Collectors = append(answer.Collectors, t.Collectors...)
	}
	return answer
}

// health is the JSON shape of /api/v1/health.
type health struct {
	Time time.Time `json:"time"`
	Node string    `json:"node"`
	// Host is the verdict on the host; absent until it is judged.
	Host   *record.Judgement `json:"host,omitempty"`
	Drives []driveHealth     `json:"drives"`
}

// driveHealth is the health of a drive, also as text.
type driveHealth struct {
	finding.Health
	Text string `json:"text"`
}

func newHealth(s record.Snapshot) health {
	answer := health{Time: s.Time, Node: s.Node, Host: s.Host, Drives: []driveHealth{}}
	for _, h := range finding.HealthOf(s) {
		answer.Drives = append(answer.Drives, driveHealth{h, report.DriveState(h, units.UTC)})
	}
	return answer
}

// devices is the JSON shape of /api/v1/devices.
type devices struct {
	Time    time.Time        `json:"time"`
	Node    string           `json:"node"`
	Targets []target         `json:"targets"`
	Ignored []record.Ignored `json:"ignored"`
	// Together lists the groups of drives that became slower together.
	Together []record.Together `json:"together,omitempty"`
}

func newDevices(s record.Snapshot) devices {
	answer := devices{Time: s.Time, Node: s.Node, Targets: []target{}, Ignored: append([]record.Ignored{}, s.Ignored...), Together: s.Together}
	found := finding.Of(s)
	for _, t := range s.Targets {
		answer.Targets = append(answer.Targets, newTarget(t, found, figuresOnly))
	}
	return answer
}

// target is the JSON shape of /api/v1/devices/{id}: a record.TargetStatus with its findings, and with ready-made
// figures in the windows. The list of all targets leaves out the histograms, which are most of its bytes.
type target struct {
	record.TargetStatus
	Probes   []probe           `json:"probes"`
	Findings []finding.Finding `json:"findings"`
}

type probe struct {
	record.ProbeStatus
	Window *window `json:"window,omitempty"`
}

type window struct {
	record.Window
	IOs int64 `json:"ios"`
	// Values are in the unit at the end of the statistic's name.
	Values map[record.Statistic]float64 `json:"values"`
	// Unsure lists the statistics that too few I/Os support; see record.Supported.
	Unsure  []record.Statistic `json:"unsure,omitempty"`
	Latency record.Histogram   `json:"latency,omitempty"`
}

// detail says whether histograms are included.
type detail bool

const (
	whole       detail = true
	figuresOnly detail = false
)

func newTarget(t record.TargetStatus, found []finding.Finding, d detail) target {
	answer := target{TargetStatus: t, Probes: []probe{}, Findings: finding.OfTarget(found, t.ID)}
	for _, p := range t.Probes {
		shown := probe{ProbeStatus: p, Window: newWindow(p.Window, d)}
		if p.Last != nil && d == figuresOnly {
			last := *p.Last
			last.Latency, last.Warmup = nil, nil
			shown.Last = &last
		}
		answer.Probes = append(answer.Probes, shown)
	}
	return answer
}

func newWindow(w *record.Window, d detail) *window {
	if w == nil {
		return nil
	}
	answer := window{Window: *w, IOs: w.Latency.Count(), Values: map[record.Statistic]float64{}}
	for _, s := range record.Statistics() {
		value, sure := windowValue(*w, s)
		answer.Values[s] = value
		if !sure {
			answer.Unsure = append(answer.Unsure, s)
		}
	}
	if d == whole {
		answer.Latency = w.Latency
	}
	return &answer
}

// windowValue returns a statistic of a window in its own unit, and whether enough I/Os support it.
func windowValue(w record.Window, s record.Statistic) (value float64, sure bool) {
	if s == record.IOPS {
		return w.IOPS, true
	}
	p := windowPercentile(w, s)
	return p.Latency.Seconds(), p.Supported()
}

// windowPercentile returns the percentile that corresponds to a latency statistic.
func windowPercentile(w record.Window, s record.Statistic) record.WindowPercentile {
	percent := map[record.Statistic]float64{record.LatencyP50: 50, record.LatencyP95: 95, record.LatencyP99: 99}[s]
	p, _ := w.Percentile(percent)
	return p
}

// where identifies the probe and target of a row.
type where struct {
	TargetID string `json:"target_id"`
	Path     string `json:"path"`
	Device   string `json:"device"`
	Probe    string `json:"probe"`
}

func newWhere(t record.TargetStatus, p record.ProbeStatus) where {
	return where{TargetID: t.ID, Path: t.Path, Device: t.Device.Name, Probe: p.Probe.Name}
}

// drifts is the JSON shape of /api/v1/drift.
type drifts struct {
	Time  time.Time  `json:"time"`
	Node  string     `json:"node"`
	Drift []driftRow `json:"drift"`
	// Effects holds the effect of the last change of conditions on each probe, where it is known.
	Effects []effectRow `json:"effects"`
}

type effectRow struct {
	where
	record.Effect
	// Text is the effect as text.
	Text string `json:"text"`
}

type driftRow struct {
	where
	record.Drift
	// Baseline and Window are the compared values, in the unit of the statistic; absent when there is none.
	Baseline *float64 `json:"baseline,omitempty"`
	Window   *float64 `json:"window,omitempty"`
	// Lifetime is what all changes of conditions did to the statistic; absent before the first.
	Lifetime *record.Lifetime `json:"lifetime,omitempty"`
}

func newDrifts(s record.Snapshot) drifts {
	answer := drifts{Time: s.Time, Node: s.Node, Drift: []driftRow{}, Effects: []effectRow{}}
	for _, t := range s.Targets {
		for _, p := range t.Probes {
			if p.Effect != nil {
				answer.Effects = append(answer.Effects, effectRow{newWhere(t, p), *p.Effect, p.Effect.String()})
			}
			for _, d := range p.Drift {
				row := driftRow{where: newWhere(t, p), Drift: d}
				if l, ok := p.Lifetime[d.Statistic]; ok {
					row.Lifetime = &l
				}
				if p.Baseline != nil {
					if value, ok := p.Baseline.Values[d.Statistic]; ok {
						row.Baseline = &value
					}
				}
				if p.Window != nil {
					value, _ := windowValue(*p.Window, d.Statistic)
					row.Window = &value
				}
				answer.Drift = append(answer.Drift, row)
			}
		}
	}
	return answer
}

// baselines is the JSON shape of /api/v1/baselines.
type baselines struct {
	Time      time.Time     `json:"time"`
	Node      string        `json:"node"`
	Baselines []baselineRow `json:"baselines"`
}

type baselineRow struct {
	where
	LearningRounds int `json:"learning_rounds"`
	LearningGoal   int `json:"learning_goal"`
	// Baseline is the baseline of the current epoch; absent while it is being learned.
	Baseline *record.Baseline `json:"baseline,omitempty"`
}

func newBaselines(s record.Snapshot) baselines {
	answer := baselines{Time: s.Time, Node: s.Node, Baselines: []baselineRow{}}
	for _, t := range s.Targets {
		for _, p := range t.Probes {
			answer.Baselines = append(answer.Baselines, baselineRow{
				where: newWhere(t, p), LearningRounds: p.LearningRounds, LearningGoal: p.LearningGoal, Baseline: learned(p),
			})
		}
	}
	return answer
}

// learned returns the baseline once it is complete.
func learned(p record.ProbeStatus) *record.Baseline {
	if p.Baseline == nil || p.Baseline.Learned.IsZero() {
		return nil
	}
	return p.Baseline
}

// past is the JSON shape of /api/v1/history/{id}: the means of a target's figures over an hour, a day and a month.
type past struct {
	Time   time.Time    `json:"time"`
	Series []pastSeries `json:"series"`
}

type pastSeries struct {
	history.Key
	Spans []pastSpan `json:"spans"`
}

type pastSpan struct {
	Span string `json:"span"`
	// SlotSeconds is the length of the time slot of each mean.
	SlotSeconds float64         `json:"slot_seconds"`
	Points      []history.Point `json:"points"` // only slots that have a value
}

func newPast(h *history.History, now time.Time) past {
	answer := past{Time: now, Series: []pastSeries{}}
	for _, key := range h.Keys() {
		s := pastSeries{Key: key}
		for _, span := range history.Spans() {
			points := append([]history.Point{}, h.Points(key, span, now)...)
			s.Spans = append(s.Spans, pastSpan{Span: span.Name, SlotSeconds: span.Slot.Seconds(), Points: points})
		}
		answer.Series = append(answer.Series, s)
	}
	return answer
}

// recordings is the JSON shape of /api/v1/recordings: the kept recordings, oldest first, and those that are being made.
type recordings struct {
	Time time.Time `json:"time"`
	Node string    `json:"node"`
	report.RecordingList
}

func newRecordings(s record.Snapshot) recordings {
	answer := recordings{Time: s.Time, Node: s.Node}
	answer.Recordings, answer.Unfinished = []record.RecordingHead{}, []record.RecordingHead{}
	if s.Recorder != nil {
		answer.Recordings = append(answer.Recordings, s.Recorder.Recordings...)
		answer.Unfinished = append(answer.Unfinished, s.Recorder.Unfinished...)
	}
	return answer
}
