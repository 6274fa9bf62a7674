package export_test

import (
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

func TestRegistryHasTheDevicesAndTheDaemonItself(t *testing.T) {
	s := recordtest.Snapshot()
	s.Controllers = append(s.Controllers, sataDrive())
	r, err := export.NewRegistry(func() record.Snapshot { return s }, observed(s), export.Build{})
	require.NoError(t, err)
	families, err := r.Gather()
	require.NoError(t, err)
	all, _ := exposition(t, families)
	for _, name := range names(t) {
		assert.Contains(t, all, name)
	}
	assert.Contains(t, all, "go_goroutines")
	assert.Contains(t, all, "process_resident_memory_bytes")
}

// A checking registry and the collector's own gathering tell the same; only the
// order of the series of a family is free.
func TestGatherIsWhatARegistryGathers(t *testing.T) {
	s := recordtest.Snapshot()
	s.Controllers = append(s.Controllers, sataDrive())
	s.Targets = append(s.Targets, s.Targets[0]) // twice
	latencies := observed(s)
	_, want := exposition(t, gather(t, s, latencies))
	families, err := collector(s, latencies).Gather()
	require.NoError(t, err)
	_, got := exposition(t, families)
	assert.ElementsMatch(t, strings.Split(want, "\n"), strings.Split(got, "\n"))
	for _, f := range gather(t, s, latencies) {
		i := slices.IndexFunc(families, func(own *dto.MetricFamily) bool { return own.GetName() == f.GetName() })
		require.GreaterOrEqual(t, i, 0, f.GetName())
		assert.Equal(t, f.GetUnit(), families[i].GetUnit(), f.GetName())
	}
}

// What is lent is what would be gathered, also in memory that held another scrape, and
// while somebody else has some.
func TestLentIsWhatIsGathered(t *testing.T) {
	small := recordtest.Snapshot()
	small.Targets = small.Targets[:1]
	large := recordtest.Snapshot()
	large.Controllers = append(large.Controllers, sataDrive())
	slices.Reverse(large.Targets) // so that nothing is where it was
	var s record.Snapshot
	latencies := observed(large)
	r, err := export.NewRegistry(func() record.Snapshot { return s }, latencies, export.Build{})
	require.NoError(t, err)

	type loan struct {
		families []*dto.MetricFamily
		want     string
		done     func()
	}
	lend := func(of record.Snapshot) loan {
		t.Helper()
		s = of
		_, want := exposition(t, gather(t, s, latencies))
		families, done, err := r.Lend()
		require.NoError(t, err)
		own := slices.DeleteFunc(families, func(f *dto.MetricFamily) bool { return !strings.HasPrefix(f.GetName(), "ssdprobe_") })
		return loan{families: own, want: withoutBuild(want), done: done}
	}
	for _, of := range []record.Snapshot{large, small, large, small} {
		first, second := lend(of), lend(small)
		for _, l := range []loan{first, second} {
			_, got := exposition(t, l.families)
			assert.ElementsMatch(t, strings.Split(l.want, "\n"), strings.Split(withoutBuild(got), "\n"))
			l.done()
		}
	}
}

// withoutBuild leaves out what tells the program's version.
func withoutBuild(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.HasPrefix(line, "ssdprobe_build_info{") })
	return strings.Join(lines, "\n")
}
