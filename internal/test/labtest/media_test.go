package labtest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// last returns the last round of a probe, whatever its outcome.
func (d daemon) last(t *testing.T, id, probe string) *record.Measurement {
	t.Helper()
	code, body := d.get(t, "api/v1/devices/"+id)
	require.Equal(t, http.StatusOK, code, body)
	var target record.TargetStatus
	require.NoError(t, json.Unmarshal([]byte(body), &target), body)
	for _, p := range target.Probes {
		if p.Probe.Name == probe {
			return p.Last
		}
	}
	require.Fail(t, "no such probe", probe)
	return nil
}

// testMediaError makes one sector of a small drive unreadable, so that one of every few rounds meets it.
func testMediaError(t *testing.T, m *lab.Machine) {
	const ios = 1000
	_, err := m.Plug(bounded(t), spare)
	require.NoError(t, err)
	id := identity(t, m, spare)
	d := startDaemon(t, m, configuration(t, m, 0, watching(id)+
		fmt.Sprintf("probes: [{name: read-4k, interval: 1s, ios: %d, warmup_ios: 0, timeout: 20s}]\n", ios)))
	counted := int64(ios - ios/16) // the other rounds look for written blocks
	eventually(t, "enough written blocks are known", func() bool {
		m := d.last(t, id, "read-4k")
		return m != nil && m.Outcome == record.OutcomeOK && m.Latency.Count() == counted
	})
	require.NoError(t, m.SetFaults(bounded(t), spare, lab.Fault{Sector: 8*1024 + 3})) // within a block of 4 KiB
	var met *record.Measurement
	eventually(t, "a round meets the sector", func() bool {
		met = d.last(t, id, "read-4k")
		return met.Outcome == record.OutcomeError && met.Errors["ENODATA"] == 1 // a round may meet it twice
	})
	assert.Equal(t, map[string]int64{"ENODATA": 1}, met.Errors)
	assert.Contains(t, met.Reason, "ENODATA")
	assert.GreaterOrEqual(t, met.Latency.Count(), counted-1, "all other I/Os stand")
	assert.LessOrEqual(t, met.Latency.Count(), counted)
	now := d.scrape(t)
	assert.Positive(t, now.must(t, "ssdprobe_probe_errors_total", labels{"id": id, "probe": "read-4k", "errno": "ENODATA"}))
	assert.Len(t, now["ssdprobe_probe_errors_total"].GetMetric(), 1, "no other errno")
	d.awaitLog(t, "outcome=error")

	require.NoError(t, m.SetFaults(bounded(t), spare))
	d.awaitRounds(t, id, "ok", 3)
	d.stop(t)
}

var extent = regexp.MustCompile(`(?m)^ *\d+: +(\d+)\.\. *\d+: +(\d+)\.\. *\d+: +(\d+):`)

// testWriteError makes blocks of a probe file unwritable: its reads continue, and its writes are counted as failed.
func testWriteError(t *testing.T, m *lab.Machine) {
	const mounted = "/mnt"
	id, node := "file:"+mounted, disk(t, m, roomy).Node()
	output(t, m, "mkfs.ext4", "-q", "-F", "-O", "^has_journal", node)
	output(t, m, "mkdir", "-p", mounted)
	output(t, m, "mount", "-t", "ext4", node, mounted)
	t.Cleanup(func() {
		_, err := m.Output(afterwards(t), "umount", "-l", mounted)
		assert.NoError(t, err)
	})
	d := startDaemon(t, m, configuration(t, m, 0, `
devices: {enabled: false}
files: [{path: /mnt, size: 16MiB}]
probes:
  - {name: read-4k, interval: 1s, ios: 32}
  - {name: durable-write-4k, direction: write, pattern: sequential, datasync: true, interval: 1s, ios: 64, targets: files}
`))
	rounds := func(probe, outcome string) float64 {
		return d.scrape(t).must(t, "ssdprobe_probe_rounds_total", labels{"id": id, "probe": probe, "outcome": outcome})
	}
	more := func(probe, outcome string, n float64) {
		t.Helper()
		before := rounds(probe, outcome)
		eventually(t, fmt.Sprintf("%v more %s of %s", n, outcome, probe), func() bool { return rounds(probe, outcome) >= before+n })
	}
	eventually(t, "the file is there", func() bool { return d.scrape(t).count(labels{"id": id}) > 0 })
	more("durable-write-4k", "ok", 1)

	// One in 16 blocks of the file, so that every round meets some.
	var faults []lab.Fault
	list := output(t, m, "filefrag", "-v", "-b4096", mounted+"/ssdprobe.dat")
	for _, found := range extent.FindAllStringSubmatch(list, -1) {
		start, err := strconv.ParseInt(found[2], 10, 64)
		require.NoError(t, err)
		blocks, err := strconv.ParseInt(found[3], 10, 64)
		require.NoError(t, err)
		for block := start + 8; block < start+blocks; block += 16 {
			faults = append(faults, lab.Fault{Sector: block * 8, Write: true})
		}
	}
	require.Greater(t, len(faults), 100, list)
	require.NoError(t, m.SetFaults(bounded(t), roomy, faults...))
	more("durable-write-4k", "error", 2)
	more("read-4k", "ok", 2)
	now := d.scrape(t)
	failed := 0.0
	for _, s := range now["ssdprobe_probe_errors_total"].GetMetric() {
		assert.True(t, labels{"id": id, "probe": "durable-write-4k"}.match(s), "%v", s)
		failed += s.GetCounter().GetValue()
	}
	assert.Positive(t, failed)
	t.Logf("errors: %v", now["ssdprobe_probe_errors_total"])

	require.NoError(t, m.SetFaults(bounded(t), roomy))
	more("durable-write-4k", "ok", 2)
	d.stop(t)
}

// testUnwritten tests a drive that was never written: it is not measured, and that is reported.
func testUnwritten(t *testing.T, m *lab.Machine) {
	id := identity(t, m, sparse)
	config := configuration(t, m, 0, everySecond+watching(id))
	d := startDaemon(t, m, config)
	d.awaitRounds(t, id, "unmapped", 3)
	now := d.scrape(t)
	assert.Zero(t, now.must(t, "ssdprobe_device_written_ratio", labels{"id": id}))
	assert.Zero(t, now.must(t, "ssdprobe_device_pool_blocks", labels{"id": id}))
	for _, s := range now["ssdprobe_probe_rounds_total"].GetMetric() {
		if !(labels{"outcome": "unmapped"}).match(s) {
			assert.Zero(t, s.GetCounter().GetValue(), "%v", s)
		}
	}
	assert.NotContains(t, now, "ssdprobe_probe_latency_percentile_seconds")
	assert.NotContains(t, now, "ssdprobe_baseline_value")
	assert.NotContains(t, now, "ssdprobe_probe_last_success_timestamp_seconds")
	for _, s := range now["ssdprobe_probe_latency_seconds"].GetMetric() {
		assert.Zero(t, s.GetHistogram().GetSampleCount())
	}
	assert.Contains(t, d.awaitLog(t, "outcome=unmapped"), "probe a file on the device instead")
	d.stop(t)

	run := ssdprobe(t, m, nil, "run", "--rounds", "1", "--target", disk(t, m, sparse).Node(), "--config", config)
	assert.Equal(t, 1, run.ExitCode)
	assert.Contains(t, run.Stderr, "nothing could be measured")
	assert.Contains(t, run.Stderr, "probe a file on the device instead")
}

// testHalfWritten tests a drive of which half is written: enough written blocks are found, and
// nothing else is measured.
func testHalfWritten(t *testing.T, m *lab.Machine) {
	id := identity(t, m, half)
	of := labels{"id": id}
	const enough = 32 << 20 / 4096 / 4.0 // a quarter of a drive as small as this
	d := startDaemon(t, m, configuration(t, m, 0, watching(id)+"probes: [{name: read-4k, interval: 1s, ios: 1024}]\n"))
	small := of.with("code", record.WarnPoolSmall)
	seenSmall := 0
	eventually(t, "enough written blocks are known", func() bool {
		now := d.scrape(t)
		seenSmall += now.count(small)
		blocks, _ := now.value(t, "ssdprobe_device_pool_blocks", of)
		return blocks >= enough
	})
	assert.Positive(t, seenSmall, "that they are not enough is said until then")
	unmapped := func() float64 {
		return d.scrape(t).must(t, "ssdprobe_probe_rounds_total", of.with("outcome", "unmapped"))
	}
	before := unmapped() // from when too few blocks were known even for one round
	d.awaitRounds(t, id, "ok", 3)
	now := d.scrape(t)
	assert.Zero(t, now.count(small))
	assert.Equal(t, before, unmapped())
	assert.InDelta(t, 0.5, now.must(t, "ssdprobe_device_written_ratio", of), 0.05)
	assert.LessOrEqual(t, now.must(t, "ssdprobe_device_pool_blocks", of), 2*enough, "no more than were written")
	last := d.last(t, id, "read-4k")
	assert.Equal(t, record.OutcomeOK, last.Outcome, last.Reason)
	assert.Zero(t, last.UnwrittenBlocks)
	d.stop(t)
}
