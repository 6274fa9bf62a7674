package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// HealthFacts are what a controller or a drive says of itself, and what its interrupts
// cost.
func HealthFacts(c record.Controller) document.Facts {
	var facts document.Facts
	switch {
	case c.Health != nil:
		facts = healthFacts(*c.Health)
	case c.Disk != nil:
		facts = diskFacts(*c.Disk)
	case c.Kind != record.ControllerVirtio:
		facts = document.Facts{{Name: "state", Value: "not known: the last reading failed"}}
	}
	if c.Interrupts != nil {
		facts = append(facts, interruptFacts(*c.Interrupts)...)
	}
	return facts
}

func healthFacts(h record.Health) document.Facts {
	read := movedFact("read", h.DataReadBytes, h.HostReadCommands)
	read.Detail = true
	facts := document.Facts{
		temperatureFact(h),
		spareFact(h),
		{Name: "life used", Value: units.Percent(h.PercentageUsed)},
		read,
		movedFact("written", h.DataWrittenBytes, h.HostWriteCommands),
		{Name: "busy", Value: lasted(h.ControllerBusy), Detail: true},
		{Name: "power on", Value: hours(h.PowerOn)},
		{Name: "power cycles", Value: units.Count(h.PowerCycles), Detail: true},
		{Name: "unsafe shutdowns", Value: units.Count(h.UnsafeShutdowns)},
		{Name: "media errors", Value: units.Count(h.MediaErrors)},
		{Name: "error log", Value: units.Plural(h.ErrorLogEntries, "entry"), Detail: true},
		{Name: "heat", Value: heatText(h), Detail: true},
		{Name: "throttling", Value: throttlingText(h.Throttling), Detail: true},
	}
	for _, n := range h.Namespaces {
		facts = append(facts, document.Fact{Name: fmt.Sprintf("namespace %d", n.ID), Value: namespaceText(n), Detail: true})
	}
	return append(facts, featureFacts(h.Features)...).Known()
}

func spareFact(h record.Health) document.Fact {
	f := document.Fact{Name: "spare blocks"}
	if h.AvailableSpare != nil {
		f.Value = units.Percent(*h.AvailableSpare) + " left"
	}
	if h.AvailableSpareThreshold != nil {
		f.More = ", the drive warns below " + units.Percent(*h.AvailableSpareThreshold)
	}
	return f
}

func temperatureFact(h record.Health) document.Fact {
	f := document.Fact{Name: "temperature"}
	var sensors []string
	for _, t := range h.Temperatures {
		if t.Sensor == record.CompositeSensor {
			f.Value = fmt.Sprintf("%d °C", t.Celsius)
		} else {
			sensors = append(sensors, fmt.Sprintf("sensor %s %d °C", t.Sensor, t.Celsius))
		}
	}
	if f.Value == "" && len(sensors) > 0 {
		f.Value, sensors = sensors[0], sensors[1:]
	}
	for _, s := range sensors {
		f.More += ", " + s
	}
	if t := h.Identity.WarningTemperature; t != nil {
		f.More += fmt.Sprintf("; the drive warns from %d °C", *t)
	}
	if t := h.Identity.CriticalTemperature; t != nil {
		f.More += fmt.Sprintf("; critical from %d °C", *t)
	}
	return f
}

func movedFact(name string, bytes *uint64, commands uint64) document.Fact {
	in := units.Plural(commands, "command")
	if bytes == nil {
		return document.Fact{Name: name, Value: in, More: "; how many bytes is not reported"}
	}
	return document.Fact{Name: name, Value: units.DriveSize(int64(min(*bytes, math.MaxInt64))), More: " in " + in}
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

func featureFacts(f record.Features) document.Facts {
	var facts document.Facts
	if f.WriteCache != nil {
		facts = append(facts, document.Fact{Name: "write cache", Value: onOff(*f.WriteCache), Detail: true})
	}
	if c := f.Coalescing; c != nil {
		text := c.String()
		if text != "off" {
			text = fmt.Sprintf("interrupts after %s or %v", units.Plural(c.Threshold, "completion"), c.Time)
		}
		facts = append(facts, document.Fact{Name: "coalescing", Value: text, Detail: true})
	}
	if f.PowerState != nil {
		fact := document.Fact{Name: "power state", Value: fmt.Sprint(*f.PowerState), Detail: true}
		if f.AutonomousPower != nil && *f.AutonomousPower {
			fact.More = " now; the drive changes it by itself"
		}
		facts = append(facts, fact)
	}
	queues := document.Fact{Name: "I/O queues"}
	for _, q := range []struct {
		n    *int
		what string
	}{{f.IOQueues, "used"}, {f.PollQueues, "of them polled"}, {f.AllocatedQueues, "granted by the controller"}} {
		switch {
		case q.n == nil:
		case queues.Value == "":
			queues.Value = fmt.Sprintf("%d %s", *q.n, q.what)
		default:
			queues.More += fmt.Sprintf(", %d %s", *q.n, q.what)
		}
	}
	return append(facts, queues)
}

func diskFacts(d record.DiskHealth) document.Facts {
	if d.Asleep {
		return document.Facts{{Name: "state", Value: "asleep", More: ": it was left alone, so nothing else is known"}}
	}
	facts := document.Facts{{Name: "SMART status", Value: "not reported"}}
	if d.Passed != nil {
		facts[0].Value = "failing"
		if *d.Passed {
			facts[0].Value = "passed"
		}
	}
	if d.TemperatureCelsius != nil {
		facts = append(facts, document.Fact{Name: "temperature", Value: fmt.Sprintf("%d °C", *d.TemperatureCelsius)})
	}
	if d.PercentageUsed != nil {
		facts = append(facts, document.Fact{Name: "life used", Value: units.Percent(*d.PercentageUsed)})
	}
	if d.PowerOnHours != nil {
		facts = append(facts, document.Fact{Name: "power on", Value: hours(time.Duration(*d.PowerOnHours) * time.Hour)})
	}
	for _, n := range []struct {
		name string
		of   *int64
	}{
		{"power cycles", d.PowerCycles}, {"reallocated sectors", d.ReallocatedSectors},
		{"pending sectors", d.PendingSectors}, {"uncorrectable sectors", d.UncorrectableSectors},
	} {
		if n.of != nil {
			facts = append(facts, document.Fact{Name: n.name, Value: units.Count(*n.of), Detail: n.of == d.PowerCycles})
		}
	}
	return facts
}

// interruptFacts tell where interrupts were taken, and how many an I/O costs.
func interruptFacts(i record.Interrupts) document.Facts {
	var sum uint64
	for _, q := range i.Queues {
		sum += q.Count
	}
	facts := document.Facts{{Name: "interrupts", Value: units.Count(sum) + " since boot", Detail: true}}
	if i.Remote != nil {
		facts = append(facts, document.Fact{
			Name: "remote interrupts", Value: units.Count(*i.Remote), More: " on CPUs of another NUMA node", Detail: *i.Remote == 0,
		})
	}
	if i.PerIO != nil {
		facts = append(facts, document.Fact{Name: "interrupts per I/O", Value: fmt.Sprintf("%s in the last %s", units.Number(*i.PerIO), units.Span(i.Span))})
	}
	return facts
}

// lasted writes a span that may be nothing.
func lasted(d time.Duration) string {
	if d == 0 {
		return "0 s"
	}
	return units.Span(d)
}

// hours is how long a drive was on, which it counts in whole hours.
func hours(d time.Duration) string {
	if d < time.Hour {
		return "less than 1 h"
	}
	return units.Span(d)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
