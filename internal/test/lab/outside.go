package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Throttle immediately limits the drive to the given I/Os per second, reads and writes together; 0 removes the limit. The
// limit remains when the drive is unplugged.
func (m *Machine) Throttle(ctx context.Context, id string, iops int) error {
	return m.change(ctx, id, "throttle", func(d *drive) error {
		_, err := m.monitor.execute(ctx, "qom-set", object{
			"path": "/objects/" + d.limitsNode(), "property": "limits", "value": object{"iops-total": iops, "bps-total": 0},
		})
		if err == nil {
			d.iops, d.hung = iops, false
		}
		return err
	})
}

// Hang makes the drive pause for a quarter of a minute after each block of 4 KiB, until Throttle is called. I/O that is
// already held back then waits its full time. Admin commands are answered at once.
func (m *Machine) Hang(ctx context.Context, id string) error {
	return m.change(ctx, id, "hang", func(d *drive) error {
		_, err := m.monitor.execute(ctx, "qom-set", object{
			"path": "/objects/" + d.limitsNode(), "property": "limits", "value": object{"bps-total": 256},
		})
		if err == nil {
			d.hung = true
		}
		return err
	})
}

// SetCriticalWarning sets the bits of the SMART page's critical warning, on all the drive's controllers, until it is
// unplugged.
func (m *Machine) SetCriticalWarning(ctx context.Context, id string, bits uint8) error {
	return m.change(ctx, id, "set critical warning", func(d *drive) error {
		for i := range d.Controllers {
			_, err := m.monitor.execute(ctx, "qom-set", object{
				"path": "/machine/peripheral/" + d.controllerID(i), "property": "smart_critical_warning", "value": bits,
			})
			if err != nil {
				return err
			}
		}
		d.criticalWarning = bits
		return nil
	})
}

// SetFaults replaces the drive's faults; without faults the drive works fully. I/O in flight may still meet the old
// faults.
func (m *Machine) SetFaults(ctx context.Context, id string, faults ...Fault) error {
	return m.change(ctx, id, "set faults", func(d *drive) error {
		old := *d
		d.Faults = faults
		d.faultsVersion++
		if err := m.replaceFaults(ctx, &old, d); err != nil {
			d.Faults = old.Faults
			return err
		}
		return nil
	})
}

func (m *Machine) replaceFaults(ctx context.Context, before, after *drive) error {
	if len(after.Faults) > 0 {
		if _, err := m.monitor.execute(ctx, "blockdev-add", after.faultsDefinition()); err != nil {
			return err
		}
	}
	reopen := object{"options": []object{after.limitsDefinition()}}
	if _, err := m.monitor.execute(ctx, "blockdev-reopen", reopen); err != nil {
		return err
	}
	if len(before.Faults) == 0 {
		return nil
	}
	_, err := m.monitor.execute(ctx, "blockdev-del", object{"node-name": before.faultsNode()})
	return err
}

// Unplug removes the drive with all its controllers, and waits until the guest has released it.
func (m *Machine) Unplug(ctx context.Context, id string) error {
	return m.change(ctx, id, "unplug", func(d *drive) error {
		if !d.plugged {
			return fmt.Errorf("it is not plugged in: %w", os.ErrNotExist)
		}
		for i := range d.Controllers {
			gone := event{Name: "DEVICE_DELETED"}
			gone.Data.Device = d.controllerID(i)
			off := func() error { return m.powerOffSlot(ctx, d, i) }
			err := m.monitor.executeAwaiting(ctx, "device_del", object{"id": d.controllerID(i)}, off, gone)
			if err != nil {
				return err
			}
		}
		d.plugged = false
		d.criticalWarning = 0
		return nil
	})
}

// Plug plugs the drive in, with its earlier data if any, and waits until the guest can use it. The kernel may give it
// another name than before.
func (m *Machine) Plug(ctx context.Context, id string) (Disk, error) {
	var disk Disk
	err := m.change(ctx, id, "plug", func(d *drive) error {
		if d.plugged {
			return fmt.Errorf("it is plugged in already: %w", os.ErrExist)
		}
		for _, controller := range d.controllers() {
			if _, err := m.monitor.execute(ctx, "device_add", controller); err != nil {
				return err
			}
		}
		d.plugged = true
		var err error
		disk, err = m.find(ctx, d)
		return err
	})
	return disk, err
}

// Reset restarts the machine like its reset button: nothing is written back, all processes are gone, and files are as in
// Options. Drives keep their data, their limits and their faults.
func (m *Machine) Reset(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	ctx, cancel := m.bootContext(ctx)
	defer cancel()
	m.current().hangUp()
	if err := m.pressReset(ctx); err != nil {
		return fmt.Errorf("reset: %w", m.explain(ctx, err))
	}
	if err := m.greet(ctx); err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	if err := m.onReboot(ctx, "shutdown"); err != nil {
		return fmt.Errorf("reset: %w", m.explain(ctx, err))
	}
	return nil
}

// pressReset makes a reset restart the machine instead of ending QEMU, as a reset after a panic does. The setting has to
// remain until the agent is there: SeaBIOS resets the machine once more when it sees that it has run before.
func (m *Machine) pressReset(ctx context.Context) error {
	if err := m.onReboot(ctx, "reset"); err != nil {
		return err
	}
	nothing := func() error { return nil }
	return m.monitor.executeAwaiting(ctx, "system_reset", nil, nothing, event{Name: "RESET"})
}

func (m *Machine) onReboot(ctx context.Context, action string) error {
	_, err := m.monitor.execute(ctx, "set-action", object{"reboot": action})
	return err
}

// powerOffSlot avoids the five seconds in which Linux lets a user cancel the removal at a slot's button. Slots of a
// single host bridge belong to ACPI, and have no button. EINVAL means that the slot has no power already.
func (m *Machine) powerOffSlot(ctx context.Context, d *drive, i int) error {
	if !d.bridged {
		return nil
	}
	err := m.WriteFile(ctx, fmt.Sprintf("/sys/bus/pci/slots/%d/power", d.slot(i)), []byte("0"), 0)
	if errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

// change serialises the actions on drives.
func (m *Machine) change(ctx context.Context, id, what string, action func(*drive) error) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	d, err := m.drive(id)
	if err == nil {
		err = action(d)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, id, m.explain(ctx, err))
	}
	return nil
}
