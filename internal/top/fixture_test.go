package top_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/top"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func TestMain(m *testing.M) {
	if where := os.Getenv(panics); where != "" {
		panicIn(where)
		return
	}
	time.Local = time.FixedZone("", 2*60*60) // golden files must not depend on the time zone of the machine
	os.Exit(m.Run())
}

// golden compares text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to make it")
	require.Equal(t, string(want), got)
}

var noon = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// row returns a disk with that many reads of 4 KiB and half as many writes of 64 KiB.
func row(name string, reads int64, latency time.Duration) top.Row {
	writes := reads / 2
	return top.Row{
		Device: name, ID: "eui." + name, Number: "259:1", Kind: record.KindDisk, Model: "SAMSUNG MZQL23T8HCLS-00A07", Whole: true,
		Traffic: record.Traffic{
			Time: noon, Length: time.Second, Span: time.Second,
			Work: record.Work{
				Reads: float64(reads), ReadBytes: float64(4096 * reads), Writes: float64(writes), WrittenBytes: float64(writes << 16),
			},
			Read: record.Served{IOs: reads, MeanLatency: latency}, Write: record.Served{IOs: writes, MeanLatency: latency / 4},
			Utilisation: 0.42, InFlight: 2.5,
		},
		InFlight: 3,
	}
}

// node returns a node with a drive for each kind of trouble, in the order of the kernel.
func node() top.Sample {
	healthy := row("nvme0n1", 12_345, 87*time.Microsecond)
	healthy.Verdict = &record.Judgement{Verdict: record.Healthy, Scope: record.ScopeDrive}
	healthy.P99 = map[record.Operation]time.Duration{record.OperationRead: 213 * time.Microsecond, record.OperationWrite: 45 * time.Microsecond}

	severe := row("nvme1n1", 800, 2345*time.Microsecond)
	severe.Verdict = &record.Judgement{
		Verdict: record.Severe, Scope: record.ScopeDrive, Ratio: record.Ratio{Ratio: 2.13, Lower: 2.05, Upper: 2.2},
		Since: noon.Add(-time.Hour), Witnesses: []string{"probes", "traffic"}, ThanBefore: []string{"probes", "traffic"},
	}
	severe.Traffic.Flush, severe.Traffic.Work.Flushes = record.Served{IOs: 12, MeanLatency: 18 * time.Millisecond}, 12
	severe.P99 = map[record.Operation]time.Duration{record.OperationRead: 17 * time.Millisecond}
	severe.Stalls = record.StallTotal{Count: 3, Length: 9 * time.Second}

	stalled := row("nvme2n1", 0, 0)
	stalled.InFlight, stalled.Traffic.Utilisation = 64, 1
	stalled.Stall = &record.Stall{Start: noon.Add(-12 * time.Second), Length: 12 * time.Second, Cause: record.StallByDevice, InFlight: 64, Ongoing: true}
	stalled.Verdict = &record.Judgement{Verdict: record.Healthy}

	fast := row("nvme10n1", 1_234_567, 71*time.Microsecond)
	fast.InFlight, fast.Traffic.Utilisation = 1024, 1
	fast.Traffic.Discard, fast.Traffic.Work.Discards = record.Served{IOs: 1, MeanLatency: 1234 * time.Millisecond}, 1
	fast.Verdict = &record.Judgement{Verdict: record.Unjudged, Unjudged: &record.WhyUnjudged{Reason: record.ReasonLearning}}

	idle := row("sda", 0, 0)
	idle.Model, idle.Traffic.Utilisation, idle.InFlight = "", 0, 0
	idle.Traffic.Work.Reads, idle.Traffic.Read = 0.004, record.Served{IOs: 1, MeanLatency: 11 * time.Second}

	volume := row("dm-0", 500, 4*time.Millisecond)
	volume.Whole, volume.Kind, volume.Model, volume.Traffic.CoarseTimes = false, record.KindDM, "lvm", true
	all := []top.Row{volume, healthy, fast, severe, stalled, idle}
	for i, r := range all {
		if r.Verdict != nil {
			all[i].State, all[i].Ratio = finding.State(r.Verdict.Verdict), r.Verdict.RatioNow().Ratio
		}
	}
	return top.Sample{
		Time: noon, Length: 1001 * time.Millisecond, Node: "stor-07",
		Daemon:  top.Answer{Address: "http://localhost:10040", Time: noon.Add(-2 * time.Second)},
		Devices: all,
	}
}
