package report

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// interruptBlocks lists the interrupts of every queue of each controller. Several devices
// may share a controller.
func interruptBlocks(rows []DeviceRow) []document.Block {
	t := document.Table{
		Names: []string{"queue", "vector", "may go to", "goes to", "interrupts", "local", "remote"},
		Units: []string{"", "", "CPUs", "CPUs", "since boot", "", ""},
		Align: "lrllrrr", Long: true,
	}
	shown := map[string]bool{}
	for _, row := range rows {
		for _, c := range row.Interrupts {
			if shown[c.Controller] {
				continue
			}
			shown[c.Controller] = true
			about := "NUMA node not known, so local and remote are not told apart"
			if c.NUMANode >= 0 {
				about = fmt.Sprintf("NUMA node %d", c.NUMANode)
			}
			for i, q := range c.Queues {
				r := t.Add(q.Queue, q.Number, known(q.Affinity), known(q.CPUs), units.Count(q.Count), countOf(q.Local), countOf(q.Remote))
				if i == 0 {
					r.Group = &document.Group{Name: c.Controller, About: []string{row.Device.Name, about}}
				}
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []document.Block{document.Sentence("Interrupts of each queue. Local ones were taken on a CPU of the drive's NUMA node."), document.Gap{}, t, document.Gap{}}
}

func countOf(n *uint64) string {
	if n == nil {
		return none
	}
	return units.Count(*n)
}
