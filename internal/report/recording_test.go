package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

func TestRecording(t *testing.T) {
	var text, page bytes.Buffer
	require.NoError(t, report.Recording(&text, recordtest.Recording()))
	golden(t, "recording.txt", text.String())
	require.NoError(t, report.RecordingHTML(&page, recordtest.Recording()))
	assert.Equal(t, 4, strings.Count(page.String(), `<svg class="plot"`), "three of the device, one of the host")
	assert.Equal(t, 4, strings.Count(page.String(), `<svg class="plot narrow"`), "the same for a phone")
	for _, want := range []string{"no I/O completed for 3 s", "<title>", "12:05:14.000", "stall (device)", "8 GT/s x4"} {
		assert.Contains(t, page.String(), want)
	}
}

// A recording of a node that was cut short at once has little to show.
func TestRecordingOfNothing(t *testing.T) {
	rec := recordtest.Recording()
	rec.Host, rec.Devices, rec.Triggers, rec.MoreTriggers = nil, nil, []record.Trigger{{Time: rec.From, Kind: record.TriggerRequest, Text: "an operator requested it"}}, 3
	var text, page bytes.Buffer
	require.NoError(t, report.Recording(&text, rec))
	assert.Contains(t, text.String(), "What the node did")
	assert.Contains(t, text.String(), "3 further triggers are not listed")
	assert.Contains(t, text.String(), "Nothing is known about the host")
	require.NoError(t, report.RecordingHTML(&page, rec))
}

// In a second in which the machine stood still, nobody knows whether a drive stalls.
func TestAStallWhoseEndIsNotSeen(t *testing.T) {
	rec := recordtest.Recording()
	at := rec.From.Add(time.Second)
	rec.Devices = []record.DeviceRecording{{Device: record.Device{ID: "a", Name: "sda"}, Seconds: []record.DeviceSecond{
		{Time: at, InFlight: 2, Stall: record.StallByDevice}, {Time: at.Add(time.Second), InFlight: 2},
	}}}
	var text bytes.Buffer
	require.NoError(t, report.Recording(&text, rec))
	assert.NotContains(t, text.String(), "the stall is over")
	assert.Contains(t, text.String(), "no stall is seen now, but nothing has completed in this second, 2 in flight")
}

// The list of slow I/Os of a drive says that others were not reported, even if that are all.
func TestTheListOfSlowIOsSaysThatItIsNotWhole(t *testing.T) {
	const notWhole = "The list of slow I/Os may not be whole. Not reported, of all devices: 42."
	shown := func(rec record.Recording) string {
		var text bytes.Buffer
		require.NoError(t, report.Recording(&text, rec))
		return strings.Join(strings.Fields(text.String()), " ")
	}
	rec := recordtest.Recording()
	assert.Contains(t, shown(rec), notWhole)
	rec.Devices[1].Slow = nil
	assert.Contains(t, shown(rec), notWhole)
	for i := range rec.Host {
		rec.Host[i].SlowUnreported = 0
	}
	assert.NotContains(t, shown(rec), "may not be whole")
}

func TestRecordings(t *testing.T) {
	var text bytes.Buffer
	require.NoError(t, report.Recordings(&text, report.RecordingList{}, recordtest.Now()))
	older, newer := recordtest.Recording().RecordingHead, recordtest.Recording().RecordingHead
	older.ID, newer.ID = "older", "newer"
	newer.Triggers = newer.Triggers[1:]
	goingOn := newer
	goingOn.ID, goingOn.Until, goingOn.Bytes = "going-on", recordtest.Now().Add(47*time.Second), 0
	require.NoError(t, report.Recordings(&text, report.RecordingList{
		Recordings: []record.RecordingHead{older, newer}, Unfinished: []record.RecordingHead{goingOn},
	}, recordtest.Now()))
	golden(t, "recordings.txt", text.String())
}
