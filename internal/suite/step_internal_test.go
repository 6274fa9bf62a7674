package suite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// A plan cannot write by accident, nor to a raw device at all.
func TestStepCheck(t *testing.T) {
	job := func(rw fio.RW) fio.Job {
		return fio.Job{Sections: []fio.Section{{Name: "a", Options: fio.Options{RW: rw}}}}
	}
	file, raw := Target{Path: "/srv/data"}, Target{Path: "/dev/sdx", Raw: true}
	require.NoError(t, Step{Job: job(fio.RandRead)}.check(raw))
	require.NoError(t, Step{Job: job(fio.RandWrite), Writes: "4 KiB random writes"}.check(file))
	require.EqualError(t, Step{Job: job(fio.RandWrite)}.check(file), `it is planned to read, and its job modifies data: section "a": rw=randwrite`)
	require.EqualError(t, Step{Job: job(fio.RandWrite), Writes: "4 KiB random writes"}.check(raw), "it writes to the raw device /dev/sdx: 4 KiB random writes")
}

func TestProgress(t *testing.T) {
	steps := []Step{{Name: "a", Expected: 10 * time.Second}, {Name: "b", Plan: "B", Expected: 30 * time.Second}}
	assert.Equal(t, Progress{Step: "b", Plan: "B", Number: 2, Steps: 2, Done: 0.5, Remaining: 20 * time.Second}, progress(steps, 1, 10*time.Second))
	assert.Equal(t, Progress{Step: "a", Number: 1, Steps: 2, Done: 0.25, Remaining: 30 * time.Second}, progress(steps, 0, 11*time.Second), "a step that takes longer holds the run up")
	assert.Equal(t, Progress{Step: "a", Number: 1, Steps: 1}, progress([]Step{{Name: "a"}}, 0, time.Second))
}

func TestImpossible(t *testing.T) {
	gen3 := Target{Device: record.Device{Link: &record.PCIeLink{CurrentGTs: 8, MaxGTs: 8, CurrentLanes: 4, MaxLanes: 4}}}
	read := func(rate float64) record.Step { return record.Step{Read: &record.Result{BytesPerSecond: rate}} }
	assert.Empty(t, impossible(read(3.9e9), gen3))
	assert.Empty(t, impossible(read(4.5e9), Target{}))
	assert.Empty(t, impossible(record.Step{}, gen3))
	assert.Equal(t, []record.Warning{{
		Code: record.WarnUnmapped,
		Text: "4.5 GB/s is more than the PCIe link (8 GT/s x4) carries, 3.9 GB/s: most likely blocks that were never written were read; fill the drive first.",
	}}, impossible(read(4.5e9), gen3))
}
