package judge

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// keptFor is how long the state of a removed drive is kept. A drive that is seated again, or that answers late
	// after a restart, continues from it.
	keptFor = 24 * time.Hour
	// maxKept bounds the number of such drives.
	maxKept = 64
)

// State is what a node knows and that is worth keeping over a restart, without the trackers of its sources, which are
// stored separately. A node that is given the State, then the drives and their trackers, continues as if it had never
// stopped.
type State struct {
	Settled int64        `json:"settled,omitempty"` // blocks that began before this slot are judged
	Hosts   []HostState  `json:"hosts,omitempty"`
	Drives  []DriveState `json:"drives,omitempty"` // sorted by id
}

// HostState is what is known of the host by one source (a probe, or the traffic) of its drives.
type HostState struct {
	Source     string `json:"source"`
	Rotational bool   `json:"rotational,omitempty"`
	// Host has the baseline of the host and what was found; nil while the baseline is learned.
	Host *drift.State `json:"host,omitempty"`
	Last int64        `json:"last,omitempty"` // slot of the last block of the host
	// Wanders is what is reported of each statistic of the host, and its earlier waves; nil in the state of an older
	// version.
	Wanders map[record.Statistic]wander `json:"wanders,omitempty"`
	// Changes are the recent changes of conditions that were seen on drives.
	Changes []SeenChange `json:"changes,omitempty"`
}

// SeenChange is a change of conditions and the physical drives that it was seen on.
type SeenChange struct {
	record.Change
	First  time.Time `json:"first"`
	Drives []string  `json:"drives"`
}

// DriveState is what is known of one drive, without its trackers.
type DriveState struct {
	ID string `json:"id"`
	// Device is the id of the physical drive, if that is another.
	Device string `json:"device,omitempty"`
	// Model and SizeBytes tell whether the id still belongs to the same drive.
	Model     string `json:"model,omitempty"`
	SizeBytes int64  `json:"size_bytes,omitempty"`
	// Removed is when it was removed; zero while it is there.
	Removed time.Time `json:"removed,omitzero"`
	// Last is the time of its last round.
	Last    time.Time        `json:"last,omitzero"`
	Verdict record.Judgement `json:"verdict"`
	// Degraded and Severe are the history of verdicts of at least that severity.
	Degraded RecurrenceState        `json:"degraded,omitzero"`
	Severe   RecurrenceState        `json:"severe,omitzero"`
	Trouble  TroubleState           `json:"trouble,omitzero"`
	Sources  map[string]SourceState `json:"sources,omitempty"`
}

// RecurrenceState is the history of verdicts of one severity: see recurrence.
type RecurrenceState struct {
	Rare  time.Time     `json:"rare,omitzero"`
	Seen  time.Time     `json:"seen,omitzero"`
	Ended time.Time     `json:"ended,omitzero"`
	Hold  time.Duration `json:"hold_ns,omitempty"`
}

func (r recurrence) state() RecurrenceState { return RecurrenceState{r.rare, r.seen, r.ended, r.hold} }

func (s RecurrenceState) recurrence() recurrence { return recurrence{s.Rare, s.Seen, s.Ended, s.Hold} }

// TroubleState is the recent trouble of a drive other than slowness: stalls, hangs and errors.
type TroubleState struct {
	Stalls []record.Stall `json:"stalls,omitempty"` // the last maxTrouble
	Hang   record.Stall   `json:"hang,omitzero"`
	Errors []time.Time    `json:"errors,omitempty"` // the last maxTrouble
}

// maxTrouble bounds the stalls and errors that are kept: more would not change a verdict.
const maxTrouble = 64

func (t *trouble) state(now time.Time) TroubleState {
	s := TroubleState{Stalls: slices.Clone(last(t.stalls)), Hang: t.hang, Errors: slices.Clone(last(t.errors))}
	// Counting starts anew after a restart: a stall that still goes on then is reported as another one.
	for i := range s.Stalls {
		s.Stalls[i] = ended(s.Stalls[i], now)
	}
	s.Hang = ended(s.Hang, now)
	return s
}

// trouble returns a copy, which shares nothing with s.
func (s TroubleState) trouble() trouble {
	return trouble{stalls: slices.Clone(s.Stalls), hang: s.Hang, errors: slices.Clone(s.Errors)}
}

func last[T any](all []T) []T { return all[max(0, len(all)-maxTrouble):] }

// SourceState is what is known of one source of a drive, without its tracker.
type SourceState struct {
	// Learned is when the baseline was learned that Day refers to.
	Learned time.Time `json:"learned,omitzero"`
	Day     Day       `json:"day,omitzero"`
	// Block is the last completed block, as it was measured.
	Block  drift.Measured                  `json:"block,omitzero"`
	Levels map[record.Statistic]LevelState `json:"levels,omitempty"`
}

// LevelState is what is known of a level compared with the peers.
type LevelState struct {
	// Absolute is the level of Block against one second; nil when it is unknown.
	Absolute *drift.Shift `json:"absolute,omitempty"`
	Recent   uint32       `json:"recent,omitempty"` // a bit for each of the last blocks: set when far slower
	Since    int64        `json:"since,omitempty"`
	Judged   int64        `json:"judged,omitempty"`
	Found    bool         `json:"found,omitempty"`
	Past     bool         `json:"past,omitempty"` // it was also slower than its own past
	Shift    drift.Shift  `json:"shift,omitempty"`
	Peers    int          `json:"peers,omitempty"`
	// Accepted is what an operator accepted as normal, and Below for how many blocks in a row the drive has been
	// nearer to its peers than to that.
	Accepted *AcceptedLevel `json:"accepted,omitempty"`
	Below    int            `json:"below,omitempty"`
}

// Day has how much slower than the baseline each block of a day was, in ten-thousandths of the logarithm of the
// ratio: one number for each slot from First on, separated by spaces, and a dot where there was no block.
type Day struct {
	First  int64                       `json:"first"`
	Shifts map[record.Statistic]string `json:"shifts"`
}

// noBlock stands for a missing block.
const noBlock = "."

// State returns what Restore takes. It leaves out removed drives, and hosts without drives, after keptFor. A node that has not
// judged since it was restored may get its drives yet, or is only to accept something: it keeps all hosts.
func (n *Node) State(now time.Time) State {
	out := State{Settled: n.settled}
	for _, g := range n.groups {
		if len(g.members) > 0 || g.host != nil && (n.now.IsZero() || now.Sub(g.host.LastJudged()) < keptFor) {
			out.Hosts = append(out.Hosts, g.state())
		}
	}
	for _, d := range n.drives {
		out.Drives = append(out.Drives, d.state(now))
	}
	for _, d := range n.gone {
		if d.Removed.IsZero() || now.Sub(d.Removed) < keptFor {
			out.Drives = append(out.Drives, d)
		}
	}
	slices.SortFunc(out.Drives, func(a, b DriveState) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// WithoutProbes returns what still holds when probes measure differently than before: what they say of the host is
// learned anew.
func (s State) WithoutProbes() State {
	s.Hosts = slices.DeleteFunc(slices.Clone(s.Hosts), func(h HostState) bool { return h.Source != Traffic })
	s.Drives = slices.Clone(s.Drives)
	for i := range s.Drives {
		kept := map[string]SourceState{}
		for name, source := range s.Drives[i].Sources {
			if name != Traffic {
				source.Day = Day{}
			}
			kept[name] = source
		}
		s.Drives[i].Sources = kept
	}
	return s
}

func (g *group) state() HostState {
	s := HostState{Source: g.name, Rotational: g.rotational}
	if g.host != nil {
		s.Host, s.Last, s.Wanders = new(g.host.State()), g.last, map[record.Statistic]wander{}
		for i, statistic := range g.host.Statistics() {
			s.Wanders[statistic] = g.wanders[i]
		}
	}
	for c, seen := range g.changes {
		s.Changes = append(s.Changes, SeenChange{Change: c, First: seen.first, Drives: slices.Sorted(maps.Keys(seen.drives))})
	}
	slices.SortFunc(s.Changes, func(a, b SeenChange) int {
		return cmp.Or(a.First.Compare(b.First), cmp.Compare(a.Condition, b.Condition), cmp.Compare(a.To, b.To))
	})
	return s
}

func (d *drive) state(now time.Time) DriveState {
	s := DriveState{
		ID: d.ID, Device: d.Device, Model: d.Model, SizeBytes: d.SizeBytes, Verdict: d.told, Degraded: d.degraded.state(), Severe: d.severe.state(),
		Trouble: d.trouble.state(now), Sources: maps.Clone(d.known), // of sources that are not attached yet
	}
	if s.Sources == nil {
		s.Sources = map[string]SourceState{}
	}
	for _, one := range d.sources {
		s.Sources[one.name] = SourceState{
			Learned: one.tracker.Learned(), Day: one.savedDay(), Block: one.block, Levels: one.savedLevels(),
		}
		if one.last.After(s.Last) {
			s.Last = one.last
		}
	}
	return s
}

func (s *source) savedLevels() map[record.Statistic]LevelState {
	out := map[record.Statistic]LevelState{}
	for i := range levelsBy(s.name) {
		l := s.levels[i]
		saved := LevelState{Recent: l.recent, Since: l.since, Judged: l.judged, Found: l.found, Past: l.past, Shift: l.shift, Peers: l.peers, Accepted: l.accepted, Below: l.below}
		if x := s.absolute[i]; s.block.Slot > 0 && x.Known() {
			saved.Absolute = &x
		}
		if saved != (LevelState{}) {
			out[statisticsOf(s.name)[i]] = saved
		}
	}
	return out
}

// restoreLevels puts back what savedLevels returned, and the block that it belongs to.
func (s *source) restoreLevels(known SourceState) {
	s.block = known.Block
	for i := range levelsBy(s.name) {
		saved := known.Levels[statisticsOf(s.name)[i]]
		s.levels[i] = level{recent: saved.Recent, since: saved.Since, judged: saved.Judged, found: saved.Found, past: saved.Past, shift: saved.Shift, peers: saved.Peers, accepted: saved.Accepted, below: saved.Below,
			now: standing{why: notMeasured}}
		s.absolute[i] = drift.Missing
		if saved.Absolute != nil {
			s.absolute[i] = *saved.Absolute
		}
	}
}

// standAgain computes anew where drives stand among their peers, after sources were attached: those attached first
// had no peers then.
func (n *Node) standAgain(slot int64) {
	for _, g := range n.groups {
		g.look()
		for _, s := range g.members {
			for i := range levelsBy(s.name) {
				s.levels[i].now = s.beside(i, slot)
			}
		}
	}
}

func (s *source) savedDay() Day {
	last := s.block.Slot
	first := max(1, last-dayBlocks+1)
	for first <= last && s.slots[first%dayBlocks] != first {
		first++
	}
	if first > last {
		return Day{}
	}
	out := Day{First: first, Shifts: map[record.Statistic]string{}}
	for i, statistic := range statisticsOf(s.name) {
		var words []string
		for slot := first; slot <= last; slot++ {
			word := noBlock
			if x := s.at(slot, i); x.Known() {
				word = strconv.Itoa(int(x))
			}
			words = append(words, word)
		}
		out.Shifts[statistic] = strings.Join(words, " ")
	}
	return out
}

// Restore puts back what State returned, before any drive is added. It refuses a state that no node can have written,
// and then changes nothing.
func (n *Node) Restore(s State) error {
	var groups []*group
	for _, h := range s.Hosts {
		g, err := n.restored(h)
		if err != nil {
			return fmt.Errorf("what is known of the host by %s: %w", h.Source, err)
		}
		groups = append(groups, g)
	}
	gone := map[string]DriveState{}
	for _, d := range s.Drives {
		if err := d.validate(); err != nil {
			return fmt.Errorf("what is known of drive %q: %w", d.ID, err)
		}
		gone[d.ID] = d
	}
	n.groups, n.gone, n.settled = groups, gone, s.Settled
	return nil
}

func (n *Node) restored(h HostState) (*group, error) {
	if h.Source == "" {
		return nil, errors.New("it has no source")
	}
	g := n.newGroup(h.Source, h.Rotational)
	if h.Host != nil {
		host, err := drift.RestoreBlockTracker(g.settings, *h.Host)
		if err != nil {
			return nil, err
		}
		if h.Last < 0 || host.Maturity() == "" || h.Host.Traffic != (h.Source == Traffic) {
			return nil, errors.New("it cannot be judged by that")
		}
		g.host, g.last = host, h.Last
		for i, x := range host.Drift() {
			g.wanders[i] = h.Wanders[x.Statistic]
			if err := g.wanders[i].validate(); err != nil {
				return nil, err
			}
			g.wanders[i].Host = g.wanders[i].Host || g.wanders[i].nearlyAll() // older versions did not keep it
			if h.Wanders == nil && x.State == record.Regressed && x.Ratio >= g.toldFrom() {
				told := ratedBy(x.Ratio, "")
				g.wanders[i] = wander{Says: told, Told: told, Most: x.Ratio, Since: x.Since}
			}
		}
	}
	for _, c := range h.Changes {
		seen := seenOn{c.First, map[string]bool{}}
		for _, id := range c.Drives {
			seen.drives[id] = true
		}
		if g.changes == nil {
			g.changes = map[record.Change]seenOn{}
		}
		g.changes[c.Change] = seen
	}
	g.look()
	return g, nil
}

func (d DriveState) validate() error {
	if d.ID == "" {
		return errors.New("it has no id")
	}
	if !slices.Contains(record.DriveVerdicts(), d.Verdict.Verdict) {
		return fmt.Errorf("unknown verdict %q", d.Verdict.Verdict)
	}
	for name, s := range d.Sources {
		if _, err := s.Day.blocks(name); err != nil {
			return fmt.Errorf("the day of %s: %w", name, err)
		}
	}
	return nil
}

// blocks returns the blocks of a day, from First on.
func (d Day) blocks(source string) ([]drift.Shifts, error) {
	var out []drift.Shifts
	for i, statistic := range statisticsOf(source) {
		words := strings.Fields(d.Shifts[statistic])
		if len(words) > int(dayBlocks) || len(words) > 0 && d.First <= 0 {
			return nil, fmt.Errorf("%d blocks from slot %d on", len(words), d.First)
		}
		for len(out) < len(words) {
			out = append(out, drift.Unmeasured())
		}
		for k, word := range words {
			if word == noBlock {
				continue
			}
			x, err := strconv.ParseInt(word, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("block %d of %s: %w", k, statistic, err)
			}
			out[k][i] = drift.Shift(x)
		}
	}
	return out, nil
}

// remember keeps the state of a drive that is removed.
func (n *Node) remember(d *drive) {
	if n.gone == nil {
		n.gone = map[string]DriveState{}
	}
	s := d.state(n.now)
	s.Removed = n.now
	n.gone[d.ID] = s
	for len(n.gone) > maxKept {
		oldest := d.ID
		for id, other := range n.gone {
			if other.Last.Before(n.gone[oldest].Last) {
				oldest = id
			}
		}
		delete(n.gone, oldest)
	}
}

// forgetGone forgets the drives that were removed long ago. One that has not been found since a restart counts as removed then, and
// one that was removed before the clock was set back as removed now.
func (n *Node) forgetGone() {
	for id, d := range n.gone {
		switch {
		case d.Removed.IsZero(), d.Removed.After(n.now):
			d.Removed = n.now
			n.gone[id] = d
		case n.now.Sub(d.Removed) >= keptFor:
			delete(n.gone, id)
		}
	}
}

// recall gives an added drive the state that was kept of it, unless another drive has its id now.
func (n *Node) recall(d *drive) {
	known, ok := n.gone[d.ID]
	delete(n.gone, d.ID)
	if ok && known.Model == d.Model && known.SizeBytes == d.SizeBytes {
		// Others may still read what State returned: change nothing in it.
		d.degraded, d.severe = known.Degraded.recurrence(), known.Severe.recurrence()
		d.told, d.known, d.seen, d.trouble = known.Verdict, maps.Clone(known.Sources), known.Last, known.Trouble.trouble()
	}
}

// recall gives an attached source the state that was kept of it. Its day is void when the baseline was accepted,
// imported or forgotten meanwhile. Where it stood among its peers says nothing about now if the drive has worked for keptFor
// since.
func (s *source) recall() {
	s.last = s.tracker.LastRound()
	known, ok := s.drive.known[s.name]
	delete(s.drive.known, s.name)
	if !ok {
		return
	}
	s.restoreLevels(known)
	if known.Block.Slot > 0 && s.drive.seen.Sub(drift.SlotTime(known.Block.Slot)) >= keptFor {
		for i := range s.levels {
			s.levels[i] = level{now: s.levels[i].now, accepted: s.levels[i].accepted}
		}
	}
	if !known.Learned.Equal(s.tracker.Learned()) {
		s.drive.degraded, s.drive.severe = recurrence{}, recurrence{} // an operator accepted a level, or wants another baseline
		return
	}
	blocks, err := known.Day.blocks(s.name)
	if err != nil { // cannot happen: Restore has validated it
		return
	}
	for i, b := range blocks {
		if b != drift.Unmeasured() {
			s.note(known.Day.First+int64(i), b)
		}
	}
}
