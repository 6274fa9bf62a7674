package health_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
	"github.com/ssdprobe/ssdprobe/pkg/nvme/nvmetest"
)

// nvme-cli printed the same values for the same pages.
func TestHealthOfAnEmulatedController(t *testing.T) {
	files := sysfstest.Make(t, map[string]string{
		"sys/class/nvme/nvme0/queue_count": "5\n",
		"sys/class/nvme/nvme0/transport":   "pcie\n",
		"proc/interrupts": "           CPU0       CPU1\n 24: 19 0 PCI-MSIX-0000:01:00.0 0-edge nvme0q0\n" +
			" 25: 7 3 PCI-MSIX-0000:01:00.0 1-edge nvme0q1\n 26: 7 3 PCI-MSIX-0000:01:00.0 2-edge nvme0q2\n 27: 1 1 PCI-MSIX-0000:02:00.0 1-edge nvme00q3\n",
	}, nil)
	var opened atomic.Int32
	c := health.NewController(files, "nvme0", opening(emulated(t), &opened))
	h, ok, err := c.Read(t.Context(), health.Timeout, nil)
	require.NoError(t, err)
	require.True(t, ok)
	assert.WithinDuration(t, time.Now(), h.Time, time.Minute)
	h.Time = time.Time{}
	namespace := record.NamespaceHealth{SizeBytes: 67108864, AllocatedBytes: new(uint64(67108864)), BlockBytes: 512}
	namespaces := []record.NamespaceHealth{namespace, namespace, namespace}
	namespaces[0].ID, namespaces[1].ID, namespaces[2].ID = 1, 2, 7
	assert.Equal(t, record.Health{
		Identity: record.ControllerIdentity{
			Model: "QEMU NVMe Ctrl", Serial: "SSDPROBE-0001", Firmware: "7.2.22", VendorID: 0x1b36, Revision: "1.4",
			WarningTemperature: new(70), CriticalTemperature: new(100),
		},
		CriticalWarnings: []record.CriticalWarning{record.CriticalTemperature, record.CriticalBackup},
		Temperatures:     []record.Temperature{{Sensor: "composite", Celsius: 50}},
		DataReadBytes:    new(uint64(9 * 512_000)), DataWrittenBytes: new(uint64(13 * 512_000)),
		HostReadCommands: new(uint64(70)), HostWriteCommands: new(uint64(13)),
		ControllerBusy: new(time.Duration), ErrorLogEntries: new(uint64(0)),
		WarningTemperatureTime: new(time.Duration), CriticalTemperatureTime: new(time.Duration),
		Features: record.Features{
			Coalescing: &record.Coalescing{Threshold: 1}, WriteCache: new(true), AllocatedQueues: new(64),
			IOQueues: new(4), PollQueues: new(2), PowerState: new(0),
		},
		Namespaces: namespaces,
	}, h)

	again, _, err := c.Read(t.Context(), health.Timeout, []uint32{7})
	require.NoError(t, err)
	assert.Len(t, again.Namespaces, 1, "only what was asked for")
	assert.EqualValues(t, 2, opened.Load(), "an open node would keep the driver's module, and the controller's number after it has left")
}

// No namespace is left out silently.
func TestHealthOfManyNamespaces(t *testing.T) {
	const many = 1026
	id, list := captured(t, "identify-controller"), make([]byte, 4096)
	put(id, 516, 4, many)
	ids := make([]uint32, many)
	for i := range ids {
		ids[i] = uint32(i + 1)
		if i < 33 {
			put(list, 4*i, 4, uint64(ids[i]))
		}
	}
	var opened atomic.Int32
	c := health.NewController(nothing(t), "nvme0", opening(emulatedWith(t, id, list, ids...), &opened))

	h, ok, err := c.Read(t.Context(), health.Timeout, nil)
	require.NoError(t, err)
	require.True(t, ok)
	require.Len(t, h.Namespaces, 33)
	assert.EqualValues(t, 33, h.Namespaces[32].ID)

	h, ok, err = c.Read(t.Context(), health.Timeout, ids)
	require.True(t, ok)
	require.EqualError(t, err, "health of nvme0: 2 of 1026 namespaces are not read: at most 1024 are")
	assert.Len(t, h.Namespaces, 1024)
}

// full returns a controller that has everything in the specification.
func full(t *testing.T) *nvmetest.Script {
	t.Helper()
	id, smart := make([]byte, 4096), make([]byte, 512)
	copy(id[4:], "S64HNE0R500101      ")
	put(id, 80, 4, 0x00020000) // revision 2.0
	id[111] = 1                // an I/O controller
	id[265] = 1                // autonomous power states
	put(id, 322, 2, 1)         // host thermal management
	put(id, 516, 4, 1)         // one namespace
	smart[0] = 0x3F
	put(smart, 1, 2, 339)
	smart[3], smart[4], smart[5] = 97, 10, 105
	put(smart, 32, 8, 3)
	put(smart, 40, 8, 1) // 2^64 + 3 data units
	put(smart, 64, 8, 31574523925)
	put(smart, 80, 8, 5) // write commands, and no data units written: not reported
	put(smart, 96, 8, 12345)
	put(smart, 128, 8, 10846)
	put(smart, 160, 8, 3)
	put(smart, 176, 8, math.MaxUint64)
	put(smart, 184, 8, 1)
	put(smart, 192, 4, 30)
	put(smart, 202, 2, 272)
	put(smart, 216, 4, 11)
	put(smart, 228, 4, 60)
	s := nvmetest.New(t)
	s.On(identify()).Return(id)
	s.On(smartLog()).Return(smart)
	s.On(feature(nvme.FeatureInterruptCoalescing)).Result(522)
	s.On(feature(nvme.FeatureNumberOfQueues)).Result(0x001f003f)
	s.On(feature(nvme.FeaturePowerManagement)).Result(3)
	s.On(feature(nvme.FeatureAutonomousPower)).ReturnResult(make([]byte, 256), 1)
	return s
}

func TestHealthOfAFullController(t *testing.T) {
	var opened atomic.Int32
	c := health.NewController(nothing(t), "nvme0", opening(full(t), &opened))
	h, ok, err := c.Read(t.Context(), health.Timeout, []uint32{})
	require.NoError(t, err)
	require.True(t, ok)
	h.Time = time.Time{}
	assert.Equal(t, record.Health{
		Identity:         record.ControllerIdentity{Serial: "S64HNE0R500101", Revision: "2.0"},
		CriticalWarnings: record.CriticalWarnings(),
		Temperatures:     []record.Temperature{{Sensor: "composite", Celsius: 66}, {Sensor: "2", Celsius: -1}},
		AvailableSpare:   new(0.97), AvailableSpareThreshold: new(0.10), PercentageUsed: new(1.05),
		DataReadBytes:    new(uint64(math.MaxUint64)), // the largest value that fits
		HostReadCommands: new(uint64(31574523925)), HostWriteCommands: new(uint64(5)),
		ControllerBusy: new(12345 * time.Minute), PowerOn: new(10846 * time.Hour), MediaErrors: new(uint64(3)), ErrorLogEntries: new(uint64(math.MaxUint64)),
		WarningTemperatureTime: new(30 * time.Minute),
		Throttling:             []record.Throttling{{Level: "light", Transitions: 11}, {Level: "heavy", Time: time.Minute}},
		Features: record.Features{
			Coalescing:      &record.Coalescing{Time: 200 * time.Microsecond, Threshold: 11},
			AllocatedQueues: new(32), PowerState: new(3), AutonomousPower: new(true),
		},
	}, h)
}

// The log of a namespace that Linux exports over a network has few fields; a warning that no spare
// blocks are left would be a false alarm. So would one of a threshold of 255 %, which some drives report.
func TestSpareBlocksThatAreNotReported(t *testing.T) {
	script := full(t) // its first answer is 97 and 10
	for _, spare := range [][2]byte{{0, 10}, {100, 0}, {0, 0}, {100, 100}, {101, 10}, {100, 101}, {100, 255}} {
		smart := make([]byte, 512)
		copy(smart[3:], spare[:])
		script.On(smartLog()).Return(smart)
	}
	var opened atomic.Int32
	c := health.NewController(nothing(t), "nvme0", opening(script, &opened))
	for _, want := range [][2]*float64{{new(0.97), new(0.1)}, {new(0.0), new(0.1)}, {new(1.0), new(0.0)}, {}, {new(1.0), new(1.0)}, {nil, new(0.1)}, {new(1.0), nil}, {new(1.0), nil}} {
		h, ok, err := c.Read(t.Context(), health.Timeout, []uint32{})
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, want, [2]*float64{h.AvailableSpare, h.AvailableSpareThreshold})
	}
}

// A drive that refuses a feature is healthy, and is not asked for it again: each refusal would add to its error log.
func TestWhatIsRefusedIsNotAskedAgain(t *testing.T) {
	const invalidField = 0x4002
	script := full(t)
	script.On(feature(nvme.FeatureInterruptCoalescing)) // keeps its earlier answer
	refusing := nvmetest.New(t)
	refusing.On(feature(nvme.FeaturePowerManagement)).Refuse(invalidField)
	var opened atomic.Int32
	c := health.NewController(nothing(t), "nvme0", opening(choosing{refusing, script}, &opened))
	for range 3 {
		h, ok, err := c.Read(t.Context(), health.Timeout, []uint32{})
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Nil(t, h.Features.PowerState)
		assert.NotNil(t, h.Features.Coalescing)
	}
	assert.Len(t, refusing.Sent(), 1, "though each reading opens the node")
}

// choosing asks the controller power for the power state, and other for everything else.
type choosing struct{ power, other nvme.Transport }

func (c choosing) Admin(cmd nvme.Command, data []byte) (nvme.Completion, error) {
	if cmd.Opcode == nvme.OpcodeGetFeatures && nvme.Feature(cmd.Dword10) == nvme.FeaturePowerManagement {
		return c.power.Admin(cmd, data)
	}
	return c.other.Admin(cmd, data)
}

// A failure for another reason is reported, and does not hide the rest.
func TestAFeatureThatFails(t *testing.T) {
	const internalError = 0x0006
	script := nvmetest.New(t)
	script.On(feature(nvme.FeaturePowerManagement)).Refuse(internalError)
	var opened atomic.Int32
	c := health.NewController(nothing(t), "nvme0", opening(choosing{script, full(t)}, &opened))
	h, ok, err := c.Read(t.Context(), health.Timeout, []uint32{})
	require.ErrorContains(t, err, "health of nvme0: get features 02h: internal error")
	assert.True(t, ok)
	assert.EqualValues(t, 3, *h.MediaErrors)
	assert.Nil(t, h.Features.PowerState)
}

func TestWithoutSmartThereIsNoHealth(t *testing.T) {
	script := nvmetest.New(t)
	script.On(identify()).Return(captured(t, "identify-controller"))
	script.On(smartLog()).Fail(syscall.EPERM)
	var opened atomic.Int32
	c := health.NewController(nothing(t), "nvme0", opening(script, &opened))
	for range 2 {
		h, ok, err := c.Read(t.Context(), health.Timeout, nil)
		require.ErrorIs(t, err, fs.ErrPermission)
		assert.Contains(t, health.Denied(err), "CAP_SYS_ADMIN")
		assert.False(t, ok)
		assert.Zero(t, h)
	}
}

func TestDenied(t *testing.T) {
	assert.Empty(t, health.Denied(nil))
	assert.Empty(t, health.Denied(syscall.EIO))
	assert.Contains(t, health.Denied(&fs.PathError{Op: "open", Path: "/dev/nvme0", Err: syscall.EACCES}), "no permission to open the controller")
	refused := &nvme.StatusError{Command: feature(nvme.FeaturePowerManagement), Status: 0x4023} // by the drive's lockdown, also for root
	require.ErrorIs(t, refused, fs.ErrPermission)
	assert.Empty(t, health.Denied(refused))
	assert.Contains(t, health.Denied(errors.Join(refused, syscall.EACCES)), "CAP_SYS_ADMIN")
	_, err := health.ParseSmartctl(answer(t, "built/permission"))
	assert.Contains(t, health.Denied(err), "CAP_SYS_RAWIO")
}

// A controller that left is opened again, because another one may have taken its name.
func TestAControllerThatLeavesAndComesBack(t *testing.T) {
	var opened atomic.Int32
	left := nvmetest.New(nil)
	left.On(identify()).Fail(fs.ErrNotExist)
	transports := []nvme.Transport{left, emulated(t)}
	c := health.NewController(nothing(t), "nvme0", func() (*nvme.Device, error) {
		return nvme.NewDevice(transports[opened.Add(1)-1]), nil
	})
	_, ok, err := c.Read(t.Context(), health.Timeout, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.False(t, ok)
	_, ok, err = c.Read(t.Context(), health.Timeout, nil)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.EqualValues(t, 2, opened.Load())
}

// Another drive that has taken the name of one that left is asked for what that one refused.
func TestAnotherDriveTakesTheName(t *testing.T) {
	id := captured(t, "identify-controller")
	copy(id[4:], "ANOTHER")
	refusing := nvmetest.New(t)
	refusing.On(feature(nvme.FeaturePowerManagement)).Refuse(0x4002)
	transports := []nvme.Transport{choosing{refusing, emulated(t)}, emulatedWith(t, id, captured(t, "active-namespaces"), 1, 2, 7)}
	c := health.NewController(nothing(t), "nvme0", func() (*nvme.Device, error) {
		next := transports[0]
		transports = transports[1:]
		return nvme.NewDevice(next), nil
	})
	for _, want := range []*int{nil, new(0)} {
		h, ok, err := c.Read(t.Context(), health.Timeout, nil)
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Equal(t, want, h.Features.PowerState)
	}
}

// A controller that could not be reached may have been reset, and then accept what it refused before.
func TestWhatWasRefusedIsAskedAgainAfterAReset(t *testing.T) {
	refusing, resetting, aborting, pathless := nvmetest.New(t), nvmetest.New(nil), nvmetest.New(nil), nvmetest.New(nil)
	refusing.On(feature(nvme.FeaturePowerManagement)).Refuse(0x4002)
	resetting.On(identify()).Fail(nvme.ErrCancelled)
	aborting.On(identify()).Refuse(0x0371) // as the driver completes what it gives up
	pathless.On(identify()).Refuse(0x4370)
	for name, unreachable := range map[string]health.Open{
		"when it was opened":             func() (*nvme.Device, error) { return nil, nvme.ErrNotLive },
		"when it was asked":              func() (*nvme.Device, error) { return nvme.NewDevice(resetting), nil },
		"when it was asked, by a status": func() (*nvme.Device, error) { return nvme.NewDevice(aborting), nil },
		"when it was not reached":        func() (*nvme.Device, error) { return nvme.NewDevice(pathless), nil },
	} {
		t.Run(name, func(t *testing.T) {
			before := choosing{refusing, emulated(t)}
			opens := []health.Open{
				func() (*nvme.Device, error) { return nvme.NewDevice(before), nil }, unreachable,
				func() (*nvme.Device, error) { return nvme.NewDevice(emulated(t)), nil },
			}
			c := health.NewController(nothing(t), "nvme0", func() (*nvme.Device, error) {
				next := opens[0]
				opens = opens[1:]
				return next()
			})
			h, _, err := c.Read(t.Context(), health.Timeout, nil)
			require.NoError(t, err)
			assert.Nil(t, h.Features.PowerState)
			_, ok, err := c.Read(t.Context(), health.Timeout, nil)
			require.Error(t, err)
			assert.False(t, ok)
			h, _, err = c.Read(t.Context(), health.Timeout, nil)
			require.NoError(t, err)
			assert.NotNil(t, h.Features.PowerState)
		})
	}
}

// openHere returns how often this process has the file open.
func openHere(t *testing.T, path string) (n int) {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(t, err)
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == path { // the directory itself was open only while it was listed
			n++
		}
	}
	return n
}

func TestNodesThatAreNoController(t *testing.T) {
	for _, path := range []string{"/dev/null", "/dev/no-such-controller"} {
		before := openHere(t, path)
		c := health.NewController(nothing(t), "nvme0", health.Node(path))
		_, ok, err := c.Read(t.Context(), health.Timeout, nil)
		require.Error(t, err)
		assert.False(t, ok)
		assert.True(t, errors.Is(err, nvme.ErrNotNVMe) || errors.Is(err, fs.ErrNotExist), err)
		assert.Equal(t, before, openHere(t, path), "closed")
	}
}

// stuck answers nothing until it is released.
type stuck struct {
	release chan struct{}
	after   nvme.Transport
}

func (s stuck) Admin(cmd nvme.Command, data []byte) (nvme.Completion, error) {
	<-s.release
	return s.after.Admin(cmd, data)
}

func TestAControllerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := stuck{make(chan struct{}), emulated(t)}
		var opened atomic.Int32
		c := health.NewController(nothing(t), "nvme0", opening(transport, &opened))
		_, ok, err := c.Read(t.Context(), time.Second, nil)
		var hung *guard.HungError
		require.ErrorAs(t, err, &hung)
		assert.False(t, ok)
		assert.False(t, hung.Earlier)

		start := time.Now()
		_, _, err = c.Read(t.Context(), time.Second, nil)
		require.ErrorAs(t, err, &hung)
		assert.True(t, hung.Earlier, "no second reading while the first one hangs")
		assert.Zero(t, time.Since(start), "and nobody waits")
		assert.EqualValues(t, 1, opened.Load())

		close(transport.release)
		synctest.Wait()
		_, ok, err = c.Read(t.Context(), time.Second, nil)
		require.NoError(t, err)
		assert.True(t, ok)
		assert.EqualValues(t, 2, opened.Load(), "what the reading that hung had opened was closed")
	})
}

// Opening a node may hang, too. What is opened late is read and closed, and nothing is opened meanwhile.
func TestANodeThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int32
		release := make(chan struct{})
		transport := emulated(t)
		c := health.NewController(nothing(t), "nvme0", func() (*nvme.Device, error) {
			if opened.Add(1) == 2 {
				<-release
			}
			return nvme.NewDevice(transport), nil
		})
		read := func() error {
			_, _, err := c.Read(t.Context(), time.Second, nil)
			return err
		}
		require.NoError(t, read())
		var hung *guard.HungError
		for _, earlier := range []bool{false, true, true} {
			require.ErrorAs(t, read(), &hung)
			assert.Equal(t, earlier, hung.Earlier)
		}
		assert.EqualValues(t, 2, opened.Load())
		close(release)
		synctest.Wait()
		require.NoError(t, read())
		assert.EqualValues(t, 3, opened.Load())
	})
}
