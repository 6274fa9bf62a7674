package finding

import (
	"slices"
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
	assert.Equal(t, "the host is slower: its drives got slower together: 3 of 3 drives, read-4k p50 1.20× (1.18× to 1.23×), changed with it: kernel 6.1 → 6.8", all[0].String())

	s.Together = append(s.Together, record.Together{
		Scope: record.ScopeBatch, Source: "traffic", Statistic: record.OthersReadLatency, Ratio: record.Ratio{Ratio: 1.3}, Since: since.Add(20 * time.Minute),
		Drives: []string{"a", "b"}, Of: 3, Attribution: s.Together[0].Attribution,
	})
	all = Of(s)
	require.Len(t, all, 1, "the traffic saw the same event")
	assert.Equal(t, HostSlower, all[0].Code)
	assert.Equal(t, since, all[0].Since)
	assert.Equal(t, []string{"3 of 3 drives", "read-4k p50 1.20× (1.18× to 1.23×)", "traffic reads of others 1.30×", "changed with it: kernel 6.1 → 6.8"}, all[0].Evidence)

	s.Together[0].Unjudged = &record.WhyUnjudged{Reason: record.ReasonBusy, Detail: "utilisation 97 %"}
	assert.Equal(t, "read-4k p50 1.20× (1.18× to 1.23×) when last compared (rounds were refused: utilisation 97 %)", Of(s)[0].Evidence[1])
	s.Together[2].Since = since.Add(2 * time.Hour)
	all = Of(s)
	require.Len(t, all, 2, "another event")
	assert.Equal(t, BatchSlower, all[1].Code)
	assert.Equal(t, "2 of 3 drives: a, b", all[1].Evidence[0])
}

// Two batches may get slower within an hour, as hard disks and flash do for reasons of their own.
func TestBatchesWithoutACommonDriveAreTwoFindings(t *testing.T) {
	batch := func(source string, after time.Duration, drives ...string) record.Together {
		return record.Together{Scope: record.ScopeBatch, Source: source, Statistic: record.LatencyP50, Since: now().Add(after), Drives: drives, Of: 8}
	}
	all := ofTogether([]record.Together{
		batch("read-4k of hard disks", 0, "sda", "sdb", "sdc"), batch("read-4k", 10*time.Minute, "nvme0n1", "nvme1n1"), batch("traffic", 20*time.Minute, "nvme1n1", "nvme2n1"),
	}, nil)
	require.Len(t, all, 2)
	assert.Equal(t, "3 of 8 drives: sda, sdb, sdc", all[0].Evidence[0])
	assert.Equal(t, "2 of 8 drives: nvme0n1, nvme1n1", all[1].Evidence[0])
	assert.Len(t, all[1].Evidence, 3, "both sources saw it")

	onDrives := []record.TargetStatus{{ID: "file:/srv", Device: record.Device{ID: "nvme1n1"}}, {ID: "file:/var", Device: record.Device{ID: "nvme0n1"}}}
	assert.Len(t, ofTogether([]record.Together{batch("read-4k", 0, "nvme0n1", "nvme1n1"), batch("durable-write-4k", 0, "file:/srv", "file:/var")}, onDrives), 1, "files on these drives")
}

func TestABatchHasTheNamesOfItsDrives(t *testing.T) {
	targets := []record.TargetStatus{{ID: "eui.1", Device: record.Device{Name: "nvme3n1"}}}
	all := ofTogether([]record.Together{{Scope: record.ScopeBatch, Source: "read-4k", Statistic: record.LatencyP50, Drives: []string{"eui.2", "eui.1"}, Of: 4}}, targets)
	require.Len(t, all, 1)
	assert.Equal(t, "2 of 4 drives: nvme3n1, eui.2", all[0].Evidence[0])

	file := record.TargetStatus{ID: "file:/srv", Path: "/srv", File: true, Device: record.Device{Name: "nvme3n1"}}
	assert.Equal(t, []string{"nvme3n1", "/srv on nvme3n1"}, namesOf([]string{"file:/srv", "eui.1"}, append(targets, file)), "not twice the same")
	file.Device.Name = ""
	assert.Equal(t, []string{"/srv"}, namesOf([]string{"file:/srv"}, []record.TargetStatus{file}), "on a filesystem in memory")
}

func TestABatchNamesWhatItsDrivesHaveInCommon(t *testing.T) {
	drive := func(id, model, firmware string) record.TargetStatus {
		return record.TargetStatus{ID: id, Device: record.Device{Model: model, Firmware: firmware}}
	}
	for _, c := range []struct {
		want    string
		targets []record.TargetStatus
	}{
		{"all are X with firmware B", []record.TargetStatus{drive("a", "X", "B"), drive("b", "X", "B"), drive("c", "X", "A"), drive("d", "Y", "B")}},
		{"all are X", []record.TargetStatus{drive("a", "X", "B"), drive("b", "X", "B"), drive("c", "X", "B")}},
		{"all are X", []record.TargetStatus{drive("a", "X", "B"), drive("b", "X", "A"), drive("c", "X", "C")}},
		{"all are X", []record.TargetStatus{drive("a", "X", "B"), drive("b", "X", "B"), drive("c", "Y", "B")}},
		{"", []record.TargetStatus{drive("a", "X", "B"), drive("b", "Y", "B"), drive("c", "X", "A")}},
		{"", []record.TargetStatus{drive("a", "", ""), drive("b", "", "")}},
		{"", []record.TargetStatus{drive("a", "", ""), drive("b", "X", "B")}},
		{"all are X", []record.TargetStatus{drive("a", "X", ""), drive("b", "X", ""), drive("c", "X", "A")}},
	} {
		assert.Equal(t, c.want, inCommon([]string{"a", "b"}, c.targets), "%+v", c.targets)
	}
	all := ofTogether([]record.Together{{Scope: record.ScopeBatch, Source: "read-4k", Statistic: record.LatencyP50, Drives: []string{"a"}, Of: 4}}, []record.TargetStatus{drive("a", "X", "B")})
	assert.Equal(t, "all are X", all[0].Evidence[1])
}

func TestVerdictsBeyondTheProbes(t *testing.T) {
	target := record.TargetStatus{ID: "a", Verdict: &record.Judgement{
		Verdict: record.Degraded, Ratio: record.Ratio{Ratio: 1.4}, Source: "traffic", Witnesses: []string{"traffic"}, Peers: 11, Since: now(),
	}}
	assert.Empty(t, ofVerdict(target, now()), "it is slower than its peers, not than before")

	target.Verdict.Witnesses, target.Verdict.ThanBefore = []string{"probes", "traffic"}, []string{"probes", "traffic"}
	all := ofVerdict(target, now())
	require.Len(t, all, 1)
	assert.Equal(t, TrafficSlower, all[0].Code)
	assert.Equal(t, now(), all[0].Since)
	assert.Equal(t, "the drive's own traffic is slower than before: 1.40×", all[0].String())
	target.Verdict.Source = "read-4k"
	assert.Equal(t, "the drive's own traffic is slower than before", ofVerdict(target, now())[0].String(), "the ratio is of a probe")
	target.Verdict.Unjudged = &record.WhyUnjudged{Reason: record.ReasonBusy}
	assert.Equal(t, "the drive's own traffic is slower than before", ofVerdict(target, now())[0].String(), "only the rounds of the probe are refused")
	target.Verdict.Source = "traffic"
	assert.Equal(t, "the drive's own traffic was slower than before when it was last compared: 1.40×, rounds were refused", ofVerdict(target, now())[0].String())
	target.Verdict.Unjudged = nil
	target.Verdict.Ratio, target.Verdict.Source = record.Ratio{}, "traffic"
	assert.Equal(t, "slow times of the drive's own traffic have become common; the others are as before", ofVerdict(target, now())[0].String())
	target.Verdict.Verdict = record.Watch
	assert.Empty(t, ofVerdict(target, now()), "a suspicion is no finding")
}

// The traffic has no finding of a probe that would name its cause.
func TestWhatChangedWithTheTrafficIsNamed(t *testing.T) {
	target := record.TargetStatus{ID: "a", Verdict: &record.Judgement{
		Verdict: record.Degraded, Ratio: record.Ratio{Ratio: 1.4}, Source: "traffic", Witnesses: []string{"traffic"}, ThanBefore: []string{"traffic"},
		Attribution: []record.Change{{Condition: "firmware", From: "A", To: "B"}, {Condition: "governor", From: "performance", To: "powersave"}},
	}}
	const told = "the drive's own traffic is slower than before"
	all := ofVerdict(target, now())
	require.Len(t, all, 1)
	assert.Equal(t, told+": 1.40×, changed with it: firmware A → B and governor performance → powersave", all[0].String())
	target.Verdict.Source = "read-4k"
	assert.Equal(t, told, ofVerdict(target, now())[0].String(), "that is of the probe, whose own finding names it")
}

// A drive that failed I/Os and got slow later is not slow since the first error, and does not fail I/Os since it got slow.
func TestEachTroubleHasAnOnsetOfItsOwn(t *testing.T) {
	failed, stalled, slow := now().Add(-50*time.Minute), now().Add(-40*time.Minute), now().Add(-20*time.Minute)
	s := record.Snapshot{Time: now(), Targets: []record.TargetStatus{{ID: "a", Verdict: &record.Judgement{
		Verdict: record.Severe, Since: failed, Witnesses: []string{"probes", "traffic", "errors", "stalls"}, ThanBefore: []string{"probes", "traffic"},
		Onsets: map[string]time.Time{"errors": failed, "stalls": stalled, "traffic": slow, "probes": slow.Add(-time.Minute)},
	}}}}
	got := map[string]time.Time{}
	for _, f := range Of(s) {
		got[f.Code] = f.Since
	}
	assert.Equal(t, map[string]time.Time{IOErrors: failed, Stalled: stalled, TrafficSlower: slow}, got)
}

func TestAVerdictThatIsHeldIsAFinding(t *testing.T) {
	target := record.TargetStatus{ID: "a", Verdict: &record.Judgement{Verdict: record.Severe, Held: true, Since: now()}}
	all := ofVerdict(target, now())
	require.Len(t, all, 1)
	assert.Equal(t, Held, all[0].Code)
	assert.Equal(t, "slow or failing at times: it is better now, but the trouble came back within a week: verdict severe", all[0].String())
	target.Verdict.Unjudged = &record.WhyUnjudged{Reason: record.ReasonNoRounds}
	assert.Equal(t, "slow or failing at times: it is not judged now, and the trouble came back within a week: verdict severe, there was no round",
		ofVerdict(target, now())[0].String(), "nobody knows whether it is better")
}

// How much slower a drive is, is judged in one place only: the finding is as severe as
// the verdict.
func TestWhatMakesADriveSevereIsCritical(t *testing.T) {
	for verdict, want := range map[record.DriveVerdict]Severity{record.Severe: Critical, record.Degraded: Warning, record.Watch: Warning} {
		s := record.Snapshot{Time: now(), Targets: []record.TargetStatus{{
			ID: "a", Path: "/dev/nvme0n1", Verdict: &record.Judgement{Verdict: verdict, ThanBefore: []string{"probes", "traffic"}},
			Probes: []record.ProbeStatus{{Drift: []record.Drift{{Statistic: record.LatencyP50, State: record.Regressed, Ratio: 2}}}},
		}}}
		found := 0
		for _, f := range Of(s) {
			if f.Code == Regressed || f.Code == TrafficSlower && verdict != record.Watch {
				assert.Equal(t, want, f.Severity, "%s, %s", verdict, f.Code)
				found++
			}
		}
		assert.Positive(t, found, verdict)
	}
}

// Errors and stalls count for an hour. What was seen before a restart has no finding of its own.
func TestErrorsAndStallsThatMakeADriveSevereAreCritical(t *testing.T) {
	verdict := &record.Judgement{Verdict: record.Severe, Witnesses: []string{"errors", "stalls"}, Since: now().Add(-time.Minute)}
	failed := record.ProbeStatus{Errors: map[string]uint64{"EIO": 7}, Last: &record.Measurement{Outcome: record.OutcomeOK, Start: now()}}
	for what, probes := range map[string][]record.ProbeStatus{"they are over": {failed}, "after a restart": nil} {
		seen := map[string]Severity{}
		for _, f := range Of(record.Snapshot{Time: now(), Targets: []record.TargetStatus{{ID: "a", Path: "/dev/nvme0n1", Verdict: verdict, Probes: probes}}}) {
			assert.NotContains(t, seen, f.Code, "each once")
			seen[f.Code] = f.Severity
		}
		assert.Equal(t, Critical, seen[IOErrors], what)
		assert.Equal(t, Critical, seen[Stalled], what)
	}
	verdict.Witnesses = []string{"probes"}
	for _, f := range Of(record.Snapshot{Time: now(), Targets: []record.TargetStatus{{ID: "a", Path: "/dev/nvme0n1", Verdict: verdict, Probes: []record.ProbeStatus{failed}}}}) {
		assert.False(t, f.Code == IOErrors && f.Severity == Critical, "the drive is severe for another reason")
		assert.NotEqual(t, Stalled, f.Code)
	}
}

// Reads fail since the last good round, and not since the last one.
func TestSinceWhenIOsFail(t *testing.T) {
	good := now().Add(-10 * time.Minute)
	p := record.ProbeStatus{
		Errors: map[string]uint64{"EIO": 7}, LastSuccess: good, LastError: now(),
		Last: &record.Measurement{Outcome: record.OutcomeError, Start: now(), Errors: map[string]int64{"EIO": 1}},
	}
	all := Of(record.Snapshot{Time: now(), Targets: []record.TargetStatus{{ID: "a", Probes: []record.ProbeStatus{p}}}})
	i := slices.IndexFunc(all, func(f Finding) bool { return f.Code == IOErrors })
	require.GreaterOrEqual(t, i, 0)
	assert.Equal(t, Critical, all[i].Severity)
	assert.Equal(t, good, all[i].Since)
}
