package iolatency

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cilium/ebpf"
)

// places is the table in which the programs look up devices. They may read it while it is changed.
type places struct {
	memory  *ebpf.Memory
	numbers [table]uint32 // 0 where no device has ever been
	used    [table]bool
	watches uint32 // how many devices have been added
}

// hash returns the place where the search for a number begins. It is the same as in bpf/iolatency.bpf.c.
func hash(number uint32) int { return int(number * 0x9E3779B1 >> 24) }

// add puts a device into the table; ok is false when there is no room. slot is the number of its histograms,
// from 1 on. watch identifies this period of following the device: I/O that was in flight in an earlier one
// does not count for this one.
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

// tell makes the programs report up to most further I/Os that take slow or longer.
func (p *places) tell(at int, slow time.Duration, most uint32) error {
	if _, err := p.memory.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(slow)), int64(at*watchedBytes+atSlow)); err != nil {
		return fmt.Errorf("write the table of devices: %w", err)
	}
	return p.set(at, atLeft, most)
}

// beyond returns how many I/Os have been slow since the last tell, beyond those that could be reported.
func (p *places) beyond(at int) (uint64, error) {
	var left [4]byte
	if _, err := p.memory.ReadAt(left[:], int64(at*watchedBytes+atLeft)); err != nil {
		return 0, fmt.Errorf("read the table of devices: %w", err)
	}
	return uint64(max(0, -int64(int32(binary.NativeEndian.Uint32(left[:]))))), nil
}

// write writes number and slot together, so that no program sees the number of one device with the slot of
// another.
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

// pause makes the programs ignore the I/O of a device, or count it again.
func (p *places) pause(at int, paused bool) error {
	flag := uint32(0)
	if paused {
		flag = 1
	}
	return p.set(at, atPaused, flag)
}

// remove frees an entry but leaves the number in it, because the search for a device behind it stops at a place
// without a number.
func (p *places) remove(at int) error {
	p.used[at] = false
	return p.write(at, p.numbers[at], 0, false)
}
