package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/html"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Recording writes a recording as text: what happened, plots, and the seconds around it.
func Recording(w io.Writer, rec record.Recording) error {
	blocks := []document.Block{document.Sentence(recordingTitle(rec.RecordingHead) + "."), document.Gap{}, recordingFacts(rec)}
	for _, s := range recordingSections(rec) {
		blocks = append(blocks, document.Gap{}, s)
	}
	return text.Write(w, "recording", blocks...)
}

// RecordingHTML writes a recording as one page with plots.
func RecordingHTML(w io.Writer, rec record.Recording) error {
	return html.Write(w, document.Page{
		Title: recordingTitle(rec.RecordingHead), About: []string{rec.Node, span(rec.RecordingHead)}, Doubt: rec.Cut,
		Sections: recordingSections(rec),
		Foot:     "recorded by " + rec.Generator + " · all times are UTC · ssdprobe's own I/O is included",
	})
}

func recordingTitle(h record.RecordingHead) string {
	return "What " + strings.Join(concerned(h), ", ") + " did around " + units.UTC(h.Triggers[0].Time)
}

// clock formats a time of day, to the millisecond.
func clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }

func span(h record.RecordingHead) string {
	return fmt.Sprintf("%s to %s", units.UTC(h.From), clock(h.Until))
}

func recordingFacts(rec record.Recording) document.Facts {
	return document.Facts{
		{Name: "recording", Value: rec.ID},
		{Name: "node", Value: rec.Node},
		{Name: "seconds", Value: span(rec.RecordingHead)},
		{Name: "ends early", Value: rec.Cut},
		{Name: "recorded by", Value: rec.Generator},
	}.Known()
}

func recordingSections(rec record.Recording) []document.Section {
	all := []document.Section{eventSection(rec)}
	var others []record.DeviceRecording
	for _, d := range rec.Devices {
		if slices.ContainsFunc(rec.Triggers, func(t record.Trigger) bool { return t.DeviceID == d.Device.ID }) {
			all = append(all, deviceSection(rec, d))
		} else {
			others = append(others, d)
		}
	}
	all = append(all, hostSection(rec))
	if len(others) > 0 || len(rec.Idle) > 0 {
		all = append(all, otherSection(rec.Idle, others))
	}
	return all
}

// event is something that happened at a time.
type event struct {
	at   time.Time
	of   string
	text string
}

// eventSection lists the events in order of time.
func eventSection(rec record.Recording) document.Section {
	t := document.Table{Names: []string{"time", "of", "what"}, Align: "lll", Long: true}
	for _, e := range events(rec) {
		t.Add(clock(e.at), e.of, e.text)
	}
	s := document.Section{ID: "events", Title: "What happened", Blocks: []document.Block{t}}
	if rec.MoreTriggers > 0 {
		s.Blocks = append(s.Blocks, document.Sentence(units.Plural(rec.MoreTriggers, "further trigger")+" are not listed."))
	}
	return s
}

func events(rec record.Recording) (all []event) {
	for _, t := range rec.Triggers {
		all = append(all, event{t.Time, subject(t), string(t.Kind) + ": " + t.Text})
	}
	for _, h := range rec.Host {
		if h.StoodStill {
			all = append(all, event{h.Time, "the host", "this machine, a CPU or ssdprobe stood still in this second"})
		}
		if h.ClockStep != 0 {
			all = append(all, event{h.Time, "the host", fmt.Sprintf("the clock jumped by %s: it was set, or the machine was suspended", h.ClockStep)})
		}
		if h.Length > 3*time.Second/2 {
			all = append(all, event{h.Time, "the host", fmt.Sprintf("no counters were read for %s", h.Length)})
		}
	}
	for _, d := range rec.Devices {
		all = append(all, deviceEvents(d)...)
	}
	slices.SortStableFunc(all, func(a, b event) int { return a.at.Compare(b.at) })
	return all
}

// deviceEvents returns when stalls began and ended, when counts became incomparable, and when the
// PCIe link changed.
func deviceEvents(d record.DeviceRecording) (all []event) {
	add := func(at time.Time, text string) { all = append(all, event{at, d.Device.Name, text}) }
	before, unknown := record.StallCause(""), false
	for _, s := range d.Seconds {
		if s.Unknown && !unknown {
			add(s.Time, "its counts cannot be compared with the second before: it appeared, its counters were reset, or its statistics are off (queue/iostats)")
		}
		unknown = s.Unknown
		if s.Stall != before {
			text := fmt.Sprintf("nothing has completed in this second (%s), %d in flight", s.Stall, s.InFlight)
			switch {
			case s.Stall == "" && s.IOs() == 0: // it is not known in a second in which the machine stood still
				text = fmt.Sprintf("no stall is seen now, but nothing has completed in this second, %d in flight", s.InFlight)
			case s.Stall == "":
				text = fmt.Sprintf("the stall is over: %s completed in this second", units.Plural(s.IOs(), "I/O"))
			}
			add(s.Time, text)
			before = s.Stall
		}
	}
	for i, r := range d.Readings {
		if i > 0 && r.Link != d.Readings[i-1].Link {
			add(r.Time, fmt.Sprintf("the PCIe link is now %s, and was %s before", cmp.Or(r.Link, "none"), cmp.Or(d.Readings[i-1].Link, "none")))
		}
	}
	return all
}

// deviceSection shows a device that triggered the recording.
func deviceSection(rec record.Recording, d record.DeviceRecording) document.Section {
	s := document.Section{ID: "device-" + d.Device.Name, Title: d.Device.Name, Blocks: []document.Block{
		document.Facts{
			{Name: "id", Value: d.Device.ID}, {Name: "model", Value: d.Device.Model}, {Name: "firmware", Value: d.Device.Firmware},
			{Name: "temperature", Value: temperatures(d.Readings)}, {Name: "link", Value: links(d.Readings)}, {Name: "interrupts", Value: interrupts(d.Readings)},
		}.Known(),
	}}
	for _, p := range devicePlots(rec, d) {
		s.Blocks = append(s.Blocks, document.Gap{}, p)
	}
	s.Blocks = append(s.Blocks, document.Gap{}, secondsTable(rec, d))
	if len(d.Slow) > 0 {
		s.Blocks = append(s.Blocks, document.Gap{}, slowTable(d.Slow))
	}
	if n := slowUnreported(rec.Host); n > 0 {
		s.Blocks = append(s.Blocks, document.Sentence(fmt.Sprintf("The list of slow I/Os may not be whole. Not reported, of all devices: %s.", units.Count(n))))
	}
	return s
}

// slowUnreported returns how many slow I/Os no list has. It is not known of which devices they are.
func slowUnreported(host []record.HostSecond) (n int64) {
	for _, h := range host {
		n += h.SlowUnreported
	}
	return n
}

// mostSlowShown is how many of the slowest I/Os the table shows. The JSON has all of them.
const mostSlowShown = 20

// slowTable returns the slowest I/Os, the slowest first, and who submitted them if that was
// recorded.
func slowTable(slow []record.SlowIO) document.Table {
	slow = slices.Clone(slow)
	slices.SortStableFunc(slow, func(a, b record.SlowIO) int { return cmp.Compare(b.Latency(), a.Latency()) })
	slow = slow[:min(len(slow), mostSlowShown)]
	named := slices.ContainsFunc(slow, func(s record.SlowIO) bool { return s.Process != "" })
	t := document.Table{Names: []string{"slowest I/Os, completed", "operation", "in the device", "queued", "size", "sector"}, Align: "llrrrr", Long: true}
	if named {
		t.Names, t.Align = append(t.Names, "process", "control group"), t.Align+"ll"
	}
	for _, s := range slow {
		queued, size := "", ""
		if s.Queue > 0 {
			queued = units.Latency(s.Queue)
		}
		if s.Bytes > 0 {
			size = units.Size(s.Bytes)
		}
		cells := []string{clock(s.Time), string(s.Operation), units.Latency(s.Device), queued, size, fmt.Sprint(s.Sector)}
		if named {
			process := ""
			if s.Process != "" {
				process = fmt.Sprintf("%s (%d)", s.Process, s.PID)
			}
			cells = append(cells, process, s.CGroup)
		}
		t.Add(cells...)
	}
	return t
}

// nearby is the time before and after an event that the table shows.
const nearby = 5 * time.Second

// secondsTable returns the seconds around the events. The JSON has all of them.
func secondsTable(rec record.Recording, d record.DeviceRecording) document.Table {
	t := document.Table{
		Names: []string{"second to", "in flight", "reads", "read mean", "writes", "write mean", "flushes", "flush mean", "discards", "discard mean", "busy", ""},
		Align: "lrrrrrrrrrrl", Long: true,
	}
	near := events(rec)
	for _, s := range d.Seconds {
		if !slices.ContainsFunc(near, func(e event) bool { return s.Time.Sub(e.at).Abs() <= nearby }) {
			continue
		}
		cells := []string{clock(s.Time), units.Count(s.InFlight)}
		for _, o := range []record.Operation{record.OperationRead, record.OperationWrite, record.OperationFlush, record.OperationDiscard} {
			served := s.Of(o)
			count, mean := "", ""
			if served.IOs > 0 {
				count = units.Count(served.IOs)
			}
			if served.MeanLatency > 0 {
				mean = units.Latency(served.MeanLatency)
			}
			cells = append(cells, count, mean)
		}
		busy := ""
		if s.Busy > 0 {
			busy = units.Span(s.Busy)
		}
		t.Add(append(cells, busy, secondNote(s))...)
	}
	return t
}

func secondNote(s record.DeviceSecond) string {
	var notes []string
	if s.Stall != "" {
		notes = append(notes, "stall ("+string(s.Stall)+")")
	}
	if s.Ours {
		notes = append(notes, "with I/O of ssdprobe")
	}
	if s.Unknown {
		notes = append(notes, "not comparable")
	}
	return strings.Join(notes, ", ")
}

func temperatures(readings []record.DeviceReading) string {
	return fromTo(readings, func(r record.DeviceReading) string {
		if r.Celsius == nil {
			return ""
		}
		return fmt.Sprintf("%d °C", *r.Celsius)
	})
}

func links(readings []record.DeviceReading) string {
	return fromTo(readings, func(r record.DeviceReading) string { return r.Link })
}

func interrupts(readings []record.DeviceReading) string {
	return fromTo(readings, func(r record.DeviceReading) string {
		if r.InterruptsPerSecond == nil {
			return ""
		}
		return units.Number(*r.InterruptsPerSecond) + " a second"
	})
}

// fromTo returns the values read, without repetitions: "38 °C, later 41 °C".
func fromTo(readings []record.DeviceReading, write func(record.DeviceReading) string) string {
	var all []string
	for _, r := range readings {
		if v := write(r); v != "" && (len(all) == 0 || all[len(all)-1] != v) {
			all = append(all, v)
		}
	}
	return strings.Join(all, ", later ")
}

// otherSection returns a line for each device that did not trigger the recording.
func otherSection(idle []string, others []record.DeviceRecording) document.Section {
	t := document.Table{Names: []string{"device", "I/Os", "most in flight", "worst mean of a second", "seconds in stalls"}, Align: "lrrrr", Long: true}
	for _, d := range others {
		var ios, most, stalled int64
		var worst time.Duration
		for _, s := range d.Seconds {
			ios, most = ios+s.IOs(), max(most, s.InFlight)
			for _, o := range record.Operations() {
				worst = max(worst, s.Of(o).MeanLatency)
			}
			if s.Stall != "" {
				stalled++
			}
		}
		mean := ""
		if worst > 0 {
			mean = units.Latency(worst)
		}
		t.Add(d.Device.Name, units.Count(ios), units.Count(most), mean, units.Count(stalled))
	}
	s := document.Section{ID: "others", Title: "Other devices"}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, t)
	}
	if len(idle) > 0 {
		s.Blocks = append(s.Blocks, document.List("idle: ", idle...))
	}
	return s
}
