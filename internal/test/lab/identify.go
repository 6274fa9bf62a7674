package lab

import (
	"context"
	"fmt"
	"strings"
)

// admitIdentifiers makes the guest's kernel accept the drives' EUI64. Linux ignores all namespace identifiers of QEMU's
// controllers, because those of old ones were bogus (NVME_QUIRK_BOGUS_NID in drivers/nvme/host/pci.c). A PCI ID added
// at run time takes precedence over the built-in one, and has no quirks. Writing it binds the controllers that have no
// driver, which are those that were unbound before. Of several paths to a namespace, all have to be unbound before the
// first is bound again.
func (m *Machine) admitIdentifiers(ctx context.Context) error {
	var identified []*drive
	var controllers []string // patterns: the one function of the one device behind each port
	for _, d := range m.drives {
		if d.EUI64 != 0 && d.plugged {
			identified = append(identified, d)
			for _, port := range d.portAddresses() {
				controllers = append(controllers, port+"/*:*:*.?")
			}
		}
	}
	if len(identified) == 0 {
		return nil
	}
	const (
		script = `cd /sys/bus/pci/devices
for controller in %s; do basename $controller >$controller/driver/unbind; done
echo %s >/sys/bus/pci/drivers/nvme/new_id`
		anyID = "ffffffff"
	)
	// Vendor and device of QEMU's controller, of any subsystem; class and its mask; the driver's data, which is its quirks.
	id := strings.Join([]string{"1b36", "0010", anyID, anyID, "010802", "ffffff", "0"}, " ")
	if _, err := m.Output(ctx, "sh", "-ec", fmt.Sprintf(script, strings.Join(controllers, " "), id)); err != nil {
		return fmt.Errorf("admit identifiers: %w", err)
	}
	for _, d := range identified {
		if _, err := m.find(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
