package judge

import (
	"cmp"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Drive is a target that is judged.
type Drive struct {
	ID        string
	Model     string
	SizeBytes int64
	// Rotational drives are judged in groups of their own, so they have a host's part of their own.
	Rotational bool
	// Group names drives that are alike, where the model says too little: virtual and networked volumes share a model
	// without being alike.
	Group string
	// Device is the id of the physical drive, if there may be several targets on it; ID stands for it when empty.
	Device string
}

// DriveOf returns the Drive of a target. A file is in a group of its own, as filesystems differ, and so are volumes and a target
// without a model.
func DriveOf(id string, device record.Device, file bool) Drive {
	d := Drive{ID: id, Model: device.Model, SizeBytes: device.SizeBytes, Rotational: device.Rotational, Device: device.Physical()}
	if file || d.Model == "" || device.IsVolume() {
		d.Group = id
	}
	return d
}

// kind is what drives have in common whose levels may be compared.
type kind struct {
	model      string
	sizeBytes  int64
	rotational bool
	group      string
}

func (d Drive) kind() kind { return kind{d.Model, d.SizeBytes, d.Rotational, d.Group} }

// Traffic is the name of the source that is the drive's own traffic. All other sources are probes.
const Traffic = record.SourceTraffic

// FewIOs is how many I/Os of a kind a Sample needs to have their latency. Fewer say too little about what an I/O
// takes.
const FewIOs = 30

// Sample is what the drive's own traffic experienced over some seconds.
type Sample struct {
	Time time.Time
	Work drift.Work
	// Utilisation is the share (0 to 1) of time that the drive was busy; negative when not known.
	Utilisation float64
	// Read, Write and Flush are mean latencies in seconds; 0 where there were too few I/Os.
	Read, Write, Flush float64
}

// Node judges the drives of one node. It is not safe for concurrent use.
type Node struct {
	settings drift.Settings
	drives   []*drive // in the order in which they were added
	byID     map[string]*drive
	groups   []*group
	settled  int64 // blocks that began before this slot are judged
	attached bool  // a tracker was attached since the last verdicts
	events   []Event
	now      time.Time             // time of the last Advance
	looked   time.Time             // when drives that may soon be worse were looked at last
	gone     map[string]DriveState // removed drives that are remembered, by id: see saved.go
}

// drive is a drive with all that is known of it.
type drive struct {
	Drive
	physical string // the id of the physical drive
	sources  []*source
	trouble  trouble
	told     record.Judgement
	known    map[string]SourceState // of sources that are not attached yet
	seen     time.Time              // when known was current: the time of the last round
	// degraded and severe are the history of verdicts of at least that severity.
	degraded, severe recurrence
}

// NewNode returns a node without drives.
func NewNode(s drift.Settings) *Node { return &Node{settings: s, byID: map[string]*drive{}} }

// Configure changes the settings of the node and its hosts. Existing trackers of drives keep theirs.
func (n *Node) Configure(s drift.Settings) {
	n.settings = s
	for _, g := range n.groups {
		g.settings = hostSettings(s)
		if g.host != nil {
			g.host.Configure(g.settings)
		}
	}
}

// AddDrive adds a drive, or updates one that was added before.
func (n *Node) AddDrive(d Drive) {
	physical := cmp.Or(d.Device, d.ID)
	if known := n.byID[d.ID]; known != nil {
		known.Drive, known.physical = d, physical
		for _, s := range known.sources {
			s.group.look()
		}
		return
	}
	added := &drive{Drive: d, physical: physical, told: record.Judgement{Verdict: record.Unjudged, Scope: record.ScopeDrive, Unjudged: noRounds()}}
	n.recall(added)
	n.drives = append(n.drives, added)
	n.byID[d.ID] = added
}

// RemoveDrive removes a drive. If it comes back within a day, it continues where it was.
func (n *Node) RemoveDrive(id string) {
	d := n.byID[id]
	if d == nil {
		return
	}
	n.remember(d)
	delete(n.byID, id)
	n.drives = slices.DeleteFunc(n.drives, func(other *drive) bool { return other == d })
	for _, g := range n.groups {
		g.members = slices.DeleteFunc(g.members, func(s *source) bool { return s.drive == d })
		g.look()
	}
}

// ReplaceDrive forgets the sources of a drive, which are attached again, as other probes may run on it now. A drive that hangs or
// stalls goes on doing so. It adds the drive if it was not added before.
func (n *Node) ReplaceDrive(d Drive) {
	before := n.byID[d.ID]
	n.RemoveDrive(d.ID)
	n.AddDrive(d)
	if before != nil && before.Model == d.Model && before.SizeBytes == d.SizeBytes {
		n.byID[d.ID].trouble = before.trouble
	}
}

// Tracker returns the tracker of a source of a drive, and makes one when there is none. It is nil when there is no
// such drive.
func (n *Node) Tracker(id, source string) *drift.Tracker {
	if s := n.source(id, source); s != nil {
		return s.tracker
	}
	return nil
}

func (n *Node) source(id, name string) *source {
	d := n.byID[id]
	if d == nil {
		return nil
	}
	for _, s := range d.sources {
		if s.name == name {
			return s
		}
	}
	t := drift.NewTracker(n.settings)
	if name == Traffic {
		t = NewTrafficTracker(n.settings)
	}
	return n.attach(d, name, t)
}

// Attach makes t the tracker of a source of a drive. It does nothing when the drive was not added before.
func (n *Node) Attach(id, name string, t *drift.Tracker) {
	d := n.byID[id]
	if d == nil {
		return
	}
	n.attached = true
	i := slices.IndexFunc(d.sources, func(s *source) bool { return s.name == name })
	if i < 0 {
		n.attach(d, name, t)
		return
	}
	s := d.sources[i]
	if !t.Learned().Equal(s.tracker.Learned()) {
		s.slots = [dayBlocks]int64{} // the day refers to another baseline
	}
	s.tracker = t
	t.JudgeBeside(s)
	d.degraded, d.severe = recurrence{}, recurrence{} // an operator accepted a level, or wants another baseline
}

func (n *Node) attach(d *drive, name string, t *drift.Tracker) *source {
	s := &source{name: name, drive: d, tracker: t, group: n.group(name, d.Rotational)}
	s.group.members = append(s.group.members, s)
	t.JudgeBeside(s)
	d.sources = append(d.sources, s)
	s.recall()
	s.group.look()
	return s
}

// NewTrafficTracker returns a tracker of a drive's own traffic. Its smallest effect is at least 20 %, as applications
// change what they do.
func NewTrafficTracker(s drift.Settings) *drift.Tracker {
	return drift.NewTrafficTracker(trafficSettings(s))
}

func (n *Node) group(name string, rotational bool) *group {
	for _, g := range n.groups {
		if g.name == name && g.rotational == rotational {
			return g
		}
	}
	g := n.newGroup(name, rotational)
	n.groups = append(n.groups, g)
	return g
}

func (n *Node) newGroup(name string, rotational bool) *group {
	g := &group{name: name, rotational: rotational, settings: hostSettings(n.settings)}
	g.look()
	return g
}

// Round takes a good round of a probe. If it is suspicious, Round returns the rounds that would confirm or refute it.
func (n *Node) Round(id, probe string, r drift.Round, c record.Conditions) []Wanted {
	s := n.source(id, probe)
	if s == nil {
		return nil
	}
	n.take(s, r.Time, s.tracker.AddRound(r, c))
	return s.wanted(0)
}

// Add is like Round, for a round of any outcome.
func (n *Node) Add(id string, m record.Measurement) []Wanted {
	s := n.source(id, m.Probe)
	if s != nil {
		s.drive.trouble.took(m)
	}
	if s == nil || m.Outcome != record.OutcomeOK || m.Loaded {
		return nil // a round that ran although the drive was busy is comparable with nothing
	}
	n.take(s, m.Start.Round(0), s.tracker.Add(m))
	return s.wanted(m.Duration)
}

// Pause says that no rounds of a drive were planned for a time, so that what its probes showed before stays known. Of the host,
// it does so for as long as no voter had rounds planned.
func (n *Node) Pause(id string, from, to time.Time) {
	d := n.byID[id]
	if d == nil {
		return
	}
	for _, s := range d.sources {
		if s.name != Traffic {
			s.tracker.Pause(from, to)
			s.paused = span{from, to}
			s.group.pause()
		}
	}
}

// Traffic takes a sample of the drive's own traffic.
func (n *Node) Traffic(id string, t Sample, c record.Conditions) {
	s := n.source(id, Traffic)
	if s == nil {
		return
	}
	r := drift.Round{Time: t.Time, Values: drift.Values{t.Read, t.Write, t.Flush}, Utilisation: t.Utilisation, Work: t.Work}
	n.take(s, t.Time, s.tracker.AddRound(r, c))
}

// take notes the last round of a source, and the events of its tracker.
func (n *Node) take(s *source, now time.Time, events []drift.Event) {
	s.took(s.tracker.LastRound())
	n.tell(s, events)
	if len(events) > 0 {
		n.conclude(s.drive, now)
	}
}

// settleAfter is how long after the end of a block all drives have delivered their rounds.
const settleAfter = time.Minute

// lookAgain is how often a drive that may soon be worse is looked at between blocks.
const lookAgain = 10 * time.Second

// maySoonBeWorse reports whether the drive is severe once that has lasted: the minutes that it takes need not end with a block.
func (d *drive) maySoonBeWorse() bool {
	return d.told.Verdict.Suspects() && d.told.Verdict != record.Severe && d.told.Ratio.Ratio >= severeRatio
}

// Advance judges the blocks that are over at now, and returns what has changed since the last call.
func (n *Node) Advance(now time.Time) []Event {
	n.now = now
	switch over := drift.Slot(now.Add(-settleAfter)); {
	case over != n.settled:
		n.settled = over
		n.settle(over, now)
	case n.attached: // the attached tracker may know something else than the one before
		n.standAgain(over - 1)
		n.concludeAll(now)
	default:
		look := now.Sub(n.looked).Abs() >= lookAgain
		if look {
			n.looked = now
		}
		for _, d := range n.drives {
			if d.trouble.any() || look && d.maySoonBeWorse() {
				n.conclude(d, now)
			}
		}
	}
	events := n.events
	n.events = nil
	return events
}

// settle judges the blocks that began before a slot.
func (n *Node) settle(before int64, now time.Time) {
	n.forgetGone()
	for _, g := range n.groups { // all groups first: where few drives were probed, the traffic of the others tells what the host did
		g.look()
		for _, s := range g.members {
			if s.block.Slot > before {
				s.clockSetBack(before)
			}
			s.tracker.Close(before)
			s.tracker.Waiting(s.note)
			s.tracker.Measured(s.measured)
			s.asked.slot = 0
		}
	}
	for _, g := range n.groups {
		g.settling = true
		for _, s := range g.members {
			n.tell(s, s.tracker.Settle(now))
		}
		g.settling = false
		for _, s := range g.members { // only now, so that all have learned beside the same days, in whatever order
			s.tracker.LearnedFrom(s.note)
		}
		for _, s := range g.members {
			s.tracker.Anchor()
			s.judgeLevels(before - 1)
		}
		n.tellHost(g, g.judge(before-1, now))
	}
	for _, d := range n.drives {
		if t := d.traffic(); t != nil && d.probesAreFast(now) {
			n.tell(t, t.tracker.EndRefuted(now))
		}
		n.confirm(d)
	}
	n.concludeAll(now)
}

func (n *Node) concludeAll(now time.Time) {
	for _, d := range n.drives {
		n.conclude(d, now)
	}
	n.attached = false
}
