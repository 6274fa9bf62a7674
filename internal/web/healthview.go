package web

import (
	"fmt"
	"math"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// healthView is what one controller, or a SATA or SAS drive, says of itself.
type healthView struct {
	Name  string
	Facts []conditionView
	// Read is when; nil when it never was.
	Read *moment
	// Missing says why there are no facts.
	Missing string
}

func newHealthViews(controllers []record.Controller, now time.Time) []healthView {
	var views []healthView
	for _, c := range controllers {
		v := healthView{Name: c.Name, Read: at(c.LastRead, now)}
		switch {
		case c.Health != nil:
			v.Facts = healthFacts(*c.Health)
		case c.Disk != nil && c.Disk.Asleep:
			v.Missing = "asleep: left alone"
		case c.Disk != nil:
			v.Facts = diskFacts(*c.Disk)
		case c.Kind != record.ControllerVirtio:
			v.Missing = "not known: the last reading failed"
		}
		if c.Interrupts != nil {
			v.Facts = append(v.Facts, interruptFacts(*c.Interrupts)...)
		}
		if len(v.Facts) > 0 || v.Missing != "" {
			views = append(views, v)
		}
	}
	return views
}

func healthFacts(h record.Health) []conditionView {
	var facts []conditionView
	add := func(name, value string) { facts = append(facts, conditionView{Name: name, Value: keep(value)}) }
	for _, t := range h.Temperatures {
		if t.Sensor == record.CompositeSensor {
			add("temperature", fmt.Sprintf("%d °C", t.Celsius))
		}
	}
	add("life used", units.Percent(h.PercentageUsed))
	if h.AvailableSpare != nil {
		add("spare blocks", units.Percent(*h.AvailableSpare))
	}
	if h.DataWrittenBytes != nil {
		add("written", units.DriveSize(int64(min(*h.DataWrittenBytes, math.MaxInt64))))
	}
	add("power on", hours(h.PowerOn))
	add("media errors", units.Count(h.MediaErrors))
	add("unsafe shutdowns", units.Count(h.UnsafeShutdowns))
	if q := h.Features.IOQueues; q != nil {
		add("I/O queues", fmt.Sprint(*q))
	}
	return facts
}

func diskFacts(d record.DiskHealth) []conditionView {
	var facts []conditionView
	add := func(name, value string) { facts = append(facts, conditionView{Name: name, Value: keep(value)}) }
	if d.Passed != nil {
		verdict := "failing"
		if *d.Passed {
			verdict = "passed"
		}
		add("SMART", verdict)
	}
	if d.TemperatureCelsius != nil {
		add("temperature", fmt.Sprintf("%d °C", *d.TemperatureCelsius))
	}
	if d.PercentageUsed != nil {
		add("life used", units.Percent(*d.PercentageUsed))
	}
	if d.PowerOnHours != nil {
		add("power on", hours(time.Duration(*d.PowerOnHours)*time.Hour))
	}
	for _, n := range []struct {
		name string
		of   *int64
	}{{"reallocated sectors", d.ReallocatedSectors}, {"pending sectors", d.PendingSectors}, {"unreadable sectors", d.UncorrectableSectors}} {
		if n.of != nil {
			add(n.name, units.Count(*n.of))
		}
	}
	return facts
}

// interruptFacts tell what an I/O costs in interrupts, and whether they travel.
func interruptFacts(i record.Interrupts) []conditionView {
	var facts []conditionView
	if i.PerIO != nil {
		facts = append(facts, conditionView{
			Name: "interrupts per I/O", Value: keep(fmt.Sprintf("%.2f in the last %s", *i.PerIO, units.Span(i.Span))),
		})
	}
	if i.Remote != nil && *i.Remote > 0 {
		facts = append(facts, conditionView{Name: "interrupts on another NUMA node", Value: keep(units.Count(*i.Remote))})
	}
	return facts
}

// hours is how long a drive was on, which it counts in whole hours.
func hours(d time.Duration) string {
	if d < time.Hour {
		return "less than 1 h"
	}
	return units.Span(d)
}
