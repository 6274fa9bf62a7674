package fiorun

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

const (
	// othersSpan is the period over which others are compared with fio while it runs.
	othersSpan = 5 * time.Second
	// othersRate is how many bytes per second others may always move: a filesystem's
	// housekeeping, when fio hardly does anything.
	othersRate = 1 << 20
)

// others compares what the devices do with what fio does, while fio runs.
type others struct {
	max    float64         // Watch.MaxOthers
	before []counters.Disk // the devices, as of before fio was started
	partly bool            // the kernel counts only a part of fio's I/O as its own
	looks  []Moved         // over the last othersSpan and a little more
}

// Moved is what the devices and fio moved from the start of fio to one time while it ran, in bytes.
// The kernel counts for a device what was completed, but for a process what it submitted. So the
// devices count no more than fio did, unless others used them.
type Moved struct {
	Read, Written uint64             // by the devices together
	Own           counters.ProcessIO // by fio
	at            time.Time
}

// newOthers takes disks as they are before fio is started.
func newOthers(w Watch, disks counters.Disks) others {
	o := others{max: w.MaxOthers}
	for _, number := range w.devices() {
		disk, ok := disks.ByNumber(number)
		if !ok {
			return others{}
		}
		o.before = append(o.before, disk)
	}
	return o
}

// look compares the devices of this moment with what fio did up to just after it. It returns an
// error that matches ErrOthers if others have moved more than their share for some seconds. If fio
// has ended, or the kernel does not count its I/O, look returns nil.
func (o *others) look(fs sysfs.FS, fio int, disks counters.Disks, now time.Time) error {
	if len(o.before) == 0 {
		return nil
	}
	m := Moved{at: now}
	for _, before := range o.before {
		disk, ok := disks.ByNumber(before.Number)
		if !ok {
			return nil
		}
		since, ok := disk.Since(before)
		if !ok {
			return nil
		}
		m.Read += since.ReadSectors.Bytes()
		m.Written += since.WriteSectors.Bytes()
	}
	var err error
	if m.Own, err = readOwn(fs, fio); err != nil {
		return unlessGone(err)
	}
	o.looks = append(o.looks, m)
	for len(o.looks) > 1 && now.Sub(o.looks[1].at) >= othersSpan {
		o.looks = o.looks[1:]
	}
	return o.judge()
}

// readOwn returns what fio and its children moved. The children are read first, because the kernel
// adds those that have ended to their parent.
func readOwn(fs sysfs.FS, fio int) (sum counters.ProcessIO, err error) {
	children, err := counters.ReadChildren(fs, fio)
	if err != nil {
		return sum, err
	}
	for _, pid := range append(children, fio) {
		done, err := counters.ReadProcessIO(fs, pid)
		if err != nil && (pid == fio || !errors.Is(err, os.ErrNotExist)) {
			return sum, err
		}
		sum.Read += done.Read
		sum.Written += done.Written
	}
	return sum, nil
}

// judge compares the newest look with the oldest.
func (o *others) judge() error {
	first, last := o.looks[0], o.looks[len(o.looks)-1]
	during := last.at.Sub(first.at)
	if o.max <= 0 || during < othersSpan {
		return nil
	}
	f := Moved{
		Read: last.Read - first.Read, Written: last.Written - first.Written,
		Own: counters.ProcessIO{Read: beyond(last.Own.Read, first.Own.Read), Written: beyond(last.Own.Written, first.Own.Written)},
	}.foreign(last.Own.Written > 0)
	by := float64(f.read + f.written)
	if share := by / (by + float64(f.own)); by > othersRate*during.Seconds() && share > o.max {
		return fmt.Errorf("%w: %.0f %% of the bytes that it moved in the last %.0f s were theirs, above the limit of %.0f %%",
			ErrOthers, 100*share, during.Seconds(), 100*o.max)
	}
	return nil
}

// foreignIO is what other programs read and wrote, and fio's own bytes.
type foreignIO struct{ read, written, own uint64 }

// foreign returns what was not fio's. Writes count only if fio itself wrote nothing, because
// writes to a file cause further writes by its filesystem.
func (m Moved) foreign(wrote bool) foreignIO {
	f := foreignIO{read: beyond(m.Read, m.Own.Read), own: m.Own.Read + m.Own.Written}
	if !wrote {
		f.written = m.Written
	}
	return f
}

// beyond returns how much all exceeds own.
func beyond(all, own uint64) uint64 { return max(all, own) - own }
