package fiorun

import (
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
)

const (
	// othersSpan is the period over which others are compared with fio while it runs.
	othersSpan = 5 * time.Second
	// othersRate is how many bytes per second others may always move: a filesystem's
	// housekeeping, when fio hardly does anything.
	othersRate = 1 << 20
)

// others compares what the device does with what fio does, while fio runs.
type others struct {
	watch Watch
	// own holds the last known counters of each process of fio.
	own   map[int]counters.ProcessIO
	looks []othersLook // over the last othersSpan and a little more
}

// othersLook holds all counters at one time, in bytes.
type othersLook struct {
	at  time.Time
	all *counters.Disk
	own counters.ProcessIO
}

// look returns an error that matches ErrOthers if others have moved more than their
// share for some seconds. If the kernel does not count fio's I/O, it returns nil.
func (o *others) look(fio int, now time.Time) error {
	if o.watch.MaxOthers <= 0 || o.watch.Device == "" {
		return nil
	}
	children, err := counters.ReadChildren(o.watch.FS, fio)
	if err != nil {
		return unlessGone(err)
	}
	for _, pid := range append(children, fio) {
		done, err := counters.ReadProcessIO(o.watch.FS, pid)
		switch {
		case err == nil && o.own == nil:
			o.own = map[int]counters.ProcessIO{pid: done}
		case err == nil:
			o.own[pid] = done
		case unlessGone(err) != nil:
			return err
		}
	}
	if len(o.own) == 0 {
		return nil
	}
	l := othersLook{at: now}
	for _, p := range o.own {
		l.own.Read += p.Read
		l.own.Written += p.Written
	}
	if l.all, err = o.watch.readDisk(); err != nil {
		return err
	}
	o.looks = append(o.looks, l)
	for len(o.looks) > 1 && now.Sub(o.looks[1].at) >= othersSpan {
		o.looks = o.looks[1:]
	}
	return o.judge()
}

// judge compares the newest look with the oldest. Writes count only if fio itself wrote
// nothing, because writes to a file cause further writes by its filesystem.
func (o *others) judge() error {
	first, last := o.looks[0], o.looks[len(o.looks)-1]
	during := last.at.Sub(first.at)
	since, ok := last.all.Since(*first.all)
	if !ok || during < othersSpan {
		return nil
	}
	read, written := last.own.Read-first.own.Read, last.own.Written-first.own.Written
	by := float64(beyond(since.ReadSectors.Bytes(), read))
	if last.own.Written == 0 {
		by += float64(since.WriteSectors.Bytes())
	}
	if share := by / (by + float64(read+written)); by > othersRate*during.Seconds() && share > o.watch.MaxOthers {
		return fmt.Errorf("%w: %.0f %% of the bytes that it moved in the last %.0f s were theirs, above the limit of %.0f %%",
			ErrOthers, 100*share, during.Seconds(), 100*o.watch.MaxOthers)
	}
	return nil
}

// beyond returns how much all exceeds own.
func beyond(all, own uint64) uint64 { return max(all, own) - own }
