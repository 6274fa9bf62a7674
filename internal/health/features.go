package health

import (
	"errors"
	"os"
	"strconv"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

func coalescing(d *nvme.Device, f *record.Features) error {
	c, err := d.InterruptCoalescing()
	if err == nil {
		f.Coalescing = &record.Coalescing{Time: c.Time, Threshold: c.Threshold}
	}
	return err
}

func writeCache(d *nvme.Device, f *record.Features) error {
	on, err := d.WriteCache()
	if err == nil {
		f.WriteCache = &on
	}
	return err
}

func queues(d *nvme.Device, f *record.Features) error {
	q, err := d.Queues()
	if err == nil {
		f.AllocatedQueues = new(int(min(q.Submission, q.Completion)))
	}
	return err
}

func powerState(d *nvme.Device, f *record.Features) error {
	p, err := d.PowerManagement()
	if err == nil {
		f.PowerState = new(int(p.State))
	}
	return err
}

func autonomousPower(d *nvme.Device, f *record.Features) error {
	a, err := d.AutonomousPower()
	if err == nil {
		f.AutonomousPower = &a.Enabled
	}
	return err
}

// driver adds what only the driver knows: the number of queues that it uses, and how
// many of them it polls. Polled queues are those without an interrupt. What the kernel
// does not report stays absent.
func driver(files sysfs.FS, controller string, f *record.Features) error {
	dir := "/sys/class/nvme/" + controller
	count, err := files.Int(dir + "/queue_count")
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case count < 1: // the controller is being reset
		return nil
	}
	f.IOQueues = new(int(count - 1)) // without the admin queue
	transport, err := files.Text(dir + "/transport")
	if err != nil || transport != "pcie" { // behind a fabric it has no interrupts of its own
		return err
	}
	lines, err := counters.ReadDeviceInterrupts(files, controller)
	if err != nil {
		return err
	}
	interrupting := map[string]bool{}
	for _, line := range lines {
		for _, queue := range line.Queues(controller) {
			if _, err := strconv.Atoi(queue); err == nil && queue != adminQueue {
				interrupting[queue] = true
			}
		}
	}
	if polled := *f.IOQueues - len(interrupting); polled >= 0 {
		f.PollQueues = &polled
	}
	return nil
}

// NamespaceIDs returns the namespace ids that the devices have within their controller,
// by the devices' ids. Devices whose namespace id cannot be read are left out.
func NamespaceIDs(files sysfs.FS, devices []record.Device) map[string]uint32 {
	ids := map[string]uint32{}
	for _, d := range devices {
		if id, err := files.Uint("/sys/block/" + d.Name + "/nsid"); err == nil {
			ids[d.ID] = uint32(id)
		}
	}
	return ids
}
