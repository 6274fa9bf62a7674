package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// TestExplainADriveBesideItsPeers explains one of six drives of a model. The host is 20 % slower since its kernel
// was replaced. By its probe, d5 is 1.5 times slower than the others from its first day on. Its users send larger
// I/Os.
func TestExplainADriveBesideItsPeers(t *testing.T) {
	const day = 24 * 60
	n := judge.NewNode(drift.Default())
	drives := []string{"d0", "d1", "d2", "d3", "d4", "d5"}
	for _, id := range drives {
		n.AddDrive(judge.Drive{ID: id, Model: "X", SizeBytes: 1 << 40})
	}
	c := record.Conditions{Kernel: "6.1"}
	now := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	for minute := range 2*day + 60 {
		host := 1.0
		if minute >= 2*day {
			host = 1.2
		}
		for i, id := range drives {
			x := 80e-6 * host * (1 + 0.02*float64((minute*7+i*5)%17-8)/8)
			size := 16384.0
			if id == "d5" {
				x, size = 1.5*x, 131072
			}
			reads := 500 + 100*float64(minute%day)/day
			work := drift.Work{Known: true, Reads: reads, Writes: 20, ReadBytes: reads * size, WrittenBytes: 20 * size}
			n.Round(id, "read-4k", drift.Round{Time: now, Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}, Utilisation: reads * x, Work: work}, c)
			n.Traffic(id, judge.Sample{Time: now, Work: work, Utilisation: reads * x, Read: 2 * x, Write: x}, c)
		}
		n.Advance(now)
		now = now.Add(time.Minute)
	}
	v, _ := n.Verdict("d5")
	traffic := n.Tracker("d5", judge.Traffic).Explain(now)
	x := report.Explained{
		Time: now, Node: "storage-07", TargetID: "d5", Path: "/dev/nvme5n1", Device: "nvme5n1",
		Verdict: &v, Together: n.Together(), Beside: n.Beside("d5"),
		Probes:  []report.ProbeExplained{{Probe: "read-4k", Explanation: n.Tracker("d5", "read-4k").Explain(now)}},
		Traffic: &traffic,
	}
	var b strings.Builder
	require.NoError(t, report.Explain(&b, x))
	golden(t, "explain_beside.txt", b.String())

	for i := range x.Beside { // a reason that applies to all is shown once
		x.Beside[i] = record.Beside{Source: x.Beside[i].Source, Statistic: x.Beside[i].Statistic, Unjudged: "nobody is like it"}
	}
	b.Reset()
	require.NoError(t, report.Explain(&b, x))
	assert.Contains(t, b.String(), "\nbeside its peers: not judged: nobody is like it\n")
	assert.Equal(t, 1, strings.Count(b.String(), "nobody is like it"))
}
