package top

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

var noon = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

func TestKeysOfATerminal(t *testing.T) {
	for sent, want := range map[string][]Key{
		"q": {"q"}, "\x03": {KeyInterrupt}, "\x1a": {KeySuspend}, "\x0c": {KeyRedraw}, "\r": {KeyEnter}, "\x7f": {KeyBackspace},
		"\x1b[A\x1b[B\x1bOAx": {KeyUp, KeyDown, KeyUp, "x"},
		"\x1b[5~\x1b[1;5Cj":   {keyOther, keyOther, "j"}, // page up, and a cursor key with Control
		"é":                   {"é"},
		"\x1bq":               {KeyEscape, "q"},
		"\x00\xff":            {keyOther, keyOther},
	} {
		got, rest := keys(sent)
		assert.Equal(t, want, got, "%q", sent)
		assert.Empty(t, rest, "%q", sent)
	}
	for _, half := range []string{"\x1b", "\x1b[", "\x1b[1;", "\xc3"} { // incomplete
		got, rest := keys("s" + half)
		assert.Equal(t, []Key{"s"}, got)
		assert.Equal(t, half, rest)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("q\x1b[A\x1b")
	f.Fuzz(func(t *testing.T, sent string) {
		pressed, rest := keys(sent)
		if len(pressed) > len(sent) || !strings.HasSuffix(sent, rest) {
			t.Errorf("%q: %q, %q", sent, pressed, rest)
		}
	})
}

func TestWithoutColoursNothingIsColoured(t *testing.T) {
	l := Line{{"a", Plain}, {"b", Bad}, {"c", Warn}, {"d", Good}, {"e", Faint}, {"f", Strong}, {"g", Selected}}
	assert.Equal(t, "abcde\x1b[1mf\x1b[0m\x1b[7mg\x1b[0m", l.ansi(false))
	assert.Equal(t, "a\x1b[1;31mb\x1b[0m", l[:2].ansi(true))
	for _, tone := range []Tone{Bad, Warn, Good} {
		assert.Regexp(t, `3[0-7]$`, tone.sgr(true))
	}
}

func TestADriveThatIsNotJudgedInFull(t *testing.T) {
	r := Row{Device: "nvme0n1", State: finding.StatePartly, Verdict: &record.Judgement{Verdict: record.Healthy}, partly: "it takes a day to learn what is normal"}
	assert.Equal(t, Plain, toneOf(r), "it is not known to be good")
	assert.Equal(t, "partly judged: it takes a day to learn what is normal", verdictText(r))
	for width, shown := range map[int]string{80: "- partly …", 83: "- partly jud…", 85: "- partly judged", 0: "- partly judged -"} {
		_, lines := Table([]Row{r}, width)
		assert.Contains(t, lines[0].Text()+" ", shown+" ", "%d columns", width)
	}
}

func TestRatesFit(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.004: "<0.01", 54.2: "54.2", 999_999: "999 999", 1_234_567: "1.23M", 45_600_000: "45.6M", 2e9: "2.00G"} {
		assert.Equal(t, want, rate(v, 7))
	}
	assert.Equal(t, "123k", rate(123_456, 6))
}

func TestSparks(t *testing.T) {
	assert.Equal(t, []string{"  ▁▄█"}, spark([]float64{0, 1, 4, 8}, 5, 1)[:1])
	assert.Equal(t, []string{"  █", "▄ █"}, spark([]float64{1, 0, 4}, 3, 2), "the highest fills the height")
	assert.Equal(t, []string{"", ""}, spark(nil, 5, 2))
	assert.Equal(t, []string{"█"}, spark([]float64{9, 9, 1}, 1, 1), "the newest is seen")
	assert.Equal(t, []string{"▁█"}, spark([]float64{0.001, 1000}, 2, 1), "what is little is not nothing")
}

func TestAnAnswerGetsStale(t *testing.T) {
	var answer record.Snapshot
	var failed error
	d := daemon{ask: func(context.Context) (string, record.Snapshot, error) { return "http://a", answer, failed }}
	now := time.Now()
	got, drives := d.now(now)
	assert.Equal(t, Answer{Problem: "the daemon has not answered yet"}, got)
	assert.Nil(t, drives)

	bad := &record.Judgement{Verdict: record.Severe, Ratio: record.Ratio{Ratio: 2}}
	probes := []record.ProbeStatus{{Drift: []record.Drift{{Statistic: record.LatencyP50, Ratio: 1.1}, {Statistic: record.LatencyP99, Ratio: 9}}}}
	stalls := &record.TrafficStatus{Stalls: []record.Stall{
		{Length: time.Second, Cause: record.StallByDevice}, {Length: time.Hour, Cause: record.StallByRun}, {Length: 2 * time.Second, Cause: record.StallByDevice},
	}}
	on := record.Device{ID: "eui.1"}
	answer = record.Snapshot{Time: now, Targets: []record.TargetStatus{
		{Device: on, Verdict: &record.Judgement{Verdict: record.Healthy}, Probes: probes, Traffic: stalls},
		{Device: on, Verdict: bad, Traffic: stalls}, // a file on the drive
		{Device: record.Device{ID: "eui.2"}, Probes: probes},
		{Device: record.Device{ID: "eui.3"}, Probes: []record.ProbeStatus{{Last: &record.Measurement{Outcome: record.OutcomeTimeout}}}},
		{Device: record.Device{ID: "eui.3"}, Verdict: bad},
	}}
	d.once(t.Context())
	got, drives = d.now(now.Add(staleAfter))
	assert.Equal(t, Answer{Address: "http://a", Time: now}, got)
	stalled := record.StallTotal{Count: 2, Length: 3 * time.Second}
	assert.Equal(t, said{finding.State(record.Severe), "", bad, 2, stalled, nil, nil}, drives["eui.1"], "the worst of the targets on it")
	assert.Equal(t, finding.State(record.Unjudged), drives["eui.2"].state, "nothing judges it")
	assert.Zero(t, drives["eui.2"].ratio, "only a verdict says how many times slower a drive is, as on the status page")
	assert.Equal(t, finding.StateHung, drives["eui.3"].state)
	assert.Equal(t, record.Severe, drives["eui.3"].verdict.Verdict, "of the other target on it")

	failed = errors.New("it burns")
	d.once(t.Context())
	got, _ = d.now(now.Add(staleAfter))
	assert.Empty(t, got.Problem, "what it said a moment ago holds")
	got, drives = d.now(now.Add(staleAfter + 1))
	assert.Equal(t, Answer{Address: "http://a", Problem: "it burns"}, got)
	assert.Nil(t, drives)

	failed = nil // it answers, but the answer is old
	d.once(t.Context())
	got, drives = d.now(now.Add(time.Hour))
	assert.Equal(t, "the last answer of the daemon at http://a is 1h0m0s old", got.Problem)
	assert.Nil(t, drives)
	got, drives = d.now(now.Add(-time.Hour))
	assert.Equal(t, "the clock was set back since the last answer of the daemon at http://a", got.Problem)
	assert.Nil(t, drives, "nobody knows how old it is")
}

// The percentile covers the last 30 s. If the daemon has restarted, it covers what was counted since.
func TestPercentilesAreOfTheLastHalfMinute(t *testing.T) {
	began := noon.Add(-time.Hour)
	histogram := func(since time.Time, buckets map[int]uint64) []record.IOHistogram {
		return []record.IOHistogram{
			{Operation: record.OperationRead, Stage: record.StageQueue, Buckets: map[int]uint64{200: 5000}, Since: since},
			{Operation: record.OperationRead, Stage: record.StageDevice, Buckets: buckets, Since: since},
		}
	}
	var answers []counted
	at := func(seconds int, h []record.IOHistogram) map[record.Operation]time.Duration {
		answers = recent(answers, counted{noon.Add(time.Duration(seconds) * time.Second), map[string][]record.IOHistogram{"a": h}})
		return p99(answers, "a")
	}
	bucket := func(n int) map[record.Operation]time.Duration {
		return map[record.Operation]time.Duration{record.OperationRead: time.Duration(record.IOBucketSeconds(n) * float64(time.Second))}
	}
	assert.Nil(t, at(0, histogram(began, map[int]uint64{10: 1_000_000})), "nobody knows of when that is")
	assert.Nil(t, at(5, histogram(began, map[int]uint64{10: 1_000_100})), "too few I/Os")
	assert.Equal(t, bucket(10), at(10, histogram(began, map[int]uint64{10: 1_002_000})))
	assert.Equal(t, bucket(50), at(15, histogram(began, map[int]uint64{10: 1_002_000, 50: 30})))
	assert.Equal(t, bucket(50), at(30, histogram(began, map[int]uint64{10: 1_010_000, 50: 130})))
	assert.Equal(t, bucket(10), at(60, histogram(began, map[int]uint64{10: 1_030_000, 50: 130})), "that is over")
	assert.Equal(t, bucket(20), at(65, histogram(noon.Add(62*time.Second), map[int]uint64{20: 1000})), "a new daemon")
	assert.Nil(t, at(70, nil), "it has none any more")
	assert.Nil(t, p99(answers, "b"))
	assert.Nil(t, at(-3600, histogram(began, map[int]uint64{10: 1})), "the clock was set back")
	assert.Len(t, answers, 1)
}

// host is a simulated machine with two disks, a partition and a volume.
type host struct{ root string }

func newHost(t *testing.T) host {
	t.Helper()
	h := host{t.TempDir()}
	sysfstest.Add(t, h.root, map[string]string{
		"sys/devices/vda/dev": "254:0\n", "sys/devices/vda/size": "1048576\n", "sys/devices/vda/vda1/dev": "254:1\n", "sys/devices/vda/vda1/partition": "1\n",
		"sys/devices/vdb/dev": "254:16\n", "sys/devices/vdb/size": "1048576\n",
		"sys/devices/dm-0/dev": "253:0\n", "sys/devices/dm-0/size": "1048576\n", "sys/devices/dm-0/dm/uuid": "LVM-x\n",
		"sys/devices/loop0/dev": "7:0\n", "sys/devices/loop0/size": "0\n",
	}, map[string]string{
		"sys/block/vda": "/sys/devices/vda", "sys/block/vdb": "/sys/devices/vdb", "sys/block/dm-0": "/sys/devices/dm-0", "sys/block/loop0": "/sys/devices/loop0",
		"sys/devices/dm-0/slaves/vda1": "/sys/devices/vda/vda1",
	})
	h.count(t, "254:0 vda 10", "254:1 vda1 10", "254:16 vdb 10", "253:0 dm-0 10", "7:0 loop0 0")
	return h
}

// count writes the number of reads of 4 KiB that each device has done.
func (h host) count(t *testing.T, disks ...string) {
	t.Helper()
	var b strings.Builder
	for _, d := range disks {
		var number, name string
		var reads int
		_, err := fmt.Sscan(d, &number, &name, &reads)
		require.NoError(t, err)
		fmt.Fprintf(&b, "%s %s %d 0 %d %d 0 0 0 0 0 0 0 0 0 0 0 0 0\n", strings.Replace(number, ":", " ", 1), name, reads, 8*reads, reads)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(h.root, "proc"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(h.root, "proc/diskstats"), []byte(b.String()), 0o600))
}

// rows returns the names of the devices that are shown at once.
func rows(t *testing.T, o Options) (names []string, err error) {
	t.Helper()
	o.Interval = time.Second
	s := NewSource(o)
	if err := s.List(t.Context()); err != nil {
		return nil, err
	}
	got := firstSample(t, s)
	Sort(got.Devices, ByTrouble, false)
	for _, r := range got.Devices {
		names = append(names, r.Device)
	}
	return names, nil
}

func TestWhichDevicesAreShown(t *testing.T) {
	h := newHost(t)
	alone := func(context.Context) (string, record.Snapshot, error) {
		return "", record.Snapshot{}, errors.New("alone")
	}
	for name, c := range map[string]struct {
		targets []string
		all     bool
		want    []string
	}{
		"whole disks":            {nil, false, []string{"vda", "vdb"}},
		"all, disks first":       {nil, true, []string{"vda", "vdb", "dm-0", "vda1"}},
		"a volume that is named": {[]string{"dm-0", "/dev/vda1", "vda", "254:0"}, false, []string{"vda", "dm-0", "vda1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := rows(t, Options{Host: sysfs.New(h.root), Ask: alone, Targets: c.targets, All: c.all})
				require.NoError(t, err)
				assert.Equal(t, c.want, got)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		watching := func(context.Context) (string, record.Snapshot, error) {
			volume, err := device.Find(sysfs.New(h.root), "dm-0")
			return "http://a", record.Snapshot{Time: time.Now(), Targets: []record.TargetStatus{{Device: volume}}}, err
		}
		got, err := rows(t, Options{Host: sysfs.New(h.root), Ask: watching})
		require.NoError(t, err)
		assert.Equal(t, []string{"vda", "vdb", "dm-0"}, got, "the daemon has a verdict on it")
	})
	_, err := rows(t, Options{Host: sysfs.New(h.root), Ask: alone, Targets: []string{"vdq"}})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = rows(t, Options{Host: sysfs.New(h.root), Ask: alone, Targets: []string{"loop0"}})
	require.ErrorContains(t, err, "no medium in it")
}

func firstSample(t *testing.T, s *Source) (first Sample) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.NoError(t, s.Run(ctx, func(got Sample) {
		first = got
		cancel()
	}))
	return first
}

// Zeros of a device whose statistics are off are not taken for silence.
func TestADeviceThatDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		sysfstest.Add(t, h.root, map[string]string{"sys/devices/vdb/queue/iostats": "0\n"}, map[string]string{"sys/dev/block/254:16": "/sys/devices/vdb"})
		s := NewSource(Options{Host: sysfs.New(h.root), Interval: time.Second, Ask: func(context.Context) (string, record.Snapshot, error) {
			return "", record.Snapshot{}, nil
		}})
		require.NoError(t, s.List(t.Context()))
		got := firstSample(t, s)
		require.Len(t, got.Devices, 2)
		assert.Empty(t, got.Devices[0].Traffic.Unusable)
		assert.Contains(t, got.Devices[1].Traffic.Unusable, "queue/iostats")
		require.Len(t, got.Problems, 1)
		assert.Equal(t, "vdb: "+got.Devices[1].Traffic.Unusable, got.Problems[0])
	})
}

// The daemon has watched for longer, and knows of runs.
func TestAStallThatBeganBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		sysfstest.Add(t, h.root, map[string]string{"sys/devices/vda/mq/0/cpu_list": "0\n"}, map[string]string{"sys/dev/block/254:0": "/sys/devices/vda"})
		began := time.Now().Add(-time.Minute)
		of := func(id string, stalls ...record.Stall) record.TargetStatus {
			return record.TargetStatus{Device: record.Device{ID: id}, Traffic: &record.TrafficStatus{Stalls: stalls}}
		}
		ongoing := record.Stall{Start: began, Length: 59 * time.Second, Cause: record.StallByRun, InFlight: 1, Ongoing: true}
		s := NewSource(Options{Host: sysfs.New(h.root), Interval: time.Second, Ask: func(context.Context) (string, record.Snapshot, error) {
			return "", record.Snapshot{Time: time.Now(), Targets: []record.TargetStatus{of("name:vda", ongoing), of("name:vdb", ongoing)}}, nil
		}})
		stat := "254 0 vda 10 0 80 10 0 0 0 0 1 0 0 0 0 0 0 0 0\n254 16 vdb 10 0 80 10 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
		require.NoError(t, os.WriteFile(filepath.Join(h.root, "proc/diskstats"), []byte(stat), 0o600))
		require.NoError(t, s.List(t.Context()))
		got := firstSample(t, s)
		require.Len(t, got.Devices, 2)
		vda, vdb := got.Devices[0], got.Devices[1]
		require.NotNil(t, vda.Stall)
		assert.Equal(t, began, vda.Stall.Start)
		assert.Equal(t, got.Time.Sub(began), vda.Stall.Length)
		assert.Equal(t, record.StallByRun, vda.Stall.Cause)
		assert.Nil(t, vdb.Stall, "nothing is in flight: it is over")
	})
}

// A device that leaves has no row, and a device that gets its number is not compared with it.
func TestDevicesComeAndGo(t *testing.T) { synctest.Test(t, comeAndGo) }

func comeAndGo(t *testing.T) {
	h := newHost(t)
	var got []Sample
	s := NewSource(Options{Host: sysfs.New(h.root), Interval: time.Second, Ask: func(context.Context) (string, record.Snapshot, error) {
		return "", record.Snapshot{}, nil
	}})
	require.NoError(t, s.List(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	steps := [][]string{
		{"254:0 vda 110", "254:16 vdb 1000000"},
		{"254:0 vda 111"},
		{"254:0 vda 211", "254:16 vdb 7"},
		{"254:0 vda 212", "254:16 vdb 10"},
		{"254:0 vda 5", "254:16 vdb 11"}, // vda was away within a second
	}
	h.count(t, "254:0 vda 100", "254:16 vdb 10")
	require.NoError(t, s.Run(ctx, func(sample Sample) {
		got = append(got, sample)
		if len(got) > len(steps) {
			cancel()
			return
		}
		h.count(t, steps[len(got)-1]...)
	}))
	reads := map[string][]int64{}
	for _, sample := range got {
		for _, r := range sample.Devices {
			reads[r.Device] = append(reads[r.Device], r.Traffic.Read.IOs)
		}
	}
	assert.Equal(t, map[string][]int64{"vda": {0, 10, 1, 100, 1}, "vdb": {0, 999990, 3, 1}}, reads)
}

// On a node whose volumes come and go, the view runs for weeks.
func TestWhatIsGoneHasNoPast(t *testing.T) {
	v := NewView(time.Second, ByName, true)
	for i := range 50 {
		v.Add(Sample{Time: noon.Add(time.Duration(i) * time.Second), Devices: []Row{{Device: "sda", ID: "a"}, {Device: "dm-0", ID: fmt.Sprint("volume", i)}}})
	}
	assert.Len(t, v.pasts, 2)
	assert.Len(t, v.pasts[pastKey{"sda", "a"}].iops, 50)
}
