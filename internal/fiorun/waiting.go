package fiorun

import (
	"errors"
	"os"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// waitingLook is how often fio's threads are checked. What a thread does after the last
// check is unknown, because its counters disappear with it.
const waitingLook = 500 * time.Millisecond

// waiting tracks how long the threads of fio that do I/O wait for a CPU.
type waiting struct {
	fs      sysfs.FS
	present map[int]*span // keyed by thread id
	all     []*span
}

// span is what is known about one thread, between the first check of it and the last.
type span struct {
	first, last counters.Thread
	from, to    time.Time
}

// look reads the counters of all present threads. It leaves out the first thread of
// fio, which only waits for the others. If jobs are processes, they are children of
// fio.
func (w *waiting) look(fio int, now time.Time) error {
	tasks, err := counters.ReadTasks(w.fs, fio)
	if err != nil {
		return unlessGone(err)
	}
	delete(tasks, fio)
	w.add(tasks, now)
	children, err := counters.ReadChildren(w.fs, fio)
	if err != nil {
		return unlessGone(err)
	}
	for _, child := range children {
		tasks, err := counters.ReadTasks(w.fs, child)
		if unlessGone(err) != nil {
			return err
		}
		w.add(tasks, now)
	}
	return nil
}

func unlessGone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (w *waiting) add(tasks map[int]counters.Thread, now time.Time) {
	for tid, t := range tasks {
		s, known := w.present[tid]
		if !known || t.Ran < s.last.Ran || t.Wait < s.last.Wait { // another thread has reused the id
			s = &span{first: t, from: now}
			w.all = append(w.all, s)
			if w.present == nil {
				w.present = map[int]*span{}
			}
			w.present[tid] = s
		}
		s.last, s.to = t, now
	}
}

// ratio returns the share (0 to 1) of the time for which threads waited, averaged over
// the threads. They are weighted by how long they ran or wanted to, because fio also
// has a thread that only wakes up to print the status. It is nil if no thread was seen
// twice.
func (w *waiting) ratio() *float64 {
	var sum, weights float64
	for _, s := range w.all {
		if during := s.to.Sub(s.from).Seconds(); during > 0 {
			did := s.last.Sub(s.first)
			weight := (did.Ran + did.Wait).Seconds()
			sum += weight * min(1, did.Wait.Seconds()/during)
			weights += weight
		}
	}
	if weights == 0 {
		return nil
	}
	return new(sum / weights)
}
