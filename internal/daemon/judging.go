package daemon

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// judging judges the targets of the node together. Its lock guards every attached tracker. It may be locked while the
// locks of a watch and of its rounds are held, but not the other way round.
type judging struct {
	mu   sync.Mutex
	node *judge.Node
	// waits is true until the drives of the node have been discovered. After a restart, the drives that are found
	// first must not be judged without the others.
	waits bool
	// news is true when a judgement is worth saving.
	news bool
}

// begin starts judging once the drives of the node have been discovered. It judges at once: until then, the verdicts are
// those of before the start, which may be long ago.
func (j *judging) begin() []judge.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waits = false
	return j.over()
}

// advance judges the blocks that have ended. news reports whether something has changed since the last save.
func (j *judging) advance() (events []judge.Event, news bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	events = j.over()
	return events, j.news
}

// over is advance for callers that hold the lock.
func (j *judging) over() []judge.Event {
	if j.waits {
		return nil
	}
	events := j.node.Advance(time.Now())
	j.news = j.news || len(events) > 0
	return events
}

func newJudging(s drift.Settings) *judging {
	return &judging{node: judge.NewNode(s)}
}

// judgeEvery is how often blocks that have ended are judged while no round ends.
const judgeEvery = 10 * time.Second

// attach passes the trackers of a watch to the judge, in place of those of an earlier watch of the target.
func (j *judging) attach(w *watch) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.node.ReplaceDrive(w.judged())
	for _, p := range w.rounds.probes {
		j.node.Attach(w.spec.ID, p.probe.Name, p.tracker)
	}
	if w.traffic != nil {
		j.node.Attach(w.spec.ID, judge.Traffic, w.traffic)
	}
}

// detach removes a target that is not watched any more.
func (j *judging) detach(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.node.RemoveDrive(id)
}

// change carries out a request on the node. It returns the accepted levels, by source.
func (j *judging) change(r state.Request) (accepted map[string]drift.Note, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	accepted, err = r.ChangeNode(j.node, time.Now())
	j.news = j.news || err == nil
	return accepted, err
}

// look calls f while nothing is being judged.
func (j *judging) look(f func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f()
}

// took judges a round, and all blocks that have ended. It returns the rounds that would confirm or refute what this
// one suggests.
func (j *judging) took(id string, m record.Measurement) ([]judge.Event, []judge.Wanted) {
	j.mu.Lock()
	defer j.mu.Unlock()
	wanted := j.node.Add(id, m)
	return j.over(), wanted
}

// judged returns the drive of the target as the judge identifies it.
func (w *watch) judged() judge.Drive {
	d := judge.DriveOf(w.spec.ID, w.device, w.spec.File)
	d.Device = cmp.Or(d.Device, w.spec.LockID)
	return d
}

// judge passes something to the judge, and reports the resulting events, including those of blocks that have ended.
func (d *Daemon) judge(give func(*judge.Node)) {
	var events []judge.Event
	j := d.shared.judging
	j.look(func() {
		give(j.node)
		events = j.over()
	})
	d.tellJudged(events)
}

// judgeTraffic passes the traffic of a device to the judge and the history.
func (d *Daemon) judgeTraffic(deviceID string, t record.Traffic) {
	w := d.ofDevice(deviceID)
	if w == nil || t.Unusable != "" {
		return
	}
	w.rememberTraffic(t)
	conditions := w.conditionsNow()
	sample := judge.Sample{Time: t.Time, Work: drift.WorkOf(&t.Work), Utilisation: t.Utilisation}
	if !t.CoarseTimes {
		sample.Read, sample.Write, sample.Flush = meanOf(t.Read), meanOf(t.Write), meanOf(t.Flush)
	}
	d.judge(func(n *judge.Node) { n.Traffic(w.spec.ID, sample, conditions) })
}

func meanOf(s record.Served) float64 {
	if s.IOs < judge.FewIOs {
		return 0
	}
	return s.MeanLatency.Seconds()
}

// ofDevice returns the watch to which the traffic of a device belongs: the watch of the device itself, or else of a
// file on it. It returns nil when there is none.
func (d *Daemon) ofDevice(id string) *watch {
	var found *watch
	for _, w := range d.current() {
		switch {
		case w.spec.ID == id:
			return w
		case w.spec.LockID == id && (found == nil || w.spec.ID < found.spec.ID):
			found = w
		}
	}
	return found
}

// tellJudged logs the events that are of interest to people, and triggers their saving and recording.
func (d *Daemon) tellJudged(events []judge.Event) {
	if len(events) == 0 {
		return
	}
	watches := d.current()
	for _, e := range events {
		log := d.shared.log
		if w := watches[e.Drive]; w != nil {
			log = w.log
			w.news.Store(true)
		}
		d.recordVerdict(e)
		switch {
		case e.Drift != nil:
			tellDrift(log, e.Source, *e.Drift)
		case e.Verdict.Blames():
			if e.Ratio.Ratio > 0 { // stalls and errors have no ratio
				log = log.With("times_slower", e.Ratio.Ratio)
			}
			log.Warn("the drive is slow or does not answer", "verdict", e.Verdict, "scope", e.Scope, "since", e.Since, "witnesses", e.Witnesses, "onsets", onsets(e))
		default:
			log.Info("the verdict on the drive changed", "verdict", e.Verdict)
		}
		if e.Drive == "" && e.State == record.Regressed {
			log.Warn("drives of this host got slower together", "scope", e.Scope, "drives", e.Drives, "times_slower", e.Ratio.Ratio, "since", e.Since)
		}
	}
}

// onsets returns the onset of each witness of a verdict, for the log.
func onsets(e judge.Event) slog.Value {
	var list []slog.Attr
	for _, witness := range slices.Sorted(maps.Keys(e.Onsets)) {
		list = append(list, slog.Time(witness, e.Onsets[witness]))
	}
	return slog.GroupValue(list...)
}
