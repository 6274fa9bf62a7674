package compare_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// measuredPair holds two successive runs of quick (4 s a step) on a loop device or on a
// file of a disk. The host had two CPUs, and others used its disk all the while.
type measuredPair struct {
	Pair   string `json:"pair"`
	Target string `json:"target"` // loop or disk
	// Held says that blkio.throttle on the underlying disk held the second run to half of
	// the IOPS of the first, step by step. ssdprobe cannot see this limit.
	Held bool `json:"held"`
	// Loaded says that fio read the same target during the second run.
	Loaded        bool `json:"loaded"`
	Before, After []measuredStep
	Want          record.Verdict `json:"want"`
}

type measuredStep struct {
	Step        string        `json:"step"`
	IOPS        float64       `json:"iops"`
	P50         time.Duration `json:"p50_ns"`
	P99         time.Duration `json:"p99_ns"`
	IOs         int64         `json:"ios"`
	OthersRatio float64       `json:"others_ratio"`
	Warnings    []string      `json:"warnings"`
}

func measuredRun(steps []measuredStep) record.RunReport {
	r := record.RunReport{Suite: "quick"}
	for _, m := range steps {
		tail := m.IOs / 50
		s := record.Step{Name: m.Step, OthersRatio: m.OthersRatio, Read: &record.Result{
			IOs: m.IOs, IOPS: m.IOPS, Latency: record.Histogram{{Latency: m.P50, Count: m.IOs - tail}, {Latency: m.P99, Count: tail}},
		}}
		for _, code := range m.Warnings {
			s.Warnings = append(s.Warnings, record.Warning{Code: code})
		}
		r.Steps = append(r.Steps, s)
	}
	return r
}

// An unchanged drive is called slower in at most one run of twenty, and a drive held to
// half its speed in every run.
func TestMeasuredPairs(t *testing.T) {
	text, err := os.ReadFile("testdata/pairs.json")
	require.NoError(t, err)
	var pairs []measuredPair
	require.NoError(t, json.Unmarshal(text, &pairs))
	unchanged, slower := map[string]int{}, map[string]int{}
	held := 0
	for _, p := range pairs {
		got := compare.Pair(measuredRun(p.Before), measuredRun(p.After), 0.2)
		assert.Equal(t, p.Want, got.Verdict, "%s, held %t: %s", p.Pair, p.Held, got.Reason)
		switch {
		case p.Held:
			held++
			assert.Equal(t, record.Slower, got.Verdict, p.Pair)
		default:
			unchanged[p.Target]++
			if got.Verdict == record.Slower {
				slower[p.Target]++
			}
		}
	}
	assert.Equal(t, 20, held)
	for target, n := range unchanged {
		assert.GreaterOrEqual(t, n, 17, target)
		assert.LessOrEqual(t, slower[target], 1, target)
	}
}
