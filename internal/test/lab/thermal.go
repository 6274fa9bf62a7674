package lab

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// QEMU's controllers do not throttle, and have no option to say that they can. So the lab sets that bit, bit
// 0 of HCTMA in Identify Controller (NVMe Base 2.0c, Figure 275), in QEMU's own memory, in the structure from
// which it answers. Nothing else changes: the counters of the SMART page are QEMU's, and stay 0.
const hctmaOffset = 322

// smallestRAM is the smallest size of a mapping that may be the guest's memory. That contains
// copies of the page, which are not QEMU's.
const smallestRAM = 64 << 20

// announceThrottling sets the bit for each drive with Throttles.
func (m *Machine) announceThrottling() error {
	for _, d := range m.drives {
		if !d.Throttles {
			continue
		}
		if err := setThrottles(m.hypervisor.process.Pid, d.Serial); err != nil {
			return fmt.Errorf("make drive %s say that it throttles: %w", d.ID, err)
		}
	}
	return nil
}

func setThrottles(pid int, serial string) error {
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	places, err := search(memory, fmt.Sprintf("/proc/%d/maps", pid), identifyStart(serial))
	if err != nil {
		return err
	}
	if len(places) != 1 {
		return fmt.Errorf("its identification is %d times in QEMU's memory, not once", len(places))
	}
	_, err = memory.WriteAt([]byte{1, 0}, places[0]+hctmaOffset)
	return err
}

// search returns the addresses of a text in the memory that a process has allocated.
func search(memory *os.File, maps string, text []byte) (places []int64, err error) {
	list, err := os.ReadFile(maps)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(list)) {
		var from, to uint64
		var access string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &access); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", maps, line, err)
		}
		if access != "rw-p" || to-from >= smallestRAM {
			continue
		}
		content := make([]byte, to-from)
		// Memory that was freed since it was listed cannot be read.
		n, err := memory.ReadAt(content, int64(from))
		if err != nil && !errors.Is(err, syscall.EIO) {
			return nil, err
		}
		content = content[:n]
		for {
			_, after, ok := bytes.Cut(content, text)
			if !ok {
				break
			}
			places = append(places, int64(from)+int64(n-len(after)-len(text)))
			content = after
		}
	}
	return places, nil
}

// identifyStart returns the beginning of QEMU's Identify Controller: the vendors, the serial number and the model.
func identifyStart(serial string) []byte {
	start := binary.LittleEndian.AppendUint16(nil, 0x1b36)
	start = binary.LittleEndian.AppendUint16(start, 0x1af4)
	return fmt.Appendf(start, "%-20s%-40s", serial, "QEMU NVMe Ctrl")
}
