package traffic

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// host is a simulated machine: a drive, 8:0, with a partition, and a volume, 253:0, on that partition.
type host struct {
	root         string
	drive, above uint64 // completed reads of each
	inFlight     int    // of each
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{root: t.TempDir()}
	for name, text := range map[string]string{
		"sys/devices/host3/sda/device/state": "running\n", "sys/class/scsi_host/host3/state": "running\n",
		"sys/devices/host3/sda/block/dev": "8:0\n", "sys/devices/host3/sda/block/mq/0/cpus": "",
		"sys/devices/host3/sda/block/sda1/dev": "8:1\n", "sys/devices/host3/sda/block/sda1/partition": "1\n",
		"sys/devices/dm-0/dev": "253:0\n", "sys/devices/dm-0/dm/suspended": "0\n",
		"sys/class/nvme/nvme0/state": "live\n",
	} {
		h.write(t, name, text)
	}
	for link, target := range map[string]string{
		"sys/dev/block/8:0": "../../devices/host3/sda/block", "sys/dev/block/8:1": "../../devices/host3/sda/block/sda1",
		"sys/dev/block/253:0": "../../devices/dm-0", "sys/devices/dm-0/slaves/sda1": "../../host3/sda/block/sda1",
		"sys/devices/host3/sda/block/device": "../device",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(h.root, filepath.Dir(link)), 0o700))
		require.NoError(t, os.Symlink(target, filepath.Join(h.root, link)))
	}
	h.count(t)
	return h
}

func (h *host) write(t *testing.T, name, text string) {
	t.Helper()
	name = filepath.Join(h.root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}

// count writes the counters to the simulated files.
func (h *host) count(t *testing.T) {
	t.Helper()
	line := func(ios uint64) string {
		return fmt.Sprintf("%d 0 %d %d 0 0 0 0 %d %d %d 0 0 0 0 0 0\n", ios, 8*ios, ios, h.inFlight, ios, ios)
	}
	h.write(t, "proc/diskstats", "8 0 sda "+line(h.drive)+"253 0 dm-0 "+line(h.above))
	h.write(t, "sys/devices/host3/sda/block/stat", line(h.drive))
	h.write(t, "sys/devices/dm-0/stat", line(h.above))
}

// both completes reads of the volume, which are also reads of the drive.
func (h *host) both(t *testing.T, reads uint64) {
	t.Helper()
	h.drive += reads
	h.above += reads
	h.count(t)
}

func devices() []Device {
	return []Device{{ID: "volume", Number: "253:0", Controllers: []string{"nvme0"}}, {ID: "drive", Number: "8:0"}}
}

func TestARoundOnAVolumeIsOursOnTheDriveBelow(t *testing.T) {
	h := newHost(t)
	s, _ := samplerOf(devices()...)
	s.options.FS = sysfs.New(h.root)
	h.both(t, 1)
	s.sample(t.Context(), false)
	h.both(t, 10)
	_, end := s.Begin("253:0")
	h.both(t, 100) // ours
	end()
	h.both(t, 1000)
	_, end = s.Begin("8:0")
	h.drive += 10000 // ours on the drive; the volume is idle
	h.count(t)
	end()
	s.sample(t.Context(), false)
	assert.EqualValues(t, 1010, s.devices["253:0"].account.others.served[read].ios)
	assert.EqualValues(t, 1010, s.devices["8:0"].account.others.served[read].ios)
}

// Every second reports the counters unchanged, including our own I/O, of all devices that are present.
func TestEachSecondIsTold(t *testing.T) {
	h := newHost(t)
	s, _ := samplerOf(append(devices(), Device{ID: "gone", Number: "8:16"})...)
	s.options.FS = sysfs.New(h.root)
	var told [][]Counted
	s.options.Second = func(now Second) { told = append(told, now.Devices) }
	s.sample(t.Context(), false)
	_, end := s.Begin("8:0")
	h.both(t, 100)
	end()
	s.sample(t.Context(), false)
	require.Len(t, told, 2)
	require.Len(t, told[1], 2)
	for i, name := range []string{"volume", "drive"} {
		assert.Equal(t, name, told[1][i].ID)
		assert.False(t, told[0][i].Ours)
		assert.Equal(t, name == "drive", told[1][i].Ours, "a round of ours on it has begun and ended")
		counted, ok := told[1][i].Disk.Since(told[0][i].Disk)
		require.True(t, ok)
		of := Of(time.Time{}, 2*time.Second, counted, told[1][i].Timing)
		assert.Equal(t, record.Served{IOs: 100, MeanLatency: time.Millisecond}, of.Read)
		assert.InDelta(t, 50, of.Work.Reads, 0)
		assert.InDelta(t, 50*4096, of.Work.ReadBytes, 0)
	}
}

// A device whose statistics are off shows zeros. They mean nothing, which is known from the first second on.
func TestADeviceThatDoesNotCount(t *testing.T) {
	h := newHost(t)
	h.write(t, "sys/devices/host3/sda/block/queue/iostats", "0\n")
	s, _ := samplerOf(devices()...)
	s.options.FS = sysfs.New(h.root)
	var unusable []string // of the volume and the drive, second by second
	s.options.Second = func(now Second) {
		for _, d := range now.Devices {
			unusable = append(unusable, d.Unusable)
		}
	}
	s.sample(t.Context(), false)
	s.sample(t.Context(), false)
	h.both(t, 1) // they are on again
	s.sample(t.Context(), false)
	assert.Equal(t, []string{"", byBlind, "", byBlind, "", ""}, unusable)
}

// The switch is 0 from the start where a driver does not look at it. A device that rests is then not one that does not count.
func TestADriverThatCountsWithoutTheSwitch(t *testing.T) {
	for _, c := range []struct {
		device, kernel string
		off            bool
	}{
		{"bcache0", "6.18.0", false}, {"md0", "6.18.0", true},
		{"dm-0", "6.1.0-56-cloud-amd64", false}, {"dm-0", "6.5.0", true}, // the device mapper has looked at it since
	} {
		root := sysfstest.Make(t, map[string]string{
			"sys/devices/virtual/block/" + c.device + "/queue/iostats": "0\n", "proc/sys/kernel/osrelease": c.kernel + "\n",
		}, map[string]string{"sys/dev/block/252:0": "../../devices/virtual/block/" + c.device})
		assert.Equal(t, c.off, newDevice(t.Context(), root, Device{Number: "252:0"}).blind, c)
	}
}

func TestARunOnAVolumeIsOursOnTheDriveBelow(t *testing.T) {
	h := newHost(t)
	all := devices()
	s, _ := samplerOf()
	s.options.FS, s.options.Devices = sysfs.New(h.root), func() []Device { return all }
	s.sample(t.Context(), false)
	all[0].Run = true
	h.both(t, 1000)
	s.sample(t.Context(), false)
	all[0].Run = false
	h.both(t, 1000) // the run ended in this second
	s.sample(t.Context(), false)
	h.both(t, 1)
	s.sample(t.Context(), false)
	for _, d := range s.devices {
		assert.EqualValues(t, 1, d.account.others.served[read].ios, d.ID)
		assert.Equal(t, byRun, s.close(t.Context(), d).Unusable)
	}
}

func TestCausesThatTheKernelTells(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		run        bool
		volume     record.StallCause
		drive      record.StallCause
	}{
		"none":                {volume: record.StallByDevice, drive: record.StallByDevice},
		"a run on the volume": {run: true, volume: record.StallByRun, drive: record.StallByRun},
		"the volume is suspended": {
			file: "sys/devices/dm-0/dm/suspended", text: "1\n", volume: record.StallBySuspended, drive: record.StallByDevice,
		},
		"a controller of NVMe is reset": {
			file: "sys/class/nvme/nvme0/state", text: "resetting\n", volume: record.StallByReset, drive: record.StallByDevice,
		},
		"the disk of SCSI is blocked": {
			file: "sys/devices/host3/sda/device/state", text: "blocked\n", volume: record.StallByReset, drive: record.StallByReset,
		},
		"the adapter recovers from errors": {
			file: "sys/class/scsi_host/host3/state", text: "recovery\n", volume: record.StallByReset, drive: record.StallByReset,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			if c.file != "" {
				h.write(t, c.file, c.text)
			}
			all := devices()
			all[0].Run = c.run
			s, told := samplerOf(all...)
			s.options.FS = sysfs.New(h.root)
			h.both(t, 1)
			s.sample(t.Context(), false)
			h.inFlight = 2
			for range 2 {
				h.count(t)
				s.sample(t.Context(), false)
			}
			h.inFlight = 0
			h.both(t, 1)
			s.sample(t.Context(), false)
			require.Len(t, told.stalls, 2)
			assert.Equal(t, c.volume, (<-told.stalls).Cause)
			assert.Equal(t, c.drive, (<-told.stalls).Cause)
		})
	}
}

func TestASecondThatIsNobodysIsNoStall(t *testing.T) {
	h := newHost(t)
	s, told := samplerOf(devices()...)
	s.options.FS = sysfs.New(h.root)
	h.inFlight = 1
	h.both(t, 1)
	for range 5 {
		s.sample(t.Context(), true)
	}
	assert.Empty(t, s.Status("8:0").Stalls)
	h.both(t, 1)
	s.sample(t.Context(), false)
	assert.Empty(t, told.stalls)
}

func TestCountersThatCannotBeRead(t *testing.T) {
	h := newHost(t)
	s, _ := samplerOf(devices()...)
	s.options.FS = sysfs.New(h.root)
	s.sample(t.Context(), false)
	require.NoError(t, failure(s))
	h.write(t, "proc/diskstats", "damaged\n")
	s.sample(t.Context(), false)
	require.ErrorContains(t, failure(s), "diskstats")
	h.count(t)
	s.sample(t.Context(), false)
	require.NoError(t, failure(s))
	assert.Zero(t, s.devices["8:0"].account.others.span, "it begins anew")
}

func TestRoundsWhileItSamples(t *testing.T) {
	h := newHost(t)
	s, _ := samplerOf(devices()...)
	s.options.FS = sysfs.New(h.root)
	run(t, s)
	testenv.Eventually(t, "the devices are known", func() bool { return s.Status("8:0") != nil })
	var group errgroup.Group
	for _, number := range []string{"8:0", "253:0", "8:0"} {
		group.Go(func() error {
			for range 200 {
				_, end := s.Begin(number)
				s.Status(number)
				end()
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	s.mu.Lock()
	defer s.mu.Unlock()
	assert.Empty(t, s.rounds)
}

// A probe file may be filled before the first second is over.
func TestARoundThatBeginsBeforeItsDeviceIsKnown(t *testing.T) {
	h := newHost(t)
	s, _ := samplerOf(devices()...)
	s.options.FS = sysfs.New(h.root)
	_, end := s.Begin("253:0")
	s.sample(t.Context(), false)
	h.both(t, 1000) // ours
	s.sample(t.Context(), false)
	end()
	h.both(t, 1)
	s.sample(t.Context(), false)
	for _, d := range s.devices {
		assert.EqualValues(t, 1, d.account.others.served[read].ios, d.ID)
	}
}

// A round waits while the device has nothing in flight: this machine does not pass it the I/O.
func TestWhatHoldsARoundBack(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		idle, held bool
		suspended  bool
		blind      bool
	}{
		"a frozen queue":                   {idle: true, held: true},
		"a suspended volume":               {idle: true, held: true, suspended: true, file: "sys/devices/dm-0/dm/suspended", text: "1\n"},
		"a controller of NVMe that resets": {idle: true, file: "sys/class/nvme/nvme0/state", text: "resetting\n"},
		"a device that does not answer":    {},
		"a device that does not count":     {idle: true, blind: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			s, _ := samplerOf(devices()...)
			s.options.FS = sysfs.New(h.root)
			var told []time.Time
			s.options.HeldBack = func(d Device, since, until time.Time) {
				assert.Equal(t, "253:0", d.Number)
				told = append(told, since, until)
			}
			h.both(t, 1)
			if c.file != "" {
				h.write(t, c.file, c.text)
			}
			if !c.idle {
				h.inFlight = 1
				h.count(t)
			}
			s.sample(t.Context(), false)
			second := func() *record.HeldBack { // no time passes between samples, so the start of the wait is moved back instead
				s.sample(t.Context(), false)
				d := s.devices["253:0"]
				if !d.idle.IsZero() {
					d.idle = d.idle.Add(-heldAfter)
				}
				s.sample(t.Context(), false)
				return s.Status("253:0").HeldBack
			}
			assert.Nil(t, second(), "no round of ours is in progress")
			_, end := s.Begin("253:0")
			if c.blind {
				s.devices["253:0"].blind = true
			}
			held := second()
			require.Equal(t, c.held, held != nil)
			if held != nil {
				assert.Equal(t, c.suspended, held.Suspended)
				require.NotEmpty(t, told)
				assert.Equal(t, []time.Time{held.Since, {}}, told[len(told)-2:])
			}
			h.both(t, 1)
			s.sample(t.Context(), false)
			assert.Nil(t, s.Status("253:0").HeldBack, "an I/O has completed")
			end()
			assert.Nil(t, second())
			if !c.held {
				assert.Empty(t, told)
				return
			}
			since, until := told[len(told)-2], told[len(told)-1]
			assert.Equal(t, held.Since, since)
			assert.True(t, until.After(since), "it is over")

			_, end = s.Begin("253:0")
			defer end()
			require.NotNil(t, second(), "once more")
			s.options.Devices = func() []Device { return nil }
			s.sample(t.Context(), false)
			assert.False(t, told[len(told)-1].IsZero(), "it is not watched any more")
		})
	}
}
