package recorder

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// mustBeWritten marks the one recording that is due as written, and returns it.
func (w *world) mustBeWritten(t *testing.T) record.Recording {
	t.Helper()
	rec := w.due(t)
	require.False(t, w.Written(rec.ID, nil))
	require.Empty(t, w.Due())
	return rec
}

func readerOf(t *testing.T, rec record.Recording) io.Reader {
	t.Helper()
	lines, err := Encode(rec)
	require.NoError(t, err)
	return bytes.NewReader(lines)
}

func verdict(w *world, id string) string {
	return w.Trigger(record.Trigger{Time: w.wall, Kind: record.TriggerVerdict, TargetID: id, DeviceID: id, Device: id, Text: "severe"}, 0)
}

func TestAStallFreezesAMinuteBeforeAndAfter(t *testing.T) {
	w := newWorld("a")
	w.run(100, nil)
	assert.Equal(t, "20260504T130130Z-a", w.stall("a", 10*time.Second), "which began ten seconds ago")
	for range 51 {
		assert.Empty(t, w.Due())
		w.pass()
	}
	got := w.mustBeWritten(t)
	assert.Equal(t, start().Add(30*time.Second), got.From)
	assert.Equal(t, start().Add(150*time.Second), got.Until)
	assert.Empty(t, got.Cut)
	assert.Len(t, got.Host, 120)
}

// The recording of a device that hangs for hours must end, and say that the stall goes on.
func TestARecordingOfALongStallEnds(t *testing.T) {
	w := newWorld("a")
	w.run(100, nil)
	w.stalls["a"] = record.StallByDevice
	began := w.wall
	var all []record.Recording
	for s := range 2 * 3600 {
		w.pass()
		if s%10 == 9 { // the ongoing stall is reported again
			w.Trigger(record.Trigger{Time: began, Kind: record.TriggerStall, TargetID: "a", DeviceID: "a", Text: "it goes on"}, w.wall.Sub(began))
		}
		for _, rec := range w.Due() {
			require.False(t, w.Written(rec.ID, nil))
			all = append(all, rec)
		}
	}
	require.Len(t, all, 1)
	assert.Equal(t, "it ends while a device stalls", all[0].Cut)
	assert.LessOrEqual(t, all[0].Until.Sub(all[0].From), longest)
}

func TestTwoTriggersAreOneRecording(t *testing.T) {
	w := newWorld("a", "b")
	w.run(100, nil)
	id := w.stall("a", 2*time.Second)
	w.run(30, nil)
	assert.Equal(t, id, verdict(w, "a"))
	w.run(10, nil)
	assert.Equal(t, id, w.stall("b", 0))
	w.run(61, nil)
	got := w.mustBeWritten(t)
	assert.Equal(t, start().Add(38*time.Second), got.From)
	assert.Equal(t, start().Add(200*time.Second), got.Until, "the last trigger lengthens it")
	require.Len(t, got.Triggers, 3)
	assert.Equal(t, record.TriggerVerdict, got.Triggers[1].Kind)
	assert.Equal(t, "b", got.Triggers[2].DeviceID)
	assert.Len(t, got.Devices, 2, "each that triggered is in it")
}

// The verdict on a stall may be reported before the stall itself, which began earlier.
func TestALaterTriggerThatBeganEarlier(t *testing.T) {
	w := newWorld("a")
	w.run(100, nil)
	verdict(w, "a")
	w.stall("a", 10*time.Second)
	w.run(61, nil)
	got := w.mustBeWritten(t)
	assert.Equal(t, start().Add(30*time.Second), got.From)
	assert.Equal(t, start().Add(160*time.Second), got.Until)
}

// A stall is reported when it has lasted for ten seconds, and again when it ends.
func TestAStallThatIsToldTwice(t *testing.T) {
	w := newWorld("a")
	w.run(100, nil)
	began := w.wall
	tell := func(text string) string {
		return w.Trigger(record.Trigger{Time: began, Kind: record.TriggerStall, DeviceID: "a", Text: text}, w.wall.Sub(began))
	}
	w.run(10, nil)
	id := tell("10 s so far")
	w.run(20, nil)
	assert.Equal(t, id, tell("30 s"))
	w.run(61, nil)
	got := w.mustBeWritten(t)
	require.Len(t, got.Triggers, 1)
	assert.Equal(t, "30 s", got.Triggers[0].Text)
	assert.Equal(t, start().Add(190*time.Second), got.Until, "a minute after its end")
	assert.Empty(t, tell("told much later"), "it was recorded")
}

func TestTriggersLengthenARecordingUpToABound(t *testing.T) {
	w := newWorld()
	for i := range 100 {
		w.come(fmt.Sprint(i))
	}
	w.run(100, nil)
	first := w.stall("0", 0)
	for i := range 100 {
		w.run(5, nil)
		w.stall(fmt.Sprint(i), 0)
	}
	all := w.Due()
	require.NotEmpty(t, all)
	assert.Equal(t, first, all[0].ID)
	assert.Equal(t, longest, all[0].Until.Sub(all[0].From))
	assert.Len(t, all[0].Triggers, mostTriggers)
	assert.Equal(t, 4*60/5+1-mostTriggers, all[0].MoreTriggers)
	assert.LessOrEqual(t, len(w.incidents), 3)
}

// A drive that stalls all the time must not displace all other recordings.
func TestADeviceBeginsOneRecordingAnHour(t *testing.T) {
	w := newWorld("a", "b")
	written := 0
	w.run(2*3600+200, func(i int) {
		if i%70 == 0 {
			w.stall("a", 0)
		}
		for _, rec := range w.Due() {
			written++
			w.Written(rec.ID, nil)
		}
	})
	assert.Equal(t, 3, written)
	assert.NotEmpty(t, w.stall("b", 0), "another drive begins its own")
	w.run(2, nil)
	assert.NotEmpty(t, w.Trigger(record.Trigger{Time: w.wall, Kind: record.TriggerRequest, DeviceID: "a"}, 0), "and so does somebody who asks")
}

func TestShutdownWritesWhatThereIs(t *testing.T) {
	w := newWorld("a")
	w.run(100, nil)
	w.stall("a", 0)
	w.run(5, nil)
	going := w.Unfinished()
	require.Len(t, going, 1)
	assert.Equal(t, []time.Time{start().Add(40 * time.Second), start().Add(160 * time.Second)}, []time.Time{going[0].From, going[0].Until})
	all := w.Rest("the daemon stopped")
	require.Len(t, all, 1)
	assert.Equal(t, "the daemon stopped", all[0].Cut)
	assert.Len(t, all[0].Host, 65)
	assert.Equal(t, start().Add(105*time.Second), all[0].Until)
}

func TestARecordingThatCannotBeWrittenIsTriedAgain(t *testing.T) {
	w := newWorld("a")
	w.run(300, nil)
	w.stall("a", 0)
	w.run(61, nil)
	full := errors.New("no space left on device")
	first := w.due(t)
	tries := 1
	for lost := w.Written(first.ID, full); !lost; {
		w.pass()
		for _, rec := range w.Due() {
			tries++
			assert.Equal(t, first.Host, rec.Host, "nothing of it has left the memory meanwhile")
			lost = w.Written(rec.ID, full)
		}
	}
	assert.Greater(t, tries, 8)
	w.run(60, nil)
	assert.Empty(t, w.Due())
	assert.Empty(t, w.incidents)
}

func TestNamesAreTakenOnce(t *testing.T) {
	w := newWorld("a")
	w.run(10, nil)
	w.taken["20260504T130010Z-a"] = true
	assert.Equal(t, "20260504T130010Z-a-2", w.stall("a", 0), "one that is stored has it")
	assert.Equal(t, "20260504T130010Z-node", name(record.Trigger{Time: w.wall}, func(string) bool { return false }))
	assert.Equal(t, "20260504T130010Z-cciss-c0d0", name(record.Trigger{Time: w.wall, Device: "cciss/c0d0"}, func(string) bool { return false }))
}

func TestOff(t *testing.T) {
	w := newWorld("a")
	w.run(10, nil)
	w.stall("a", 0)
	w.Switch(false)
	w.run(100, nil)
	assert.Empty(t, w.stall("a", 0))
	assert.Empty(t, w.Due())
	w.Read("a", Reading{})
	assert.True(t, w.Written("x", io.EOF))
	w.Switch(true)
	w.run(1, nil)
	assert.Len(t, w.ring.rows(0, w.steady), 1)
}

func TestAFileIsReadAgain(t *testing.T) {
	w := newWorld("a", "b", "idle")
	w.host = Host{0.1, 0.2, 0.3, 0.4, 0.5}
	w.Read("a", Reading{})
	w.run(100, func(i int) {
		w.reads("a", uint64(i), time.Millisecond)
		w.reads("b", 1, time.Millisecond)
		if i == 50 {
			w.Read("a", Reading{Time: w.wall, Celsius: new(41), Link: record.LinkRate{GTs: 8, Lanes: 4}})
		}
	})
	w.stall("a", 3*time.Second)
	w.run(61, nil)
	rec := w.due(t)
	rec.Node, rec.Generator = "stor-07", "ssdprobe 1.2.3"
	again, err := Decode(readerOf(t, rec))
	require.NoError(t, err)
	assert.Equal(t, rec, again)
	require.Len(t, again.Devices[0].Readings, 1)
}

func TestFilesThatMakeNoSense(t *testing.T) {
	zipped := func(text string) string {
		var b strings.Builder
		z := gzip.NewWriter(&b)
		_, err := z.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		return b.String()
	}
	const first = `{"format":"ssdprobe/recording","version":1,"triggers":[{"kind":"request"}],"devices":[{"id":"a"}]}` + "\n"
	for want, text := range map[string]string{
		"gzip: invalid header": "plain text",
		"unexpected EOF":       zipped(first + strings.Repeat(`{"about":"host"}`+"\n", 100))[:60],
		"its first line":       zipped("x"),
		`its format is "x"`:    zipped(`{"format":"x"}`),
		"its version is 2":     zipped(`{"format":"ssdprobe/recording","version":2}`),
		"its first line: a recording without a trigger":   zipped(`{"format":"ssdprobe/recording","version":1}`),
		`line 2: the device "b" is not in the first line`: zipped(first + `{"about":"second","id":"b"}`),
		"line 3: ": zipped(first + "{\"about\":\"host\"}\n{\"about\":"),
	} {
		_, err := Decode(strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
	rec, err := Decode(strings.NewReader(zipped(first + `{"about":"the future","id":"a"}`)))
	require.NoError(t, err)
	assert.Len(t, rec.Devices, 1)
}

func TestTheOldestGoFirst(t *testing.T) {
	heads := []record.RecordingHead{{ID: "1", Bytes: 10}, {ID: "2", Bytes: 20}, {ID: "3", Bytes: 30}, {ID: "4", Bytes: 40}}
	assert.Empty(t, Settings{MaxRecordings: 4, MaxBytes: 100}.Surplus(heads))
	assert.Equal(t, []string{"1", "2"}, Settings{MaxRecordings: 2, MaxBytes: 100}.Surplus(heads), "too many")
	assert.Equal(t, []string{"1", "2", "3"}, Settings{MaxRecordings: 4, MaxBytes: 69}.Surplus(heads), "too large")
	assert.Empty(t, Settings{MaxRecordings: 1, MaxBytes: 1}.Surplus(nil))
}
