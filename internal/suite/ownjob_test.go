package suite_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/suite"
)

// These job files only read according to their rw, but do something else besides. VICTIM is another file. None of them
// reaches fio, neither on a file nor on a device.
func TestOwnJobMayNotReachBeyondTheTarget(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	require.NoError(t, os.WriteFile(victim, make([]byte, 64<<10), 0o600))
	before := content(t, victim)
	device, loop := raw(t) // with permission to write
	file := dataFile(t)
	onDevice := content(t, loop.Backing)
	for _, line := range []string{
		"exec_prerun=rm VICTIM", "exec_postrun=rm VICTIM", "exec_prerun = rm VICTIM", "ioengine=exec\nprogram=rm\narguments=VICTIM",
		"filename=VICTIM", `filename=TARGET:VICTIM`, "filename=${VICTIM}", "filename=", "filename=TARGET\nfilename=VICTIM",
		"directory=DIR", "opendir=DIR", "filename_format=VICTIM", "unique_filename=0", "nrfiles=2", "nr_files=2", "filesize=1g",
		"file_append=1", "fill_device=1", "fill_fs=1", "create_only=1", "lockfile=exclusive",
		"mem=mmap:VICTIM", "mem=mmapshared:VICTIM", "iomem=mmaphuge:VICTIM", "mem=${X}",
		"write_bw_log=VICTIM", "write_lat_log=VICTIM", "write_iops_log=VICTIM", "write_hist_log=VICTIM", "write_iolog=VICTIM",
		"read_iolog=VICTIM", "merge_blktrace_file=VICTIM", "replay_redirect=VICTIM", "verify=crc32c\nverify_dump=1",
		"verify_state_save=1", "verify_state_load=1", "buffer_pattern='VICTIM'", "verify_pattern='VICTIM'",
		"ioengine=filedelete", "ioengine=filecreate", "ioengine=e4defrag\ndonorname=VICTIM", "ioengine=external:VICTIM",
		"ioengine=net\nhostname=localhost", "ioengine=http", "ioengine=io_uring_cmd", "ioengine=sg", "ioengine=${X}",
		"lockmem=1g", "mem=shm", "iomem=mmap", "hugepage-size=1g", "fallocate=truncate", "pre_read=1", "write_hint=long", "dedupe_mode=working_set",
		"runtime=${VICTIM}", "numjobs=$ncpus", "iodepth=$ncpus*4", "cpus_allowed=$X", "rw=${X}", "description=$X", "thread=${X}",
		"unlink=1", "unlink_each_loop=1", "ioscheduler=none", "cgroup=x", "uid=1", "gid=1", "profile=act", "zone_reset_threshold=1",
		"allow_mounted_write=1", "trim_percentage=50", "an_option_of_tomorrow=1", "Exec_PreRun=rm VICTIM",
	} {
		for _, form := range []string{"[a]\nrw=read\n" + line, "[global]\n" + line + "\n[a]\nrw=read", "[a]\nrw=read\n[b]\n" + line} {
			for _, target := range []suite.Target{file, device} {
				text := strings.NewReplacer("VICTIM", victim, "TARGET", target.Path, "DIR", dir).Replace(form)
				s, err := suite.OwnJob("x", strings.NewReader(text))
				require.NoError(t, err, text)
				fio := script(t, "touch "+filepath.Join(dir, "fio-was-started"))
				_, err = suite.Execute(t.Context(), s, suite.Options{Fio: fio, Target: target})
				require.Error(t, err, text)
				require.Regexp(t, `not known to stay within the target|it reaches beyond the target|leave it out, |use one of sync|write the value itself`, err.Error(), text)
			}
		}
	}
	assert.NoFileExists(t, filepath.Join(dir, "fio-was-started"))
	assert.Equal(t, before, content(t, victim))
	assert.Equal(t, onDevice, content(t, loop.Backing))
}

// fio would fail on the first such I/O, with no more than "Invalid argument".
func TestOwnJobWithBlocksThatTheTargetDoesNotTake(t *testing.T) {
	device := suite.Target{Path: "/dev/sda", Raw: true, SizeBytes: 64 << 20, Device: record.Device{LogicalBlockBytes: 4096}}
	for job, says := range map[string]string{
		"direct=1\nbs=512": "blocks of 512 B: direct I/O on /dev/sda takes multiples of its logical blocks of 4 KiB",
		"direct=1\nbs=4k":  "",
		"direct=0\nbs=512": "",
		"bs=128m":          "blocks of 128 MiB do not fit into the 64 MiB that the job uses of /dev/sda",
		"bs=1m\nsize=64k":  "blocks of 1 MiB do not fit into the 64 KiB that the job uses of /dev/sda",
	} {
		s, err := suite.OwnJob("x", strings.NewReader("[a]\nrw=randread\n"+job))
		require.NoError(t, err)
		values, err := s.Set(nil)
		require.NoError(t, err)
		if _, err = s.Plan(values, device); says == "" {
			require.NoError(t, err, job)
		} else {
			require.ErrorContains(t, err, says, job)
		}
	}
}

// The page cache is faster than any link, and its figures are not the drive's. I/O that bypasses it is compared with
// the link, whatever else is in the file.
func TestThePageCacheIsNotBehindTheLink(t *testing.T) {
	const section = "rw=read\nbs=1m\nruntime=200ms\ntime_based\n"
	for job, impossible := range map[string][]bool{
		"[a]\n" + section:                {false},
		"[a]\n" + section + "direct=1\n": {true},
		"[warm]\n" + section + "[real]\nstonewall\ndirect=1\n" + section: {false, true},
		"[a]\n" + section + "[b]\ndirect=1\n" + section:                  {false},
	} {
		s, err := suite.OwnJob("x", strings.NewReader(job))
		require.NoError(t, err)
		target := dataFile(t)
		// 8 KB/s, which any disk exceeds.
		target.Device.Link = &record.PCIeLink{CurrentGTs: 8e-5, MaxGTs: 8, CurrentLanes: 1, MaxLanes: 4}
		got, err := suite.Execute(t.Context(), s, suite.Options{Fio: binary(t), Target: target})
		require.NoError(t, err)
		var found []bool
		for i := range got.Steps {
			found = append(found, got.Steps[i].Impossible())
		}
		assert.Equal(t, impossible, found, job)
		assert.Equal(t, !slices.Contains(impossible, false), got.Analysis == nil, "nothing is concluded from what cannot be true")
	}
}
