package iolatency

import (
	"encoding/binary"
	"fmt"

	"github.com/cilium/ebpf"
)

// places is the table in which the programs look for a device. They may do so while it is changed.
type places struct {
	memory  *ebpf.Memory
	numbers [table]uint32 // 0 where nothing has ever been
	used    [table]bool
}

// hash is where the search for a number begins, as in bpf/iolatency.bpf.c.
func hash(number uint32) int { return int(number * 0x9E3779B1 >> 24) }

// add puts a device into the table; false when there is no room. slot is that of its histograms, from 1 on.
func (p *places) add(number uint32, slot int) (at int, ok bool, err error) {
	for i := range chain {
		at = (hash(number) + i) % table
		if p.used[at] {
			continue
		}
		p.used[at], p.numbers[at] = true, number
		return at, true, p.write(at, number, uint32(slot), false)
	}
	return 0, false, nil
}

// write writes an entry at once, so that no program sees the number of one device with the slot of another.
func (p *places) write(at int, number, slot uint32, paused bool) error {
	var entry [8]byte
	if err := p.pause(at, paused); err != nil {
		return err
	}
	binary.NativeEndian.PutUint32(entry[atNumber:], number)
	binary.NativeEndian.PutUint32(entry[atSlot:], slot)
	if _, err := p.memory.WriteAt(entry[:], int64(at*watchedBytes+atNumber)); err != nil {
		return fmt.Errorf("write the table of devices: %w", err)
	}
	return nil
}

// pause has the programs leave out what happens on a device, or not.
func (p *places) pause(at int, paused bool) error {
	var flag [4]byte
	if paused {
		flag[0] = 1
	}
	if _, err := p.memory.WriteAt(flag[:], int64(at*watchedBytes+atPaused)); err != nil {
		return fmt.Errorf("write the table of devices: %w", err)
	}
	return nil
}

// remove leaves the number there, as another device may be behind it.
func (p *places) remove(at int) error {
	p.used[at] = false
	return p.write(at, p.numbers[at], 0, false)
}
