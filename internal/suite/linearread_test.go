package suite_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// Each device in turn is read alone over its whole length, and then beside others.
func TestPlanOfLinearReadOnSeveralDevices(t *testing.T) {
	var targets []suite.Target
	for i := range 3 {
		one := serverDrive()
		one.Path = fmt.Sprintf("/dev/nvme%dn1", i)
		targets = append(targets, one)
	}
	s := find(t, "linear-read")
	steps, err := s.DryRun(set(t, s, "points=2", "beside=2"), targets...)
	require.NoError(t, err)
	var names []string
	for _, step := range steps {
		names = append(names, step.Name)
	}
	assert.Equal(t, []string{
		"drive-1-offset-1", "drive-1-offset-2", "drive-1-offset-1-beside-2", "drive-1-offset-2-beside-2",
		"drive-2-offset-1", "drive-2-offset-2", "drive-2-offset-1-beside-2", "drive-2-offset-2-beside-2",
		"drive-3-offset-1", "drive-3-offset-2", "drive-3-offset-1-beside-2", "drive-3-offset-2-beside-2",
	}, names)
	last := steps[len(steps)-1]
	assert.Equal(t, "1 MiB sequential read, depth 8, 2 GiB from 3 813 399 MiB on of /dev/nvme2n1, beside 2 others", last.Plan)
	assert.Equal(t, besideTwo, last.JobFile)

	steps, err = s.DryRun(set(t, s, "points=2", "beside=1", "beside-load=sequential"), targets...)
	require.NoError(t, err)
	assert.Contains(t, steps[len(steps)-1].JobFile, "filename=/dev/nvme0n1\nrw=read\n", "after the last comes the first")
	assert.NotContains(t, steps[len(steps)-1].JobFile, "/dev/nvme1n1", "no more than one beside")

	for setting, want := range map[string]string{
		"beside=3":    "beside: 3 others beside each, but only 3 targets in all",
		"points=3400": "points: 3400 offsets on 3 targets are 10200 steps; want at most 10000",
	} {
		_, err := s.Plan(set(t, s, setting), targets...)
		require.ErrorContains(t, err, want)
	}
}

// When the first job ends, fio ends the others.
const besideTwo = `[drive-3-offset-2-beside-2]
filename=/dev/nvme2n1
rw=read
ioengine=libaio
direct=1
thread=1
bs=1048576
size=2147483648
offset=3998638669824
iodepth=8
cpus_allowed=8
norandommap=1
lat_percentiles=1
allow_file_create=0
invalidate=0
randrepeat=0
new_group
exitall
exit_what=all

[drive-3-offset-2-beside-2-other-1]
filename=/dev/nvme0n1
rw=randread
ioengine=libaio
direct=1
thread=1
bs=1048576
size=4000786153472
offset=0
iodepth=8
time_based=1
runtime=2207s
cpus_allowed=9
norandommap=1
lat_percentiles=1
allow_file_create=0
invalidate=0
randrepeat=0
new_group

[drive-3-offset-2-beside-2-other-2]
filename=/dev/nvme1n1
rw=randread
ioengine=libaio
direct=1
thread=1
bs=1048576
size=4000786153472
offset=0
iodepth=8
time_based=1
runtime=2207s
cpus_allowed=10
norandommap=1
lat_percentiles=1
allow_file_create=0
invalidate=0
randrepeat=0
new_group
`

// The figures of a device beside others are those that fio reports for that device, and the others are loaded all the
// time.
func TestLinearReadOfSeveralDevicesReally(t *testing.T) {
	t.Parallel()
	const piece = 64 << 20 // long enough for the others to start, even on a busy host
	var targets []suite.Target
	for range 3 {
		loop := testenv.LoopDevice(t, 2*piece, testenv.Options{Random: true})
		d, err := device.Find(sysfs.FS{}, loop.Path)
		require.NoError(t, err)
		targets = append(targets, suite.Target{
			Path: loop.Path, ID: d.ID, Raw: true, SizeBytes: d.SizeBytes, Device: d, CPUs: device.CPUSet{CPUs: []int{0, 1}, Cores: 2},
		})
	}
	fio, dir := witness(t)
	s := find(t, "linear-read")
	r, err := suite.Execute(t.Context(), s, suite.Options{
		Fio: fio, Target: targets[0], More: targets[1:], Values: set(t, s, "points=2", "piece=64MiB", "depth=2", "beside=2"),
	})
	require.NoError(t, err)
	require.Len(t, r.Steps, 3*2*2)
	require.Len(t, r.Targets, 3)
	reads, _ := saidByFio(t, dir)
	for i, step := range r.Steps {
		require.NotNil(t, step.Read, step.Name)
		assert.Equal(t, int64(piece), step.Read.Bytes, step.Name)
		if len(step.Workload.Beside) == 0 {
			assert.Equal(t, reads[i].bytes, step.Read.Bytes, step.Name)
			continue
		}
		require.Len(t, step.Parts, 3, step.Name)
		assert.Equal(t, step.Read, step.Parts[0].Read, step.Name)
		var all int64
		for _, part := range step.Parts {
			require.NotNil(t, part.Read, "%s: %s", step.Name, part.Target)
			assert.Positive(t, part.Read.IOs, "%s: %s", step.Name, part.Target)
			all += part.Read.Bytes
		}
		assert.Equal(t, reads[i].bytes, all, step.Name)
	}
	require.NotNil(t, r.Analysis)
	require.Len(t, r.Analysis.Offsets, 6)
	for i, line := range r.Analysis.Offsets {
		assert.Equal(t, []any{targets[i/2].Path, 2 * (i % 2)}, []any{line.Target, line.Beside})
		require.Len(t, line.Points, 2)
		assert.Equal(t, []int64{0, piece}, []int64{line.Points[0].OffsetBytes, line.Points[1].OffsetBytes})
		if alone := r.Analysis.Offsets[i-i%2]; alone.Disregarded+line.Disregarded == 0 { // unless this host was busy
			assert.Equal(t, line.Beside > 0, line.AgainstAlone != nil)
		}
		assert.Equal(t, line.Beside > 0, line.OthersBytesPerSecond > 0)
	}
}
