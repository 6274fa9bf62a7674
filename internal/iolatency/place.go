package iolatency

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cilium/ebpf"
)

// places is the table in which the programs look for a device. They may do so while it is changed.
type places struct {
	memory  *ebpf.Memory
	numbers [table]uint32 // 0 where nothing has ever been
	used    [table]bool
	watches uint32 // how many devices have come
}

// hash is where the search for a number begins, as in bpf/iolatency.bpf.c.
func hash(number uint32) int { return int(number * 0x9E3779B1 >> 24) }

// add puts a device into the table; false when there is no room. slot is that of its histograms, from 1 on. I/O in flight of
// another watch does not count for this one.
func (p *places) add(number uint32, slot int) (at int, watch uint32, ok bool, err error) {
	for i := range chain {
		at = (hash(number) + i) % table
		if p.used[at] {
			continue
		}
		p.used[at], p.numbers[at] = true, number
		p.watches++
		err := errors.Join(p.set(at, atWatch, p.watches), p.tell(at, neverSlow, 0), p.write(at, number, uint32(slot), false))
		return at, p.watches, true, err
	}
	return 0, 0, false, nil
}

// set writes a field of an entry.
func (p *places) set(at, field int, value uint32) error {
	if _, err := p.memory.WriteAt(binary.NativeEndian.AppendUint32(nil, value), int64(at*watchedBytes+field)); err != nil {
		return fmt.Errorf("write the table of devices: %w", err)
	}
	return nil
}

// neverSlow is longer than any I/O.
const neverSlow = time.Duration(math.MaxInt64)

// tell has the programs tell of the next I/Os that take as long as slow.
func (p *places) tell(at int, slow time.Duration, most uint32) error {
	if _, err := p.memory.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(slow)), int64(at*watchedBytes+atSlow)); err != nil {
		return fmt.Errorf("write the table of devices: %w", err)
	}
	return p.set(at, atLeft, most)
}

// write writes an entry at once, so that no program sees the number of one device with the slot of another.
func (p *places) write(at int, number, slot uint32, paused bool) error {
	var entry [8]byte
	if err := p.pause(at, paused); err != nil {
		return err
	}
	binary.NativeEndian.PutUint32(entry[0:], number)
	binary.NativeEndian.PutUint32(entry[4:], slot)
	if _, err := p.memory.WriteAt(entry[:], int64(at*watchedBytes+atNumber)); err != nil {
		return fmt.Errorf("write the table of devices: %w", err)
	}
	return nil
}

// pause has the programs leave out what happens on a device, or not.
func (p *places) pause(at int, paused bool) error {
	flag := uint32(0)
	if paused {
		flag = 1
	}
	return p.set(at, atPaused, flag)
}

// remove leaves the number there, as another device may be behind it.
func (p *places) remove(at int) error {
	p.used[at] = false
	return p.write(at, p.numbers[at], 0, false)
}
