package finding

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestFindingsOfAScheduledRun(t *testing.T) {
	figure := func(v record.Verdict) []record.ComparedFigure { return []record.ComparedFigure{{Verdict: v}} }
	slower := record.RunStatus{
		Suite: "quick", Next: now().Add(time.Hour), Last: &record.RunReport{Finished: now().Add(-time.Hour)},
		Comparison: &record.Comparison{Runs: 6, Verdict: record.Slower, Loads: []record.ComparedLoad{{Figures: figure(record.Slower)}, {Figures: figure(record.Same)}}},
	}
	overdue := record.RunStatus{Suite: "quick", Next: now().Add(-3 * 24 * time.Hour), Problem: "the device was busy"}
	s := snapshot(sound())
	s.Targets[0].Runs = []record.RunStatus{slower, overdue}
	all := Of(s)
	require.Equal(t, []string{RunSlower, RunOverdue}, codes(all))
	assert.Equal(t, "the last run of quick was slower than the 6 runs before it: 1 of 2 loads", all[0].String())
	assert.Equal(t, now().Add(-time.Hour), all[0].Since)
	assert.Equal(t, "the run of quick was not completed: the device was busy", all[1].String())
	assert.Equal(t, overdue.Next, all[1].Since)

	faster, running, soon, unplanned := slower, overdue, overdue, slower
	faster.Comparison = &record.Comparison{Verdict: record.Faster}
	running.Since = now().Add(-time.Minute)
	soon.Next = now().Add(-47 * time.Hour)
	unplanned.Next = time.Time{}
	s.Targets[0].Runs = []record.RunStatus{faster, running, soon, unplanned}
	assert.Empty(t, Of(s))
}

// The alert is in jsonnet, so it cannot share the limit.
func TestARunIsOverdueWhenTheAlertSaysSo(t *testing.T) {
	config, err := os.ReadFile("../../deploy/mixin/config.libsonnet")
	require.NoError(t, err)
	assert.Contains(t, string(config), fmt.Sprintf("\n    runOverdueDays: %v,\n", overdueAfter.Hours()/24))
}
