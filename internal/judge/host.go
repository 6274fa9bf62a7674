package judge

import (
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// dayBlocks is how many blocks of each source are kept: one day.
	dayBlocks = int64(24 * time.Hour / drift.BlockLength)
	// minHostBlocks is how many blocks make the baseline of a host: half a day. Where a block takes longer, half a
	// day has fewer blocks, but at least fewHostBlocks are needed. They may be of several days.
	minHostBlocks, fewHostBlocks = dayBlocks / 2, 24
	// minVoters is how many drives are needed to judge the host. Where there are more, it takes enoughVoters.
	minVoters, enoughVoters = 2, 3
	// usualNoise is the noise, as a ratio, that is assumed of a host without a baseline.
	usualNoise = 1.05
	// hostAlarms is how many false alarms a year about a host are accepted at most.
	hostAlarms = 0.05
	// unequal is how many times more than the others a drive may suffer from what slows the host.
	unequal = 1.5
	// leastEffect is the smallest effect that is looked for in what the drives do together: 0.1 is 10 %. A host is
	// reported only from the ratio toldOfHost on, as hosts wander by a few percent over days.
	leastEffect = 0.1
	toldOfHost  = 1.15
	// forgotten is how long after its last block a host is dropped that too few drives are left to judge.
	forgotten = 7 * 24 * time.Hour
	// hostShare is the share of the drives that must be slower for the host to be blamed. Of manyDrives or more it is
	// mixedShare if the others are of the same models and firmwares: then it is no fault of one. It is blurredShare if there is no
	// clear line between those that are slower and the others, either: then the others may seem to be fast by chance.
	hostShare, mixedShare, blurredShare, manyDrives = 0.9, 0.8, 0.65, 10
	// stillNearlyAll is the part of that share down to which it is still the host.
	stillNearlyAll = held
)

// hostSettings returns the settings for the tracker of a host, which is blamed less easily than a drive.
func hostSettings(s drift.Settings) drift.Settings {
	if s.SmallestEffect > 0 {
		s.SmallestEffect = max(s.SmallestEffect, leastEffect)
	} else {
		s.SmallestEffect = leastEffect
	}
	if s.FalseAlarmsPerYear <= 0 || s.FalseAlarmsPerYear > hostAlarms {
		s.FalseAlarmsPerYear = hostAlarms
	}
	return s
}

// trafficSettings returns the settings for the tracker of a drive's traffic: applications change what they do.
func trafficSettings(s drift.Settings) drift.Settings {
	s.SmallestEffect = max(s.SmallestEffect, 0.2)
	return s
}

// group has one source, as a probe or the traffic, of all drives that share what the host does.
type group struct {
	name       string
	rotational bool
	settings   drift.Settings
	members    []*source
	alike      map[kind][]*source // the first target of each physical drive, by kind
	voters     []*source          // the members that tell what the host does: one of each physical drive
	drives     int                // how many physical drives the members are of
	quorum     int                // how many of them must be known to tell what the host does
	host       *drift.Tracker     // nil until the host has a baseline
	last       int64              // slot of the last block of the host
	gathered   []hostBlock        // for the baseline of the host, in order of time
	// mature says that a quorum of all drives has a final baseline, or that two of three have had one for a day. The third
	// one may be too busy ever to get one.
	mature bool
	// slots is how many slots a block takes, as the median of the drives.
	slots int64
	// faster and slower bound the host's noise, and anchor is how much slower it is normally: see part.
	faster, slower, anchor drift.Shifts
	// wanders is what is reported of the host, by statistic.
	wanders [drift.Statistics]wander
	// settling says that blocks of the members are being judged: see sharedIn.
	settling bool
	// paused is until when the host was told of a pause.
	paused time.Time
	// changes has the recent changes of conditions, and the physical drives that each was seen on.
	changes map[record.Change]seenOn
}

// seenOn says on which drives a change of conditions was seen, and when first.
type seenOn struct {
	first  time.Time
	drives map[string]bool
}

// String names the group among those of the node.
func (g *group) String() string {
	if g.rotational {
		return g.name + " of hard disks"
	}
	return g.name
}

// changed tells the host of a change of conditions once half of the drives have it.
func (g *group) changed(drive string, e drift.Event) {
	for _, c := range e.Changes {
		seen, ok := g.changes[c]
		if !ok || e.Time.Sub(seen.first) > together {
			if g.changes == nil {
				g.changes = map[record.Change]seenOn{}
			}
			maps.DeleteFunc(g.changes, func(_ record.Change, old seenOn) bool { return e.Time.Sub(old.first) > together })
			seen = seenOn{e.Time, map[string]bool{}}
			g.changes[c] = seen
		}
		before := len(seen.drives)
		seen.drives[drive] = true
		half := max(minVoters, (g.drives+1)/2)
		if g.host != nil && before < half && len(seen.drives) >= half {
			g.host.NoteChanges(seen.first, []record.Change{c})
		}
	}
}

// quorum returns how many of some drives must be known to tell what the host does.
func quorum(drives int) int { return min(enoughVoters, max(minVoters, drives)) }

// look sets what changes only with each block and with the members: who is compared with whom, the voters, how many of them
// it takes, their slots, and the noise and the anchor of the host.
func (g *group) look() {
	seen, final, settled, votes := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{} // physical drives
	g.alike = map[kind][]*source{}
	for _, s := range g.members {
		if id := s.drive.physical; !seen[id] {
			seen[id] = true
			g.alike[s.drive.kind()] = append(g.alike[s.drive.kind()], s)
		}
		if s.tracker.Maturity() == record.Final {
			final[s.drive.physical] = true
			if s.tracker.LastJudged().Sub(s.tracker.Learned()) > hostLearns {
				settled[s.drive.physical] = true
			}
		}
	}
	g.drives = len(seen)
	g.mature = len(final) >= quorum(len(seen)) || len(seen) == enoughVoters && len(settled) >= minVoters
	slots := []int64{1}
	g.voters = nil
	for _, s := range g.members {
		slots = append(slots, s.tracker.Slots())
		// A new drive says nothing about the host, unless all are new.
		m := s.tracker.Maturity()
		if id := s.drive.physical; (m == record.Final || m == record.Provisional && !g.mature) && !votes[id] {
			votes[id], g.voters = true, append(g.voters, s)
		}
	}
	g.quorum = quorum(len(g.voters)) // not of all drives: two tell what the host does while a third one is new
	if len(g.voters) == enoughVoters {
		g.quorum = quorum(g.probed()) // or while it is too busy for rounds
	}
	slices.Sort(slots)
	g.slots = slots[len(slots)/2]
	if g.host != nil {
		g.host.BlocksOf(g.slots)
	}
	for i := range g.anchor {
		g.faster[i], g.slower[i], g.anchor[i] = drift.ShiftOf(usualNoise), drift.ShiftOf(usualNoise), 0
	}
	if g.host == nil {
		return
	}
	for i := range g.host.Statistics() {
		faster, slower := g.host.Noise(i)
		g.faster[i], g.slower[i] = max(g.faster[i]/2, faster), max(g.slower[i]/2, slower)
		g.anchor[i] = g.host.Accepted(i)
		switch g.host.StateOf(i) {
		case record.Regressed: // a host that stays slow is the new normal
			g.anchor[i] += g.host.Shift(i)
		case record.Improved: // the slowdown that was accepted is over
			g.anchor[i] = max(0, g.anchor[i]+g.host.Shift(i))
		default:
		}
	}
}

// probed returns how many voters have had at least half as many blocks in the last two hours as the one that has most.
func (g *group) probed() int {
	var latest int64
	for _, s := range g.voters {
		latest = max(latest, s.block.Slot)
	}
	blocks, most := make([]int64, len(g.voters)), int64(0)
	for i, s := range g.voters {
		for n := latest - 2*recently + 1; n <= latest; n++ {
			if s.at(n, 0).Known() {
				blocks[i] += s.tracker.Slots()
			}
		}
		most = max(most, blocks[i])
	}
	probed := 0
	for _, n := range blocks {
		if 2*n >= most {
			probed++
		}
	}
	return probed
}

// part returns what is taken off a drive when the others are slower by a shift. Within the host's noise that is all
// of it. Beyond, it is more, as one cause slows drives unequally. When the others are faster than the noise, hardly
// anything is taken off, as that makes no other drive slow.
func (g *group) part(statistic int, others drift.Shift) drift.Shift {
	faster, slower, anchor := g.faster[statistic], g.slower[statistic], g.anchor[statistic]
	if !judgesHost(g.name, statistic) { // a slow host makes tails slower, too, but at most as much as the median
		anchor = max(0, min(others, g.anchor[0]))
	}
	switch x := others - anchor; {
	case x > slower:
		return anchor + slower + drift.Shift(unequal*float64(x-slower))
	case x < -faster:
		return anchor - faster
	}
	return others
}

// block returns what the drives did together in a slot; false when that is known of too few.
func (g *group) block(slot int64) (drift.Shifts, bool) {
	var out drift.Shifts
	known := false
	values := make([]drift.Shift, 0, 32)
	for i := range out {
		values = values[:0]
		for _, s := range g.voters {
			if x := s.shared(i, slot, s.at(slot, i)); x.Known() {
				values = append(values, x)
			}
		}
		out[i] = drift.Missing
		if !judgesHost(g.name, i) {
			continue
		}
		switch {
		case len(values) >= g.quorum:
			out[i] = lowerMedian(values)
		case len(values) == 1 && len(g.voters) == 1:
			out[i] = g.left(i, nil, values[0]) // shows whether it is over
		}
		known = known || out[i].Known()
	}
	return out, known
}

// judgesHost reports whether the host is judged by a statistic. Tails depend on what each drive does, and the latency
// of a flush on how much there is to flush.
func judgesHost(source string, i int) bool {
	s := statisticsOf(source)
	return i < len(s) && isSpeed(s[i])
}

// toldFrom returns the ratio from which on a slowdown that drives have in common is reported.
func (g *group) toldFrom() float64 {
	if g.name == Traffic {
		return trafficRatio
	}
	return toldOfHost
}

// judge judges the host by what its drives did up to a slot.
func (g *group) judge(slot int64, now time.Time) []drift.Event {
	slot -= g.slots - 1 // blocks that began then are over
	if g.host == nil {
		g.learn(slot)
		return nil
	}
	if slot < g.last-2*recently { // the clock was set back; a block may take an hour, so a smaller step proves nothing
		g.last = slot
		g.host.ClockSetBack(now)
		return nil
	}
	for n := max(g.last+1, slot-dayBlocks); n <= slot; n++ {
		if b, ok := g.block(n); ok {
			g.host.AddBlock(n, b)
		}
	}
	g.last = max(g.last, slot)
	if len(g.voters) < minVoters && now.Sub(g.host.LastJudged()) > forgotten { // its drives are gone
		g.host = nil
		return nil
	}
	return g.host.Settle(now)
}

// hostBlock is what the drives did together in a slot.
type hostBlock struct {
	slot   int64
	shifts drift.Shifts
}

// learn makes the baseline of the host, once enough drives have a baseline. If the last day has too few blocks, as when the
// drives are probed for a few hours a day, those gathered on earlier days count, too.
func (g *group) learn(slot int64) {
	if !g.mature {
		g.gathered = nil
		return
	}
	day := slot - dayBlocks + 1
	// The last day is looked at again: drives may have learned a new baseline since.
	g.gathered = slices.DeleteFunc(g.gathered, func(b hostBlock) bool { return b.slot >= day })
	for n := day; n <= slot; n++ {
		if b, ok := g.block(n); ok {
			g.gathered = append(g.gathered, hostBlock{n, b})
		}
	}
	g.gathered = g.gathered[max(0, len(g.gathered)-int(dayBlocks)):]
	if int64(len(g.gathered)) < max(fewHostBlocks, minHostBlocks/g.slots) {
		return
	}
	slots, blocks := make([]int64, len(g.gathered)), make([]drift.Shifts, len(g.gathered))
	for i, b := range g.gathered {
		slots[i], blocks[i] = b.slot, b.shifts
	}
	g.host, g.last, g.gathered = drift.NewBlockTracker(g.settings, g.name == Traffic, slots, blocks), slot, nil
}

// recently is how many blocks decide whether a drive is slower now: an hour.
const recently = 12

// moved returns the drives that were slower than usual within the hour, and those that were not. For two hours from the onset, only
// their last blocks count. A drive has moved if it was slower by at least half of the shift or, as one cause slows drives unequally,
// by degradedRatio and more than its own noise. Where most drives are slower by more or less than the shift just then, it takes as
// much more or less. While it is less than half of the shift, that shows nothing, and none has moved. A drive without a block since
// the onset is neither, as its rounds may be refused because of the slowdown. The line between them is blurred if drives are slower
// by about half of the shift.
func (g *group) moved(statistic int, by drift.Shift, onset, slot int64) (moved, still []*source, blurred bool) {
	now, normal := map[*source]drift.Shift{}, g.host.Level(statistic)
	var all []drift.Shift
	for _, s := range g.voters {
		var values []drift.Shift
		for n := max(onset+1, slot-recently+1); n <= slot; n++ { // part of the block of the onset is from before it
			if x := s.shared(statistic, n, s.at(n, statistic)); x.Known() {
				values = append(values, x-normal-g.host.Expected(statistic, n)) // what recurs does not count
			}
		}
		if slot < onset+2*recently { // the shift may have come a quarter of an hour ago
			values = values[max(0, len(values)-3):]
		}
		if len(values) > 0 {
			now[s] = lowerMedian(values)
			all = append(all, now[s])
		}
	}
	if len(all) == 0 {
		return nil, nil, false
	}
	most := lowerMedian(all)
	if most < by/2 {
		return nil, nil, false
	}
	for _, s := range g.voters {
		_, noise := s.tracker.Noise(statistic)
		enough := min(by/2, max(drift.ShiftOf(degradedRatio), noise+drift.ShiftOf(usualNoise)))
		switch x, known := now[s]; {
		case !known:
		case int(x)*int(by) >= int(enough)*int(most):
			moved = append(moved, s)
		default:
			still = append(still, s)
		}
		blurred = blurred || 4*now[s] > most && 4*now[s] < 3*most
	}
	return moved, still, blurred
}
