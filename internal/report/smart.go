package report

import (
	"io"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// SmartRow is a controller with the devices that it reaches.
type SmartRow struct {
	Controller record.Controller `json:"controller"`
	Devices    []record.Device   `json:"devices,omitempty"`
}

// Smart writes what drives report about themselves: first what is wrong in plain words,
// then all figures, each with its unit.
func Smart(w io.Writer, rows []SmartRow) error {
	var blocks []document.Block
	for _, row := range rows {
		blocks = append(append(blocks, document.Gap{}), row.blocks()...)
	}
	return text.Write(w, "smart", blocks...)
}

func (r SmartRow) blocks() []document.Block {
	c := r.Controller
	blocks := []document.Block{document.List(c.Name+"  ", r.about()...), document.Gap{}}
	switch {
	case len(c.Warnings) > 0:
		blocks = append(blocks, document.Warnings(c.Warnings))
	case c.Disk != nil && c.Disk.Asleep:
	case c.Disk != nil && c.Disk.Passed == nil:
		blocks = append(blocks, document.Sentence("The drive does not say whether it is failing."))
	case c.Health != nil && c.Health.PercentageUsed == nil && c.Health.MediaErrors == nil:
		blocks = append(blocks, document.Sentence("The drive reports nothing wrong, and neither its wear nor its media errors."))
	default:
		blocks = append(blocks, document.Sentence("The drive reports nothing wrong."))
	}
	blocks = append(blocks, document.Gap{}, HealthFacts(c))
	if c.Interrupts != nil {
		t := document.Table{Names: []string{"queue", "interrupts", "number", "CPUs"}, Align: "lrrl"}
		for _, q := range c.Interrupts.Queues {
			t.Add(q.Queue, units.Count(q.Count), q.Number, known(q.CPUs))
		}
		blocks = append(blocks, document.Gap{}, t)
	}
	return blocks
}

// about identifies the drive.
func (r SmartRow) about() []string {
	var about []string
	if h := r.Controller.Health; h != nil {
		about = append(about, known(h.Identity.Model))
		about = append(about, named("serial", h.Identity.Serial, "firmware", h.Identity.Firmware, "NVMe", h.Identity.Revision)...)
	} else if len(r.Devices) > 0 {
		about = append(about, DeviceText(r.Devices[0]))
	}
	for _, d := range r.Devices {
		if d.Name != r.Controller.Name {
			about = append(about, "reaches "+d.Name)
		}
	}
	return about
}
