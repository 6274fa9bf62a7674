package verdicts

import (
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Probe is the name of the probe that made the rounds of scenarios.
const Probe = "read-4k"

// sources is how many sources share the budget of false alarms of a drive, as in the daemon: the probe and the
// traffic.
const sources = 2

// Judge runs a scenario through the judge of the daemon.
func Judge(s drifttest.Scenario, settings drift.Settings) (Judged, error) {
	b, err := follow(s, settings)
	return Judged{b.findings, b.shown}, err
}

// Follow is like Judge, but returns the node as it is at the end.
func Follow(s drifttest.Scenario, settings drift.Settings) (*judge.Node, error) {
	b, err := follow(s, settings)
	return b.node, err
}

func follow(s drifttest.Scenario, settings drift.Settings) (*bench, error) {
	settings = settings.Shared(sources)
	b := &bench{
		scenario: s, settings: settings, node: judge.NewNode(settings), told: map[string]told{},
		latest: make([]last, len(s.Drives)), felt: map[string]float64{}, asked: make([]admit.Hourly, len(s.Drives)), confirmations: config.Default().Admission.ConfirmationsPerHour,
	}
	known := make([]bool, len(s.Drives))
	restarts := s.Restarts
	var now time.Time
	for i, sample := range s.Samples {
		if sample.Time.After(now) {
			b.advance(now)
			b.outOfTurn(sample.Time, known)
			now = sample.Time
			for ; len(restarts) > 0 && now.Sub(drifttest.Start()) >= restarts[0]; restarts = restarts[1:] {
				if err := b.restart(now); err != nil {
					return b, err
				}
			}
			b.remove(now.Sub(drifttest.Start()), known)
		}
		if !known[i] {
			known[i] = true
			b.node.AddDrive(ofScenario(s.Drives[i]))
			b.show(s.Drives[i].ID, record.Unjudged, s.Drives[i].From)
		}
		b.take(i, sample)
	}
	b.advance(now)
	b.stand()
	return b, nil
}

// feltOver is the time over which is averaged what the users of a drive feel.
const feltOver = 30 * time.Minute

func ofScenario(d drifttest.Drive) judge.Drive {
	return judge.Drive{ID: d.ID, Model: d.Model, SizeBytes: d.SizeBytes}
}

// bench is a scenario under way.
type bench struct {
	scenario drifttest.Scenario
	settings drift.Settings
	node     *judge.Node
	findings []Finding
	latest   []last             // by drive, as in the scenario
	felt     map[string]float64 // by drive: the mean of the last half hour; see Finding.Felt
	heard    heard
	asked    []admit.Hourly // rounds of each drive out of turn
	// confirmations is how many rounds may run out of turn on a drive in an hour.
	confirmations int
	asks          []ask           // rounds out of turn that are to come, in the order of time
	told          map[string]told // by drive
	shown         []Shown         // the last of each drive goes on to the end
}

// stand notes for how long each verdict about a drive stood: until another one was shown.
func (b *bench) stand() {
	for i := range b.findings {
		f := &b.findings[i]
		for _, v := range b.shown {
			if f.Drive == v.Drive && f.Severity != Regressed && v.From <= f.At && f.At < v.To {
				f.Stood = v.To - f.At
			}
		}
	}
}

// show notes the verdict that is shown for a drive from now on.
func (b *bench) show(drive string, v record.DriveVerdict, at time.Duration) {
	for i, s := range slices.Backward(b.shown) {
		if s.Drive == drive {
			b.shown[i].To = at
			break
		}
	}
	b.shown = append(b.shown, Shown{drive, v, at, b.scenario.Duration})
}

// told is the last verdict that was reported about a drive.
type told struct {
	verdict record.DriveVerdict
	scope   record.Scope
}

func (b *bench) take(drive int, s drifttest.Sample) {
	id := b.scenario.Drives[drive].ID
	part := float64(b.scenario.Interval) / float64(feltOver)
	b.felt[id] += (s.Felt - b.felt[id]) * part
	b.heard.add(s, part/float64(len(b.scenario.Drives)))
	o := s.Others
	work := drift.Work{Known: o.Known, Reads: o.Reads, Writes: o.Writes, ReadBytes: o.ReadBytes, WrittenBytes: o.WriteBytes}
	if !s.Refused() && !s.Loaded { // like judge.Node.Add: a loaded round is not compared
		r := drift.Round{Time: s.Time, Values: s.Values, Utilisation: s.Utilisation, Work: work}
		b.latest[drive] = last{r, s.Conditions}
		b.round(drive, b.latest[drive])
	}
	if o.ReadLatency > 0 || o.WriteLatency > 0 || o.FlushLatency > 0 {
		b.node.Traffic(id, judge.Sample{
			Time: s.Time, Work: work, Utilisation: s.Utilisation, Read: o.ReadLatency, Write: o.WriteLatency, Flush: o.FlushLatency,
		}, s.Conditions)
	}
}

// heard is the noise of the host.
type heard struct {
	lately, firstDay float64 // means; lately over feltOver
	samples          int     // of the first day
}

// add takes a sample, which makes a part of the mean.
func (h *heard) add(s drifttest.Sample, part float64) {
	h.lately += (s.HostNoise - h.lately) * part
	if s.Time.Sub(drifttest.Start()) < 24*time.Hour {
		h.samples++
		h.firstDay += (s.HostNoise - h.firstDay) / float64(h.samples)
	}
}

// ratio returns how many times slower the noise made the drives lately than on the first day; 0 when not known.
func (h *heard) ratio() float64 {
	if h.firstDay == 0 {
		return 0
	}
	return h.lately / h.firstDay
}

// ask is a round of a drive out of turn.
type ask struct {
	drive int
	at    time.Time
}

// last is the last round of a drive in its turn, with its conditions.
type last struct {
	round      drift.Round
	conditions record.Conditions
}

// round takes a round of a drive, and asks for the rounds out of turn that the judge wants, to confirm or refute what it
// shows. Without one of this drive, there are none of others.
func (b *bench) round(drive int, now last) {
	wanted := b.node.Round(b.scenario.Drives[drive].ID, Probe, now.round, now.conditions)
	if b.scenario.Again == nil {
		return
	}
	for k, w := range wanted {
		of := slices.IndexFunc(b.scenario.Drives, func(d drifttest.Drive) bool { return d.ID == w.Drive })
		if asked := b.ask(of, now.round.Time, now.round.Time.Add(w.In), judge.MostWanted(k, b.confirmations)); k == 0 && !asked {
			return
		}
	}
}

// ask asks for a round of a drive at a time, unless one is due by then anyway. It is false if the drive has had its maximum of
// the last hour.
func (b *bench) ask(drive int, now, at time.Time, most int) bool {
	if due := b.latest[drive].round.Time.Add(b.scenario.Interval); due.After(now) && !due.After(at) {
		return true
	}
	if !b.asked[drive].Take(now, most) {
		return false
	}
	after := slices.IndexFunc(b.asks, func(a ask) bool { return a.at.After(at) })
	if after < 0 {
		after = len(b.asks)
	}
	b.asks = slices.Insert(b.asks, after, ask{drive, at})
	return true
}

// outOfTurn makes the rounds that were asked for before a time, in their order.
func (b *bench) outOfTurn(before time.Time, known []bool) {
	for len(b.asks) > 0 && b.asks[0].at.Before(before) {
		a := b.asks[0]
		b.asks = b.asks[1:]
		now := b.latest[a.drive]
		if !known[a.drive] || now.round.Time.IsZero() {
			continue
		}
		var ok bool
		if now.round.Values, ok = b.scenario.Again(a.drive, a.at.Sub(drifttest.Start())); ok { // else it is refused
			now.round.Time = a.at
			b.round(a.drive, now)
			b.advance(a.at)
		}
	}
}

// remove removes the drives that have left.
func (b *bench) remove(at time.Duration, known []bool) {
	for i, d := range b.scenario.Drives {
		if known[i] && d.To < b.scenario.Duration && at >= d.To {
			known[i] = false
			b.node.RemoveDrive(d.ID)
		}
	}
}

// restart continues with what a daemon stores.
func (b *bench) restart(now time.Time) error {
	fresh := judge.NewNode(b.settings)
	if err := fresh.Restore(b.node.State(now)); err != nil {
		return fmt.Errorf("restore the node: %w", err)
	}
	for _, d := range b.scenario.Drives {
		for _, source := range []string{Probe, judge.Traffic} {
			old := b.node.Tracker(d.ID, source)
			if old == nil {
				continue
			}
			t := drift.NewTracker(b.settings)
			if source == judge.Traffic {
				t = judge.NewTrafficTracker(b.settings)
			}
			if err := t.Restore(old.State()); err != nil {
				return fmt.Errorf("restore %s of %s: %w", source, d.ID, err)
			}
			fresh.AddDrive(ofScenario(d))
			fresh.Attach(d.ID, source, t)
		}
	}
	b.node = fresh
	return nil
}

// advance keeps the verdicts that the node has made up to now.
func (b *bench) advance(now time.Time) {
	for _, e := range b.node.Advance(now) {
		if e.Drive != "" && e.Verdict != "" && e.Statistic == "" {
			before := b.told[e.Drive]
			if b.told[e.Drive] = (told{e.Verdict, e.Scope}); b.told[e.Drive] == before {
				continue // another witness says the same
			} else if e.Verdict != before.verdict {
				b.show(e.Drive, e.Verdict, e.Time.Sub(drifttest.Start()))
			}
		}
		var severity Severity
		switch {
		case e.Verdict == record.Severe:
			severity = Severe
		case e.Verdict == record.Degraded:
			severity = Degraded
		case e.State == record.Regressed:
			severity = Regressed
		default:
			continue
		}
		f := Finding{
			At: e.Time.Sub(drifttest.Start()), Drive: e.Drive, Scope: drifttest.Scope(e.Scope), Severity: severity, Ratio: e.Ratio.Ratio,
			Statistic: string(e.Statistic), Source: e.Source, Felt: b.felt[e.Drive], HostNoise: b.heard.ratio(),
		}
		switch {
		case e.Drive != "" || e.Scope == record.ScopeHost:
			b.findings = append(b.findings, f)
		default:
			for _, name := range e.Drives {
				f.Drive, f.Felt = name, b.felt[name]
				b.findings = append(b.findings, f)
			}
		}
	}
}
