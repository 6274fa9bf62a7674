package daemon

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// recordStall triggers a recording of a stall that a person should know of, or adds how one ended.
func (d *Daemon) recordStall(dev traffic.Device, s record.Stall) {
	t := record.Trigger{
		Time: s.Start, Kind: record.TriggerStall, DeviceID: dev.ID,
		Text: fmt.Sprintf("no I/O completed for %d s, with %d in flight", s.Seconds(), s.InFlight),
	}
	switch {
	case s.Ongoing:
		t.Text += "; the stall continues"
	case !s.Telling():
		t.Text += fmt.Sprintf(": not a stall of the device (cause: %s)", s.Cause)
	}
	if w := d.ofDevice(dev.ID); w != nil {
		t.TargetID = w.spec.ID
	}
	d.trigger(t)
}

// recordVerdict triggers a recording when a verdict says that a drive or the host is slow.
func (d *Daemon) recordVerdict(e judge.Event) {
	t := record.Trigger{Time: time.Now(), Kind: record.TriggerVerdict, TargetID: e.Drive}
	switch {
	case e.Drive == "" && e.State == record.Regressed:
		t.Text = fmt.Sprintf("%d drives got slower together: %s", len(e.Drives), e.Ratio)
	case e.Drift != nil:
		return
	case e.Verdict.Blames():
		t.Text = string(e.Verdict)
		if e.Ratio.Ratio > 0 { // stalls and errors have no ratio
			t.Text += ", " + e.Ratio.String()
		}
		t.Text += " (" + strings.Join(e.Witnesses, ", ") + ")"
	default:
		return
	}
	if w := d.current()[e.Drive]; w != nil {
		t.DeviceID = w.deviceNow().ID
	}
	d.trigger(t)
}

// recordRequest triggers a recording that a user requested. Without a target, it is about the node.
func (d *Daemon) recordRequest(r state.Request) error {
	t := record.Trigger{Time: r.Record.Asked, Kind: record.TriggerRequest, TargetID: r.Target, Text: "an operator requested it"}
	if w := d.current()[r.Target]; w != nil {
		t.DeviceID = w.deviceNow().ID
	} else if r.Target != "" {
		return fmt.Errorf("%s is not watched", r.Target)
	}
	if d.trigger(t) == "" {
		return errors.New("the recorder is off, or the requested time is too long ago")
	}
	return nil
}

// trigger starts a recording of the time around an event. It returns the id of the recording, or "" when there is
// none.
func (d *Daemon) trigger(t record.Trigger) (id string) {
	ago := time.Since(t.Time)
	t.Time = t.Time.UTC().Truncate(time.Millisecond)
	t.Device = d.flight.describe(t.DeviceID).Name
	id = d.flight.Trigger(t, ago)
	if id != "" {
		d.shared.log.Debug("recording", "recording", id, "id", t.TargetID, "why", t.Text)
	}
	return id
}
