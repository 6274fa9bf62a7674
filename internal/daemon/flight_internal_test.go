package daemon

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/recorder"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// flying returns a daemon that records one drive and keeps its recordings in the directory at.
func flying(t *testing.T, at string) (d *Daemon, log *bytes.Buffer) {
	t.Helper()
	log = &bytes.Buffer{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	dir, err := state.Open(at)
	require.NoError(t, err)
	d = &Daemon{
		shared:  &shared{node: "stor-07", judging: newJudging(drift.Default()), locks: &locks{dir: t.TempDir()}, log: logger, state: newStorage(dir, logger)},
		watches: map[string]*watch{}, generator: "ssdprobe 1.2.3",
		flight: newFlight(sysfs.New("/"), recorder.Default()), health: newKeeper(sysfs.New("/"), logger),
	}
	drive := record.Device{ID: "eui.1", Name: "nvme0n1", Number: "259:0", Link: &record.PCIeLink{CurrentGTs: 16, CurrentLanes: 4}}
	d.watches["eui.1"] = &watch{target: target{spec: spec{Target: measure.Target{ID: "eui.1", Number: "259:0"}, LockID: "eui.1"}, log: logger}, device: drive}
	d.restoreRecordings()
	d.second(1)
	d.look(time.Now())
	return d, log
}

// second records a second with reads by others.
func (d *Daemon) second(reads uint64) {
	d.tookSecond(traffic.Second{Time: time.Now(), Devices: []traffic.Counted{
		{Device: traffic.Device{ID: "eui.1", Number: "259:0"}, Disk: counters.Disk{ReadIOs: reads, InFlight: 2}, Timing: counters.ExactTimes},
	}})
}

// stalls makes the drive stall.
func (d *Daemon) stalls(at time.Time, length time.Duration) {
	d.tookStall(traffic.Device{ID: "eui.1", Number: "259:0"}, record.Stall{Start: at, Length: length, Cause: record.StallByDevice, InFlight: 2})
}

// end stops the daemon, which writes incomplete recordings as they are.
func (d *Daemon) end(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, d.recordOn(ctx))
}

func (d *Daemon) recorded() record.RecorderStatus {
	var s record.Snapshot
	d.flight.fill(&s, d.generator)
	return *s.Recorder
}

// If a stall that was reported while in progress turns out to be a discard, its recording says so.
func TestTheRecordingOfAStallThatWasADiscard(t *testing.T) {
	d, _ := flying(t, t.TempDir())
	device, stall := traffic.Device{ID: "eui.1", Number: "259:0"}, record.Stall{Start: time.Now(), Length: 10 * time.Second, Cause: record.StallByDevice, InFlight: 1, Ongoing: true}
	d.tookStall(device, stall)
	stall.Length, stall.Cause, stall.Ongoing = 70*time.Second, record.StallByDiscard, false
	d.tookStall(device, stall)
	d.end(t)
	status := d.recorded()
	require.Len(t, status.Recordings, 1)
	require.Len(t, status.Recordings[0].Triggers, 1)
	assert.Equal(t, "no I/O completed for 70 s, with 1 in flight: not a stall of the device (cause: discard)", status.Recordings[0].Triggers[0].Text)
}

// When the daemon is stopped in the minute after a stall, it writes what it has, and finds it after a restart.
func TestAStopInTheMinuteAfterAStall(t *testing.T) {
	at := t.TempDir()
	d, _ := flying(t, at)
	d.stalls(time.Now(), time.Second)
	d.end(t)
	assert.Empty(t, d.recorded().Recordings, "a single second may be one slow I/O")

	d.stalls(time.Now(), 3*time.Second)
	d.second(7)
	d.end(t)
	status := d.recorded()
	require.Len(t, status.Recordings, 1)
	head := status.Recordings[0]
	assert.EqualValues(t, 1, status.Written)
	assert.Equal(t, "the daemon stopped", head.Cut)
	assert.Equal(t, []string{"stor-07", "ssdprobe 1.2.3"}, []string{head.Node, head.Generator})
	assert.Equal(t, "no I/O completed for 3 s, with 2 in flight", head.Triggers[0].Text)

	again, _ := flying(t, at)
	assert.Equal(t, status.Recordings, again.recorded().Recordings)
	rec, found, err := again.Recording(head.ID)
	require.NoError(t, err)
	require.True(t, found)
	require.Len(t, rec.Devices, 1)
	assert.Equal(t, "nvme0n1", rec.Devices[0].Device.Name)
	assert.EqualValues(t, 6, rec.Devices[0].Seconds[1].Read.IOs)
	assert.Equal(t, "16 GT/s x4", rec.Devices[0].Readings[0].Link)
	_, found, err = again.Recording("another")
	require.NoError(t, err)
	assert.False(t, found)
}

func TestVerdictsAreRecorded(t *testing.T) {
	d, _ := flying(t, t.TempDir())
	ratio := record.Ratio{Ratio: 1.62, Lower: 1.5, Upper: 1.7}
	d.tellJudged([]judge.Event{
		{Drive: "eui.1", Verdict: record.Watch},
		{Drive: "eui.1", Drift: &drift.Event{}, Verdict: record.Severe},
	})
	assert.Empty(t, d.flight.Rest(""))
	d.tellJudged([]judge.Event{
		{Drive: "eui.1", Verdict: record.Degraded, Ratio: ratio, Witnesses: []string{"probes", "traffic"}},
		{Drive: "eui.1", Verdict: record.Severe, Witnesses: []string{"stalls"}},
		{State: record.Regressed, Drives: []string{"eui.1", "eui.2"}, Ratio: ratio, Drift: &drift.Event{}},
		{State: record.Stable, Drift: &drift.Event{}},
	})
	all := d.flight.Rest("")
	require.Len(t, all, 1, "one incident")
	var texts []string
	for _, trigger := range all[0].Triggers {
		texts = append(texts, trigger.Device+": "+trigger.Text)
	}
	assert.Equal(t, []string{
		"nvme0n1: degraded, " + ratio.String() + " (probes, traffic)", "nvme0n1: severe (stalls)",
		": 2 drives got slower together: " + ratio.String(),
	}, texts)
}

// A drive is not slow since its first error.
func TestTheLogHasTheOnsetOfEachWitness(t *testing.T) {
	d, log := flying(t, t.TempDir())
	failed := time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)
	d.tellJudged([]judge.Event{{
		Drive: "eui.1", Verdict: record.Severe, Ratio: record.Ratio{Ratio: 1.3}, Witnesses: []string{"probes", "errors"}, Since: failed,
		Onsets: map[string]time.Time{"errors": failed, "probes": failed.Add(2 * time.Hour)},
	}})
	assert.Contains(t, log.String(), "since=2026-05-04T03:00:00.000Z")
	assert.Contains(t, log.String(), "onsets.errors=2026-05-04T03:00:00.000Z onsets.probes=2026-05-04T05:00:00.000Z")
}

func TestRecordingOnDemand(t *testing.T) {
	d, log := flying(t, t.TempDir())
	dir := d.shared.state.Dir
	_, err := dir.AskToRecord("", time.Now())
	require.ErrorIs(t, err, state.ErrNotRunning)
	_, lock, err := state.Hold(dir.Dir())
	require.NoError(t, err)
	for _, target := range []string{"", "eui.1", "eui.9"} {
		_, err := dir.AskToRecord(target, time.Now())
		require.NoError(t, err)
	}
	late, err := dir.AskToRecord("", time.Now().Add(-time.Hour))
	require.NoError(t, err)
	d.answerRequests(t.Context())
	all := d.flight.Rest("")
	require.Len(t, all, 1)
	assert.Len(t, all[0].Triggers, 2)
	assert.Contains(t, log.String(), "eui.9 is not watched")
	assert.Contains(t, log.String(), "too long ago")
	assert.Equal(t, 2, strings.Count(log.String(), `msg="request carried out"`))
	left, err := dir.Requests()
	require.NoError(t, err)
	assert.Empty(t, left)
	answer, found, err := dir.TakeAnswer(late)
	require.NoError(t, err)
	require.True(t, found)
	assert.Contains(t, answer.Refused, "too long ago")
	require.NoError(t, lock.Release())
}

// A request that cannot be removed is carried out only once.
func TestARequestThatStaysIsCarriedOutOnce(t *testing.T) {
	testenv.Root(t)
	d, log := flying(t, t.TempDir())
	dir := d.shared.state.Dir
	_, lock, err := state.Hold(dir.Dir())
	require.NoError(t, err)
	name, err := dir.AskToRecord("eui.1", time.Now())
	require.NoError(t, err)
	requests := filepath.Join(dir.Dir(), "requests")
	require.NoError(t, unix.Mount(requests, requests, "", unix.MS_BIND, ""))
	mounted := true
	t.Cleanup(func() {
		if mounted {
			assert.NoError(t, unix.Unmount(requests, 0))
		}
	})
	require.NoError(t, unix.Mount("", requests, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	require.True(t, d.asked(t.Context()))
	for range 3 {
		d.answerRequests(t.Context())
		assert.False(t, d.asked(t.Context()), "it wakes nobody up")
	}
	assert.Equal(t, 1, strings.Count(log.String(), `msg="request carried out"`))
	assert.Contains(t, log.String(), "read-only file system")

	require.NoError(t, unix.Unmount(requests, 0))
	mounted = false
	d.answerRequests(t.Context())
	left, err := dir.Requests()
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Equal(t, 1, strings.Count(log.String(), `msg="request carried out"`))
	_, found, err := dir.TakeAnswer(name)
	require.NoError(t, err)
	assert.True(t, found)
	require.NoError(t, lock.Release())
}

// A daemon that was killed after it stored an answer has left the request behind. The next one does not carry it out.
func TestARequestThatIsAnsweredIsNotCarriedOutAgain(t *testing.T) {
	d, log := flying(t, t.TempDir())
	dir := d.shared.state.Dir
	name, err := dir.Leave(state.Request{Target: "eui.2", Accept: "new firmware"})
	require.NoError(t, err)
	require.NoError(t, dir.Save("answers", name, state.Answer{Time: time.Now()}))
	d.answerRequests(t.Context())
	assert.NotContains(t, log.String(), "request refused")
	left, err := dir.Requests()
	require.NoError(t, err)
	assert.Empty(t, left)
	answer, found, err := dir.TakeAnswer(name)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Empty(t, answer.Refused)
}

func TestTheOldestRecordingsGoFirst(t *testing.T) {
	at := t.TempDir()
	d, _ := flying(t, at)
	d.flight.configure(recorder.Settings{Enabled: true, MaxRecordings: 3, MaxBytes: 1 << 20})
	for i := range 5 {
		rec := record.Recording{RecordingHead: record.RecordingHead{ID: fmt.Sprint(i), Triggers: []record.Trigger{{}}}}
		d.keepRecording(rec, saveTimeout)
		d.dropRecordings()
	}
	ids := func(d *Daemon) (all []string) {
		for _, h := range d.recorded().Recordings {
			all = append(all, h.ID)
		}
		return all
	}
	assert.Equal(t, []string{"2", "3", "4"}, ids(d))
	again, _ := flying(t, at)
	assert.Equal(t, []string{"2", "3", "4"}, ids(again), "the files are gone, too")

	// A reload with lower limits takes effect within a second.
	size := again.recorded().Recordings[0].Bytes
	again.flight.configure(recorder.Settings{Enabled: true, MaxRecordings: 3, MaxBytes: 2 * size})
	again.dropRecordings()
	assert.Equal(t, []string{"3", "4"}, ids(again))
	again.flight.configure(recorder.Settings{Enabled: true, MaxRecordings: 3, MaxBytes: 1})
	again.keepRecording(record.Recording{RecordingHead: record.RecordingHead{ID: "large"}}, saveTimeout)
	assert.Equal(t, []string{"3", "4"}, ids(again), "one that is too large itself pushes out no other")
	assert.EqualValues(t, 1, again.recorded().Failed)
	_, problems := again.shared.state.status()
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].Text, "recorder.max_size")

	// The recording is lost and nothing can be done, so the problem does not last until the next recording.
	again.forgetLost(time.Now())
	_, problems = again.shared.state.status()
	assert.Len(t, problems, 1)
	again.forgetLost(time.Now().Add(tellLost))
	_, problems = again.shared.state.status()
	assert.Empty(t, problems)
}

func TestADamagedRecordingIsSetAside(t *testing.T) {
	at := t.TempDir()
	d, _ := flying(t, at)
	for _, id := range []string{"a", "b"} {
		d.keepRecording(record.Recording{RecordingHead: record.RecordingHead{ID: id}}, saveTimeout)
	}
	file := filepath.Join(at, "recordings", "a.json")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text[:len(text)/2], 0o600))
	again, _ := flying(t, at)
	require.Len(t, again.recorded().Recordings, 1)
	assert.Equal(t, "b", again.recorded().Recordings[0].ID)
	_, problems := again.shared.state.status()
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].Text, "a.json is damaged")
	again.keepRecording(record.Recording{RecordingHead: record.RecordingHead{ID: "a"}}, saveTimeout)
	assert.Len(t, again.recorded().Recordings, 2)
	aside, err := filepath.Glob(file + ".damaged-*")
	require.NoError(t, err)
	assert.Len(t, aside, 1)
}

// A full disk shows in the metrics, the log and a finding. Sampling continues, and once there is room again, the
// recording is written.
func TestAFullDisk(t *testing.T) {
	testenv.Root(t)
	disk := t.TempDir()
	require.NoError(t, unix.Mount("tmpfs", disk, "tmpfs", 0, "size=1m,mode=700"))
	t.Cleanup(func() { assert.NoError(t, unix.Unmount(disk, 0)) })
	d, log := flying(t, filepath.Join(disk, "state"))
	d.keepRecording(record.Recording{RecordingHead: record.RecordingHead{ID: "before"}}, saveTimeout)
	full := filepath.Join(disk, "full")
	require.Error(t, os.WriteFile(full, make([]byte, 2<<20), 0o600))
	d.stalls(time.Now(), 3*time.Second)
	d.second(7)
	d.end(t)
	status := d.recorded()
	assert.Len(t, status.Recordings, 1, "those that are there stay")
	assert.EqualValues(t, 1, status.Failed)
	assert.Contains(t, log.String(), "no space left on device")
	_, problems := d.shared.state.status()
	require.Len(t, problems, 1)

	d.second(8)
	require.NoError(t, os.Remove(full))
	d.end(t)
	assert.Len(t, d.recorded().Recordings, 2)
	_, problems = d.shared.state.status()
	assert.Empty(t, problems)
	assert.NotContains(t, log.String(), "is lost")
}

// While a recording waits for a state directory that hangs, seconds are still recorded and triggers handled.
func TestAHungStateDirectoryDoesNotHoldUpSampling(t *testing.T) {
	d, _ := flying(t, t.TempDir())
	d.stalls(time.Now(), 3*time.Second)
	d.shared.state.turn.Lock() // as a hanging save does
	written := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	go func() { written <- d.recordOn(ctx) }()
	for i := range uint64(20) {
		d.second(i)
		d.stalls(time.Now(), 3*time.Second)
		d.look(time.Now())
	}
	assert.Empty(t, d.recorded().Recordings)
	select {
	case <-written:
		assert.Fail(t, "it was to wait")
	default:
	}
	d.shared.state.turn.Unlock()
	require.NoError(t, <-written)
	assert.Len(t, d.recorded().Recordings, 1)
}

// The recording includes what the daemon reads from a drive for other purposes.
func TestReadingsOfDrives(t *testing.T) {
	d, _ := flying(t, t.TempDir())
	at := time.Now()
	read := func(name string, c record.Controller) {
		d.health.sources = append(d.health.sources, health.Source{Name: name, Kind: c.Kind, Devices: []record.Device{{ID: "eui.1"}}})
		d.health.readers[name] = &healthReader{now: health.Reading{Controller: c}}
	}
	assert.Zero(t, d.health.reading("eui.1"))
	read("nvme0", record.Controller{Kind: record.ControllerNVMe, Health: &record.Health{Time: at, Temperatures: []record.Temperature{
		{Sensor: "1", Celsius: 60}, {Sensor: record.CompositeSensor, Celsius: 41},
	}}})
	read("nvme1", record.Controller{Kind: record.ControllerNVMe})
	later := at.Add(time.Second)
	d.health.interrupts = map[string]record.Interrupts{
		"nvme0": {Time: later, Count: 7}, "nvme1": {Time: later, Count: 5},
	}
	assert.Equal(t, recorder.Reading{Time: later, Celsius: new(41), Interrupts: new(uint64(12)), Counted: later}, d.health.reading("eui.1"))
	assert.Zero(t, d.health.reading("eui.2"))
	d.health.readers["nvme0"].now.Controller = record.Controller{Disk: &record.DiskHealth{Time: at, TemperatureCelsius: new(33)}}
	assert.Equal(t, 33, *d.health.reading("eui.1").Celsius)
}

func TestRecordingsThatDoNotFitIntoMemoryAreTold(t *testing.T) {
	assert.Empty(t, sizeProblem(recorder.Default().MaxBytes, 384<<20*9/10), "the default fits into the limits that ship")
	assert.Empty(t, sizeProblem(1<<30, math.MaxInt64), "no limit")
	assert.Contains(t, sizeProblem(256<<20, 345<<20), "recorder.max_size is 256 MiB, and this process may use 345 MiB")
}
