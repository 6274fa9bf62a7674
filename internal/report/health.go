package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// HealthFacts returns the health that a controller or a drive reports, and the cost of
// its interrupts.
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
	facts := document.Facts{
		temperatureFact(h),
		{
			Name: "spare blocks", Value: given(h.AvailableSpare, func(share float64) string { return units.Percent(share) + " left" }),
			More: given(h.AvailableSpareThreshold, func(share float64) string { return ", the drive warns below " + units.Percent(share) }),
		},
		{Name: "life used", Value: given(h.PercentageUsed, units.Percent)},
		movedFact("read", true, h.DataReadBytes, h.HostReadCommands),
		movedFact("written", false, h.DataWrittenBytes, h.HostWriteCommands),
		{Name: "busy", Value: given(h.ControllerBusy, lasted), Detail: true},
		{Name: "power on", Value: given(h.PowerOn, hours)},
		{Name: "power cycles", Value: given(h.PowerCycles, units.Count), Detail: true},
		{Name: "unsafe shutdowns", Value: given(h.UnsafeShutdowns, units.Count)},
		{Name: "media errors", Value: given(h.MediaErrors, units.Count)},
		selfTestFact(h),
		{Name: "media dies", Value: given(h.MediaDies, func(d record.MediaDies) string {
			return fmt.Sprintf("%d of %d offline, up to %d tolerated", d.Offline, d.Total, d.Tolerated)
		})},
		{Name: "error log", Value: given(h.ErrorLogEntries, func(n uint64) string { return units.Plural(n, "entry") }), Detail: true},
		{Name: "heat", Value: listed(
			given(h.WarningTemperatureTime, func(d time.Duration) string { return lasted(d) + " above the warning temperature" }),
			given(h.CriticalTemperatureTime, func(d time.Duration) string { return lasted(d) + " above the critical one" })), Detail: true},
		{Name: "throttling", Value: throttlingText(h.Throttling), Detail: true},
	}
	for _, n := range h.Namespaces {
		facts = append(facts, document.Fact{Name: fmt.Sprintf("namespace %d", n.ID), Value: namespaceText(n), Detail: true})
	}
	return append(facts, featureFacts(h.Features)...).Known()
}

// selfTestFact shows the newest self-test. One that failed before it and still matters is a finding.
func selfTestFact(h record.Health) document.Fact {
	f := document.Fact{Name: "last test"}
	switch {
	case h.SelfTests == nil:
	case len(h.SelfTests) == 0:
		f.Value = "none is in the log of self-tests"
	default:
		f.Value = h.SelfTests[0].String()
		if age := h.OperationSince(h.SelfTests[0]); age > 0 {
			f.More = ", " + units.Span(age) + " of operation ago"
		}
	}
	return f
}

// given formats a known value; empty when it is not known.
func given[T any](value *T, write func(T) string) string {
	if value == nil {
		return ""
	}
	return write(*value)
}

// listed joins the texts that are not empty.
func listed(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), ", ")
}

func celsius(degrees int) string { return fmt.Sprintf("%d °C", degrees) }

func temperatureFact(h record.Health) document.Fact {
	var sensors []string // the one of the whole drive first
	for _, t := range h.Temperatures {
		if t.Sensor == record.CompositeSensor {
			sensors = append([]string{celsius(t.Celsius)}, sensors...)
		} else {
			sensors = append(sensors, "sensor "+t.Sensor+" "+celsius(t.Celsius))
		}
	}
	if len(sensors) == 0 {
		return document.Fact{}
	}
	f := document.Fact{Name: "temperature", Value: sensors[0]}
	for _, s := range sensors[1:] {
		f.More += ", " + s
	}
	f.More += given(h.Identity.WarningTemperature, func(t int) string { return "; the drive warns from " + celsius(t) })
	f.More += given(h.Identity.CriticalTemperature, func(t int) string { return "; critical from " + celsius(t) })
	return f
}

func movedFact(name string, detail bool, bytes, commands *uint64) document.Fact {
	in := given(commands, func(n uint64) string { return units.Plural(n, "command") })
	if bytes == nil {
		return document.Fact{Name: name, Value: in, More: "; the number of bytes is not reported", Detail: detail}
	}
	return document.Fact{Name: name, Value: units.DriveSize(int64(min(*bytes, math.MaxInt64))), More: " in " + in, Detail: detail}
}

func throttlingText(levels []record.Throttling) string {
	var parts []string
	for _, t := range levels {
		parts = append(parts, fmt.Sprintf("%s: %s, %s in all", t.Level, units.Plural(t.Transitions, "time"), lasted(t.Time)))
	}
	return strings.Join(parts, "; ")
}

func namespaceText(n record.NamespaceHealth) string {
	text := "of unknown size" // in a format that the controller does not list
	if n.SizeBytes > 0 {
		text = units.DriveSize(int64(min(n.SizeBytes, math.MaxInt64)))
	}
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
	power := ""
	if f.AutonomousPower != nil && *f.AutonomousPower {
		power = " now; the drive changes it by itself"
	}
	queues := func(what string) func(int) string {
		return func(n int) string { return fmt.Sprintf("%d %s", n, what) }
	}
	used, others := given(f.IOQueues, queues("used")), listed(
		given(f.PollQueues, queues("of them polled")), given(f.AllocatedQueues, queues("granted by the controller")))
	if used == "" {
		used, others = others, ""
	} else if others != "" {
		others = ", " + others
	}
	return document.Facts{
		{Name: "write cache", Value: given(f.WriteCache, onOff), Detail: true},
		{Name: "coalescing", Value: given(f.Coalescing, coalescingText), Detail: true},
		{Name: "power state", Value: given(f.PowerState, strconv.Itoa), More: power, Detail: true},
		{Name: "I/O queues", Value: used, More: others},
	}
}

func coalescingText(c record.Coalescing) string {
	if c.String() == record.Off {
		return record.Off
	}
	return fmt.Sprintf("interrupts after %s or %v", units.Plural(c.Threshold, "completion"), c.Time)
}

func diskFacts(d record.DiskHealth) document.Facts {
	if d.Asleep {
		return document.Facts{{Name: "state", Value: "asleep", More: ": it was not woken, so nothing else is known"}}
	}
	status := given(d.Passed, func(passed bool) string {
		switch {
		case passed:
			return "passed"
		case d.TooHot:
			return "too hot"
		}
		return "failing"
	})
	return document.Facts{
		{Name: "SMART status", Value: cmp.Or(status, "not reported")},
		{Name: "temperature", Value: given(d.TemperatureCelsius, celsius)},
		{Name: "life used", Value: given(d.PercentageUsed, units.Percent)},
		{Name: "power on", Value: given(d.PowerOnHours, func(n int64) string { return hours(time.Duration(min(n, int64(math.MaxInt64/time.Hour))) * time.Hour) })},
		{Name: "power cycles", Value: given(d.PowerCycles, units.Count), Detail: true},
		{Name: "reallocated sectors", Value: given(d.ReallocatedSectors, units.Count)},
		{Name: "pending sectors", Value: given(d.PendingSectors, units.Count)},
		{Name: "uncorrectable sectors", Value: given(d.UncorrectableSectors, units.Count)},
	}.Known()
}

// interruptFacts describes where interrupts were handled, and how many there are per I/O.
func interruptFacts(i record.Interrupts) document.Facts {
	since := " since boot"
	if !i.Since.IsZero() {
		since = " in " + units.Span(i.Time.Sub(i.Since))
	}
	facts := document.Facts{{Name: "interrupts", Value: units.Count(i.Count) + since, Detail: true}}
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

// lasted formats a time span that may be zero.
func lasted(d time.Duration) string {
	if d == 0 {
		return "0 s"
	}
	return units.Span(d)
}

// hours formats the power-on time, which drives count in whole hours.
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
