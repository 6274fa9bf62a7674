package suite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// A plan cannot write by accident, and never to a raw device without a permission.
func TestStepCheck(t *testing.T) {
	job := func(rw fio.RW) fio.Job {
		return fio.Job{Sections: []fio.Section{{Name: "a", Options: fio.Options{RW: rw}}}}
	}
	file, raw := Target{Path: "/srv/data"}, Target{Path: "/dev/sdx", Raw: true, Device: record.Device{Number: "8:0"}}
	foreign := Target{Path: "/srv/data", ReadOnly: true}
	const what = "4 KiB random writes"
	require.NoError(t, Step{Job: job(fio.RandRead), Targets: []Target{raw}}.check())
	require.NoError(t, Step{Job: job(fio.RandWrite), Targets: []Target{file}, Writes: what}.check())
	require.EqualError(t, Step{Job: job(fio.RandWrite), Targets: []Target{file}}.check(),
		`it should only read, but its job modifies data: section "a": rw=randwrite`)
	require.EqualError(t, Step{Job: job(fio.RandWrite), Targets: []Target{file, raw}, Writes: what}.check(),
		"it would overwrite the raw device /dev/sdx, but its serial number was not given to permit that")
	require.EqualError(t, Step{Job: job(fio.RandWrite), Targets: []Target{foreign}, Writes: what}.check(),
		"it would overwrite the file /srv/data, which ssdprobe did not make: name a directory instead")
}

func TestProgress(t *testing.T) {
	steps := []Step{{Name: "a", Expected: 10 * time.Second}, {Name: "b", Plan: "B", Expected: 30 * time.Second}}
	assert.Equal(t, Progress{Step: "b", Plan: "B", Number: 2, Steps: 2, Done: 0.5, Remaining: 20 * time.Second}, progress(steps, 1, 10*time.Second))
	assert.Equal(t, Progress{Step: "a", Number: 1, Steps: 2, Done: 0.25, Remaining: 30 * time.Second}, progress(steps, 0, 11*time.Second), "a step that takes longer holds the run up")
	assert.Equal(t, Progress{Step: "a", Number: 1, Steps: 1}, progress([]Step{{Name: "a"}}, 0, time.Second))
}
