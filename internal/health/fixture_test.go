package health_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
	"github.com/ssdprobe/ssdprobe/pkg/nvme/nvmetest"
)

// captured returns a page of QEMU's controller, see pkg/nvme/testdata/README.md.
func captured(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "pkg", "nvme", "testdata", "captured", name+".bin"))
	require.NoError(t, err)
	return b
}

// put writes a little-endian field of a page.
func put(page []byte, offset, bytes int, value uint64) {
	var field [8]byte
	binary.LittleEndian.PutUint64(field[:], value)
	copy(page[offset:offset+bytes], field[:])
}

func identify() nvme.Command { return nvme.IdentifyCommand(nvme.IdentifyController, 0) }

func smartLog() nvme.Command {
	return nvme.LogPageCommand(nvme.LogPageRequest{Page: nvme.LogSMART, Bytes: 512})
}

func feature(f nvme.Feature) nvme.Command { return nvme.GetFeatureCommand(f, nvme.SelectCurrent, 0) }

// emulated returns QEMU's controller: it gives the captured answers, and refuses nothing.
func emulated(t *testing.T) *nvmetest.Script {
	t.Helper()
	return emulatedWith(t, captured(t, "identify-controller"), captured(t, "active-namespaces"), 1, 2, 7)
}

// emulatedWith is like emulated, with the given namespaces, and with id and active as its answers.
func emulatedWith(t *testing.T, id, active []byte, namespaces ...uint32) *nvmetest.Script {
	t.Helper()
	s := nvmetest.New(t)
	s.On(identify()).Return(id)
	s.On(smartLog()).Return(captured(t, "smart"))
	s.On(feature(nvme.FeatureInterruptCoalescing)).Result(0)
	s.On(feature(nvme.FeatureVolatileWriteCache)).Result(1)
	s.On(feature(nvme.FeatureNumberOfQueues)).Result(0x003f003f)
	s.On(feature(nvme.FeaturePowerManagement)).Result(0)
	s.On(nvme.IdentifyCommand(nvme.IdentifyActiveNamespaces, 0)).Return(active)
	for _, namespace := range namespaces {
		s.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, namespace)).Return(captured(t, "identify-namespace"))
	}
	return s
}

// opening opens a transport, and counts how often in opened.
func opening(transport nvme.Transport, opened *atomic.Int32) health.Open {
	return func() (*nvme.Device, error) {
		opened.Add(1)
		return nvme.NewDevice(transport), nil
	}
}

// nothing returns a machine that reports nothing.
func nothing(t *testing.T) sysfs.FS {
	t.Helper()
	return sysfstest.Make(t, map[string]string{"proc/x": ""}, nil)
}
