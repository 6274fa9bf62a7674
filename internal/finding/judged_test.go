package finding

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestWhatDrivesDidTogetherIsOneFinding(t *testing.T) {
	since := now().Add(-time.Hour)
	s := record.Snapshot{Together: []record.Together{
		{
			Scope: record.ScopeHost, Source: "read-4k", Statistic: record.LatencyP50, Ratio: record.Ratio{Ratio: 1.2, Lower: 1.18, Upper: 1.23},
			Since: since, Drives: []string{"a", "b", "c"}, Of: 3, Attribution: []record.Change{{Condition: "kernel", From: "6.1", To: "6.8"}},
		},
		{Scope: record.ScopeHost, Source: "read-4k", Statistic: record.IOPS, Ratio: record.Ratio{Ratio: 1.2}, Since: since, Drives: []string{"a", "b", "c"}, Of: 3},
	}}
	all := Of(s)
	require.Len(t, all, 1, "its statistics say the same")
	assert.Equal(t, HostSlower, all[0].Code)
	assert.Equal(t, since, all[0].Since)
	assert.Equal(t, "the host is slower: its drives got slower together: 3 of 3 drives, read-4k p50 20 % slower (18 to 23 %), with kernel 6.1 → 6.8", all[0].String())

	s.Together[0].Scope, s.Together[0].Drives = record.ScopeBatch, []string{"a", "b"}
	assert.Equal(t, BatchSlower, Of(s)[0].Code)
}

func TestVerdictsBeyondTheProbes(t *testing.T) {
	target := record.TargetStatus{ID: "a", Verdict: &record.Judgement{
		Verdict: record.Degraded, Ratio: record.Ratio{Ratio: 1.4}, Witnesses: []string{"traffic"}, Peers: 11, Since: now(),
	}}
	assert.Empty(t, ofVerdict(target, now()), "it is slower than its peers, not than before")

	target.Verdict.Witnesses, target.Verdict.ThanBefore = []string{"probes", "traffic"}, []string{"probes", "traffic"}
	all := ofVerdict(target, now())
	require.Len(t, all, 1)
	assert.Equal(t, TrafficSlower, all[0].Code)
	assert.Equal(t, now(), all[0].Since)
	target.Verdict.Verdict = record.Watch
	assert.Empty(t, ofVerdict(target, now()), "a suspicion is no finding")
}
