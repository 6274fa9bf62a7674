package lab

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/test/lab/wire"
)

// Disk holds the names that the guest's kernel gives a drive. It finds drives in no fixed order, so
// nvme0 may be any of them.
type Disk struct {
	Controllers []string // such as "nvme0", in the order of the drive's controllers
	Namespaces  []string // such as "nvme0n1": one, except for drives with several controllers and nvme_core.multipath=N
}

// Node returns the path of the block device.
func (d Disk) Node() string { return "/dev/" + d.Namespaces[0] }

// Disk returns the names of the drive. It waits for a drive that the guest has not found yet.
func (m *Machine) Disk(ctx context.Context, id string) (Disk, error) {
	d, err := m.drive(id)
	if err != nil {
		return Disk{}, err
	}
	return m.find(ctx, d)
}

func (m *Machine) drive(id string) (*drive, error) {
	for _, d := range m.drives {
		if d.ID == id {
			return d, nil
		}
	}
	return nil, fmt.Errorf("drive %s: %w", id, os.ErrNotExist)
}

// findTimeout bounds the wait inside the guest for a drive that is plugged in.
const findTimeout = time.Minute

func (m *Machine) find(ctx context.Context, d *drive) (Disk, error) {
	reply, err := m.current().ask(ctx, wire.Request{Find: &wire.Find{Ports: d.portAddresses(), Within: findTimeout}})
	if err != nil {
		return Disk{}, fmt.Errorf("find drive %s: %w", d.ID, m.explain(ctx, err))
	}
	return Disk{Controllers: reply.Drive.Controllers, Namespaces: reply.Drive.Namespaces}, nil
}
