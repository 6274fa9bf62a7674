package drifttest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
)

func TestTheSameSeedGivesTheSameFleet(t *testing.T) {
	for number := range 12 {
		f := drifttest.Fleet{Seed: 4, Days: 6, Interval: time.Hour}
		a, b := f.Node(number), f.Node(number)
		require.Equal(t, a.Drives, b.Drives)
		samples := collect(a)
		require.Equal(t, samples, collect(b))
		require.Equal(t, samples, collect(a), "a second time from the same scenario")
	}
}

func collect(s drifttest.Scenario) []drifttest.Sample {
	var list []drifttest.Sample
	for _, sample := range s.Samples {
		list = append(list, sample)
	}
	return list
}

func TestAQuarterOfTheFleetIsOnSmallNodes(t *testing.T) {
	small, all, host, episodes := 0, 0, 0, map[string]int{}
	for number := range 2000 {
		s := drifttest.Fleet{Seed: 1, Days: 60, Interval: time.Hour}.Node(number)
		n := s.Together()
		assert.LessOrEqual(t, n, 24)
		all += n
		if n <= 2 {
			small += n
		}
		host += len(s.Host)
		for _, d := range s.Drives {
			for _, e := range d.Episodes {
				episodes[e.Kind]++
				assert.Less(t, e.Onset, e.End)
			}
		}
	}
	assert.InDelta(t, 0.25, float64(small)/float64(all), 0.03)
	assert.Positive(t, host)
	assert.Subset(t, keys(episodes), []string{"step10", "step20", "step50", "double", "x5", "x10", "tail", "intermittent", "creep", "born", "spell", "batch"})
}

func keys(m map[string]int) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	return list
}

func TestASlowerDriveIsABusierOne(t *testing.T) {
	s := drifttest.Reacting{Utilisation: 0.6, Wave: 0.1, Slower: 4, Seed: 1, Days: 4}.Scenario()
	onset := s.Drives[0].Episodes[0].Onset
	var rounds, refused [2]int
	for _, sample := range s.Samples {
		after := 0
		if sample.Time.Sub(drifttest.Start()) >= onset {
			after = 1
		}
		rounds[after]++
		if sample.Refused() {
			refused[after]++
		}
	}
	assert.Zero(t, refused[0])
	assert.Greater(t, refused[1], rounds[1]*9/10)
}

func TestAHostSlowsAllOfItsDrives(t *testing.T) {
	s := drifttest.Node{Kind: "host", Noise: "calm", Seed: 1, Drives: 4, Days: 1}.Scenario()
	require.Len(t, s.Host, 1)
	var sums [2][4]float64
	var counts [2]float64
	for i, sample := range s.Samples {
		after := 0
		if sample.Time.Sub(drifttest.Start()) >= s.Host[0].Onset {
			after = 1
		}
		sums[after][i] += sample.Values[0]
		counts[after] += 0.25
	}
	for i := range 4 {
		assert.InDelta(t, 1.2, sums[1][i]/counts[1]/(sums[0][i]/counts[0]), 0.01)
	}
}

func TestWhatChangedBefore(t *testing.T) {
	s := drifttest.Scenario{Changes: []drifttest.Change{{At: time.Hour, Drive: 1, What: "firmware"}, {At: 2 * time.Hour, Drive: -1, What: "restart"}}}
	assert.Equal(t, "firmware, restart", s.Before(1, 3*time.Hour, 6*time.Hour))
	assert.Equal(t, "restart", s.Before(0, 3*time.Hour, 6*time.Hour))
	assert.Empty(t, s.Before(1, 30*time.Minute, 6*time.Hour))
	assert.Empty(t, s.Before(1, 9*time.Hour, 6*time.Hour))
}

// Whoever asks for rounds out of turn sees the same node as everybody else.
func TestRoundsOutOfTurnChangeNothing(t *testing.T) {
	var alone, asking []drifttest.Sample
	fleet := drifttest.Fleet{Seed: 3, Days: 1}
	for _, sample := range fleet.Node(1).Samples {
		alone = append(alone, sample)
	}
	s := fleet.Node(1)
	rounds := 0
	for i, sample := range s.Samples {
		if values, ok := s.Again(i, sample.Time.Sub(drifttest.Start())); ok {
			rounds++
			require.InEpsilon(t, sample.Values[0], values[0], 0.6)
		}
		asking = append(asking, sample)
	}
	assert.Equal(t, alone, asking)
	assert.Positive(t, rounds)
}

// What the users of a drive feel is at least its fault, and more where the drive works: a slower drive is busier, too.
func TestWhatUsersFeel(t *testing.T) {
	idle, busy := 0, 0
	for number := range 60 {
		s := drifttest.Fleet{Seed: 2, Days: 8, Interval: 20 * time.Minute}.Node(number)
		for i, sample := range s.Samples {
			at := sample.Time.Sub(drifttest.Start()).Truncate(s.Interval)
			fault := 1.0
			varies := false
			for _, e := range s.Drives[i].Episodes {
				if at >= e.Onset && at < e.End {
					fault, varies = fault*e.SlowerAt(at), varies || e.Kind == "intermittent"
				}
			}
			switch {
			case varies:
			case fault == 1:
				require.InDelta(t, 1, sample.Felt, 1e-9)
			case sample.Utilisation == 0:
				idle++
				require.InDelta(t, fault, sample.Felt, 1e-9)
			default:
				require.GreaterOrEqual(t, sample.Felt, 0.999*fault) // equal on a drive that is too slow for its work anyway
				if sample.Felt > 1.05*fault {
					busy++
				}
			}
		}
	}
	assert.Positive(t, idle)
	assert.Positive(t, busy)
}

// The noise of a host is told apart from what happens to it.
func TestHostNoise(t *testing.T) {
	slow, kernels := 0, 0
	for number := range 60 {
		s := drifttest.Fleet{Seed: 2, Days: 30, Interval: time.Hour}.Node(number)
		if len(s.Noises) != 1 || s.Noise != "backup" {
			continue
		}
		for _, sample := range s.Samples {
			at := sample.Time.Sub(drifttest.Start()).Truncate(s.Interval)
			if at%(24*time.Hour) < 2*time.Hour {
				slow++
				require.InDelta(t, 1.5, sample.HostNoise, 0.3)
				continue
			}
			require.InDelta(t, 1, sample.HostNoise, 0)
			for _, e := range s.Host {
				if e.Slower != 1 && at >= e.Onset && at < e.End {
					kernels++
				}
			}
		}
	}
	assert.Positive(t, slow)
	assert.Positive(t, kernels)
}

// A round out of turn meets what the host does now, even if the regular round of its drive comes later in this minute.
func TestARoundOutOfTurnMeetsTheMoment(t *testing.T) {
	checked := 0
	for number := range 60 {
		s := drifttest.Fleet{Seed: 3, Days: 1.1, Interval: time.Minute, Calm: true}.Node(number)
		if s.Together() < 4 || s.Noise != "backup" {
			continue
		}
		again := map[int]float64{}
		for i, sample := range s.Samples {
			if sample.Time.Sub(drifttest.Start()).Truncate(s.Interval) != 24*time.Hour { // the backup begins
				continue
			}
			if i == 0 {
				for k, d := range s.Drives {
					values, ok := s.Again(k, 24*time.Hour)
					if earlier, also := s.Again(k, 24*time.Hour-time.Second); ok && also && d.Noise == "quiet" {
						again[k] = values[0]
						assert.Less(t, earlier[0], 0.85*values[0], "it had not begun a second before")
					}
				}
			}
			if own := sample.Values[0]; again[i] > 0 && own > 0 {
				checked++
				assert.InEpsilon(t, own, again[i], 0.2, "%s of node %d", s.Drives[i].ID, number)
			}
		}
	}
	assert.Greater(t, checked, 10)
}
