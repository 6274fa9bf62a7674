package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// SmartRow is what answers for a drive, and the devices that it reaches.
type SmartRow struct {
	Controller record.Controller `json:"controller"`
	Devices    []record.Device   `json:"devices,omitempty"`
}

// Smart writes what drives say of themselves: first what is wrong in plain words,
// then all figures, each with its unit.
func Smart(w io.Writer, rows []SmartRow) error {
	var p page
	for i, row := range rows {
		if i > 0 {
			p.blank()
		}
		p.smart(row)
	}
	return p.writeTo(w, "smart")
}

func (p *page) smart(r SmartRow) {
	c := r.Controller
	p.list(clean(c.Name)+"  ", r.about())
	p.blank()
	p.warnings("", c.Warnings)
	if len(c.Warnings) == 0 && (c.Disk == nil || !c.Disk.Asleep) {
		p.line("The drive reports nothing wrong.")
	}
	p.blank()
	if c.Health != nil {
		p.properties(healthFacts(*c.Health))
	}
	if c.Disk != nil {
		p.properties(diskFacts(*c.Disk))
	}
	if c.Interrupts != nil {
		p.properties([]fact{{"interrupts", interruptsText(*c.Interrupts)}})
		p.blank()
		p.queues(c.Interrupts.Queues)
	}
}

// properties writes those that have a value, wrapped, values in one column.
func (p *page) properties(facts []fact) {
	for _, f := range facts {
		if f.value != "" {
			p.sentence(fmt.Sprintf("%-15s", f.name), f.value)
		}
	}
}

// about says which drive it is.
func (r SmartRow) about() []string {
	var about []string
	if h := r.Controller.Health; h != nil {
		about = append(about, known(h.Identity.Model))
		for _, f := range []fact{{"serial ", h.Identity.Serial}, {"firmware ", h.Identity.Firmware}, {"NVMe ", h.Identity.Revision}} {
			if f.value != "" {
				about = append(about, f.name+f.value)
			}
		}
	} else if len(r.Devices) > 0 {
		about = append(about, deviceText(r.Devices[0]))
	}
	for _, d := range r.Devices {
		if d.Name != r.Controller.Name {
			about = append(about, "reaches "+d.Name)
		}
	}
	return about
}

func healthFacts(h record.Health) []fact {
	facts := []fact{
		{"temperature", temperatureText(h)},
		{"spare blocks", spareText(h)},
		{"life used", units.Percent(h.PercentageUsed)},
		{"read", movedText(h.DataReadBytes, h.HostReadCommands)},
		{"written", movedText(h.DataWrittenBytes, h.HostWriteCommands)},
		{"busy", lasted(h.ControllerBusy)},
		{"power on", fmt.Sprintf("%s, %s, %s", lasted(h.PowerOn),
			units.Plural(h.PowerCycles, "power cycle"), units.Plural(h.UnsafeShutdowns, "unsafe shutdown"))},
		{"media errors", units.Count(h.MediaErrors)},
		{"error log", units.Plural(h.ErrorLogEntries, "entry")},
		{"heat", heatText(h)},
		{"throttling", throttlingText(h.Throttling)},
	}
	for _, n := range h.Namespaces {
		facts = append(facts, fact{fmt.Sprintf("namespace %d", n.ID), namespaceText(n)})
	}
	return append(facts, featureFacts(h.Features)...)
}

func spareText(h record.Health) string {
	if h.AvailableSpare == nil || h.AvailableSpareThreshold == nil {
		return ""
	}
	return fmt.Sprintf("%s left, the drive warns below %s", units.Percent(*h.AvailableSpare), units.Percent(*h.AvailableSpareThreshold))
}

func temperatureText(h record.Health) string {
	var parts []string
	for _, t := range h.Temperatures {
		if t.Sensor == record.CompositeSensor {
			parts = append(parts, fmt.Sprintf("%d °C", t.Celsius))
		} else {
			parts = append(parts, fmt.Sprintf("sensor %s %d °C", t.Sensor, t.Celsius))
		}
	}
	text := strings.Join(parts, ", ")
	if t := h.Identity.WarningTemperature; t != nil && text != "" {
		text += fmt.Sprintf("; the drive warns from %d °C", *t)
	}
	if t := h.Identity.CriticalTemperature; t != nil && text != "" {
		text += fmt.Sprintf("; critical from %d °C", *t)
	}
	return text
}

func movedText(bytes *uint64, commands uint64) string {
	if bytes == nil {
		return units.Plural(commands, "command") + "; how many bytes is not reported"
	}
	return fmt.Sprintf("%s in %s", units.DriveSize(int64(min(*bytes, math.MaxInt64))), units.Plural(commands, "command"))
}

func heatText(h record.Health) string {
	var parts []string
	if t := h.WarningTemperatureTime; t != nil {
		parts = append(parts, lasted(*t)+" above the warning temperature")
	}
	if t := h.CriticalTemperatureTime; t != nil {
		parts = append(parts, lasted(*t)+" above the critical one")
	}
	return strings.Join(parts, ", ")
}

func throttlingText(levels []record.Throttling) string {
	var parts []string
	for _, t := range levels {
		parts = append(parts, fmt.Sprintf("%s: %s, %s in all", t.Level, units.Plural(t.Transitions, "time"), lasted(t.Time)))
	}
	return strings.Join(parts, "; ")
}

func namespaceText(n record.NamespaceHealth) string {
	text := units.DriveSize(int64(min(n.SizeBytes, math.MaxInt64)))
	if allocated, ok := n.AllocatedRatio(); ok {
		text += ", " + units.Percent(allocated) + " of it allocated"
	}
	if n.BlockBytes > 0 {
		text += fmt.Sprintf(", blocks of %d bytes", n.BlockBytes)
	}
	if n.MetadataBytes > 0 {
		text += fmt.Sprintf(" and %d of metadata", n.MetadataBytes)
	}
	if n.Protection > 0 {
		text += fmt.Sprintf(", protection type %d", n.Protection)
	}
	return text
}

func featureFacts(f record.Features) []fact {
	var facts []fact
	if f.WriteCache != nil {
		facts = append(facts, fact{"write cache", onOff(*f.WriteCache)})
	}
	if c := f.Coalescing; c != nil {
		text := c.String()
		if text != "off" {
			text = fmt.Sprintf("interrupts after %s or %v", units.Plural(c.Threshold, "completion"), c.Time)
		}
		facts = append(facts, fact{"coalescing", text})
	}
	if f.PowerState != nil {
		text := fmt.Sprint(*f.PowerState)
		if f.AutonomousPower != nil && *f.AutonomousPower {
			text += " now; the drive changes it by itself"
		}
		facts = append(facts, fact{"power state", text})
	}
	var queues []string
	for _, q := range []struct {
		n    *int
		what string
	}{{f.IOQueues, "used"}, {f.PollQueues, "of them polled"}, {f.AllocatedQueues, "granted by the controller"}} {
		if q.n != nil {
			queues = append(queues, fmt.Sprintf("%d %s", *q.n, q.what))
		}
	}
	return append(facts, fact{"I/O queues", strings.Join(queues, ", ")})
}

func diskFacts(d record.DiskHealth) []fact {
	if d.Asleep {
		return []fact{{"state", "asleep: it was left alone, so nothing else is known"}}
	}
	facts := []fact{{"verdict", "not told"}}
	if d.Passed != nil {
		facts[0].value = "the drive says that it is failing"
		if *d.Passed {
			facts[0].value = "passed"
		}
	}
	if d.TemperatureCelsius != nil {
		facts = append(facts, fact{"temperature", fmt.Sprintf("%d °C", *d.TemperatureCelsius)})
	}
	if d.PercentageUsed != nil {
		facts = append(facts, fact{"life used", units.Percent(*d.PercentageUsed)})
	}
	if d.PowerOnHours != nil {
		facts = append(facts, fact{"power on", lasted(time.Duration(*d.PowerOnHours) * time.Hour)})
	}
	for _, n := range []struct {
		name string
		of   *int64
	}{
		{"power cycles", d.PowerCycles}, {"reallocated", d.ReallocatedSectors},
		{"pending", d.PendingSectors}, {"uncorrectable", d.UncorrectableSectors},
	} {
		if n.of != nil {
			facts = append(facts, fact{n.name, units.Count(*n.of)})
		}
	}
	return facts
}

// interruptsText says where interrupts were taken, and how many an I/O costs.
func interruptsText(i record.Interrupts) string {
	var sum uint64
	for _, q := range i.Queues {
		sum += q.Count
	}
	text := units.Count(sum) + " since boot"
	if i.Remote != nil {
		text += fmt.Sprintf(", %s of them on CPUs of another NUMA node", units.Count(*i.Remote))
	}
	if i.PerIO != nil {
		text += fmt.Sprintf("; %s per I/O in the last %s", units.Number(*i.PerIO), units.Span(i.Span))
	}
	return text
}

func (p *page) queues(queues []record.QueueInterrupts) {
	g := grid{header: [][]string{{"queue", "interrupts", "number", "CPUs"}}, align: "lrrl"}
	for _, q := range queues {
		g.rows = append(g.rows, gridRow{cells: []string{q.Queue, units.Count(q.Count), q.Number, known(q.CPUs)}})
	}
	p.grid(g)
}

// lasted writes a span that may be nothing.
func lasted(d time.Duration) string {
	if d == 0 {
		return "0 s"
	}
	return units.Span(d)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
