package judge

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Beside returns where a drive stands among its peers, by each source and statistic whose levels are compared. It is
// nil for an unknown drive.
func (n *Node) Beside(id string) []record.Beside {
	d := n.byID[id]
	if d == nil {
		return nil
	}
	var list []record.Beside
	for _, s := range d.sources {
		for i := range levelsBy(s.name) {
			list = append(list, s.standing(i))
		}
	}
	return list
}

// standing returns where the drive stands by statistic i of the source. A found level stays in it while the drive
// cannot be compared.
func (s *source) standing(i int) record.Beside {
	l := &s.levels[i]
	b := record.Beside{Source: s.name, Statistic: statisticsOf(s.name)[i], Unjudged: l.now.why, Far: l.found}
	if l.judged == 0 && b.Unjudged == "" {
		b.Unjudged = s.whyUnmeasured() // no block is complete yet
	}
	if l.accepted != nil {
		b.Accepted, b.Note = l.accepted.Shift.Ratio(), l.accepted.Text
	}
	if l.found {
		b.Ratio, b.Of, b.Since, b.OnlyHere = l.shift.Ratio(), l.peers, drift.SlotTime(l.since), s.onlyHere()
	}
	if b.Unjudged == "" {
		b.Peers, b.Place, b.Of = l.now.peers, l.now.place+1, len(l.now.peers)
		b.Ratio, b.Limit = l.now.shift.Ratio(), l.now.far.Ratio()
	}
	return b
}

// onlyHere lists the conditions of the drive that none of its peers has.
func (s *source) onlyHere() []string {
	mine := s.tracker.Conditions()
	differ, peers := map[string]int{}, 0 // from how many peers the drive differs, by condition
	for o := range s.peers() {
		peers++
		for _, change := range o.tracker.Conditions().Changes(mine) {
			differ[change.Condition]++
		}
	}
	var list []string
	for _, c := range mine.List() {
		if c.Value != "" && peers > 0 && differ[c.Name] == peers {
			list = append(list, fmt.Sprintf("%s %s", record.ConditionTitle(c.Name), c.Value))
		}
	}
	return list
}
