package fiorun

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// standstill is the time between two checks from which on this process counts as having stood
// still.
const standstill = waitingLook + 2*time.Second

// Watch says what to watch besides fio. Whether fio was throttled is always watched; what its
// device did is watched if the device is known.
type Watch struct {
	// FS gives this process's own view of /proc and /sys; the zero value is the machine's.
	FS sysfs.FS
	// Device is the kernel's number of the device to which the I/O goes ("259:0"); empty if it is
	// unknown or there are several.
	Device string
	// Groups are the numbers of the devices of the groups of jobs, in the order of the groups;
	// empty if one is unknown.
	Groups []string
	// MaxOthers is the share (0 to 1) of the bytes moved by the devices that others may move. If
	// they exceed it for some seconds, the run is stopped with ErrOthers. 0 means no limit.
	MaxOthers float64
	// Controllers are the names of the device's interrupts in /proc/interrupts ("nvme0"); empty if
	// unknown.
	Controllers []string
}

// Seen is what happened besides fio from its start to its end.
type Seen struct {
	// Throttled is how long the CPU quota of the control group stopped threads, including those of
	// fio, summed over CPUs.
	Throttled time.Duration
	// Disk is what the device did, including fio's I/O; nil if unknown.
	Disk *counters.Disk
	// Groups is what the device of each group did; empty if unknown.
	Groups []SeenGroup
	// Moved is what the devices and fio moved up to shortly before fio ended; nil if unknown.
	Moved *Moved
	// Interrupts is the number of interrupts of the controllers; nil if unknown.
	Interrupts *uint64
	// CPUWait is the share (0 to 1) of the time for which fio's own threads waited for a CPU. It
	// is nil if unknown: if the kernel does not count it, or the run took less than about a
	// second.
	CPUWait *float64
	// CPUPressure is how long some task of the host waited for a CPU; nil if the kernel does not
	// count it.
	CPUPressure *time.Duration
	// StoodStill is the longest time for which this process did not run, and so most likely
	// neither did fio: a frozen container, a suspended machine. It is 0 if it is shorter than
	// standstill.
	StoodStill time.Duration
	// Problems says what could not be watched, and why.
	Problems []string
}

// counts reports whether the counters of all devices could be read.
func (s Seen) counts() bool {
	return s.Disk != nil || len(s.Groups) > 0 && !slices.ContainsFunc(s.Groups, func(g SeenGroup) bool { return g.Disk == nil })
}

// SeenGroup is what the device of a group of jobs did.
type SeenGroup struct {
	// Disk is everything that it did during the run; nil if unknown.
	Disk  *counters.Disk
	Queue counters.Queue // as of the beginning
}

// seeing holds the counters at the beginning of a run, and what was seen since.
type seeing struct {
	watch      Watch
	cgroup     *counters.CGroup
	throttled  time.Duration
	disk       *counters.Disk
	groups     []SeenGroup // with the counters as of the beginning
	interrupts []counters.Interrupt
	pressure   *time.Duration
	threads    waiting
	others     others
	problems   []string
	looked     time.Time // time of the last check
	stood      time.Duration
}

func (w Watch) begin() *seeing {
	s := &seeing{watch: w, threads: waiting{fs: w.FS}, looked: time.Now()}
	cgroup, err := counters.FindCGroup(w.FS)
	if err == nil {
		s.throttled, err = cgroup.Throttled()
	}
	switch {
	case err == nil:
		s.cgroup = &cgroup
	case !errors.Is(err, os.ErrNotExist): // without a control group, there is no quota
		s.note("throttling", err)
	}
	disks, err := w.readDisks()
	if s.disk = w.single(disks); err == nil && w.Device != "" && s.disk == nil {
		err = fmt.Errorf("no device %s in /proc/diskstats", w.Device)
	}
	s.note("the device's I/O", err)
	s.others = newOthers(w, disks)
	s.groups, err = w.readGroups(disks)
	s.note("the queue depth", err)
	s.interrupts, err = counters.ReadInterrupts(w.FS, w.Controllers)
	s.note("interrupts", err)
	s.pressure = w.readPressure()
	return s
}

func (s *seeing) end() Seen {
	var seen Seen
	if s.cgroup != nil {
		now, err := s.cgroup.Throttled()
		s.note("throttling", err)
		if err == nil {
			seen.Throttled = max(0, now-s.throttled)
		}
	}
	disks, err := s.watch.readDisks()
	s.note("the device's I/O", err)
	if now := s.watch.single(disks); s.disk != nil && now != nil {
		if since, ok := now.Since(*s.disk); ok {
			seen.Disk = &since
		}
	}
	groups, err := s.watch.readGroups(disks)
	s.note("the queue depth", err)
	seen.Groups = sinceGroups(s.groups, groups)
	if n := len(s.others.looks); n > 0 && !s.others.partly {
		seen.Moved = &s.others.looks[n-1]
	}
	if len(s.interrupts) > 0 {
		now, err := counters.ReadInterrupts(s.watch.FS, s.watch.Controllers)
		s.note("interrupts", err)
		if n, ok := counters.InterruptsSince(now, s.interrupts); ok {
			seen.Interrupts = &n
		}
	}
	if now := s.watch.readPressure(); s.pressure != nil && now != nil {
		seen.CPUPressure = new(max(0, *now-*s.pressure))
	}
	seen.CPUWait = s.threads.ratio()
	s.lookAtClock(time.Now())
	seen.StoodStill = s.stood
	seen.Problems = s.problems
	return seen
}

// during checks fio and its device while fio runs. The error matches ErrGone or ErrOthers.
func (s *seeing) during(fio int) error {
	now := time.Now()
	s.lookAtClock(now)
	s.note("the threads of fio", s.threads.look(fio, now))
	disks, err := s.watch.readDisks()
	if err != nil {
		s.note("the I/O of others, and whether the device is there", err)
		return nil
	}
	if err := s.gone(disks); err != nil {
		return err
	}
	if err = s.others.look(s.watch.FS, fio, disks, now); errors.Is(err, ErrOthers) {
		return err
	}
	s.note("the I/O of others", err)
	return nil
}

// gone returns an error that matches ErrGone if a device that was there at the beginning is not there now.
func (s *seeing) gone(disks counters.Disks) error {
	before := s.groups
	if s.disk != nil {
		before = append([]SeenGroup{{Disk: s.disk}}, before...)
	}
	for _, b := range before {
		if b.Disk == nil {
			continue
		}
		if _, ok := disks.ByNumber(b.Disk.Number); !ok {
			return fmt.Errorf("%w: %s", ErrGone, b.Disk.Name)
		}
	}
	return nil
}

// lookAtClock detects that much more time has passed since the last check than normal.
func (s *seeing) lookAtClock(now time.Time) {
	if gap := now.Sub(s.looked); gap > standstill {
		s.stood = max(s.stood, gap)
	}
	s.looked = now
}

// note records a problem, unless err is nil or the problem was recorded before.
func (s *seeing) note(what string, err error) {
	if err == nil {
		return
	}
	if problem := fmt.Sprintf("%s: %v", what, err); !slices.Contains(s.problems, problem) {
		s.problems = append(s.problems, problem)
	}
}

// devices returns the distinct numbers of all devices.
func (w Watch) devices() []string {
	all := w.Groups
	if w.Device != "" {
		all = append([]string{w.Device}, all...)
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// readDisks returns nothing if no device is to be watched.
func (w Watch) readDisks() (counters.Disks, error) {
	if len(w.devices()) == 0 {
		return nil, nil
	}
	return counters.ReadDisks(w.FS)
}

// single returns what a single device has done so far; nil if it is not there.
func (w Watch) single(disks counters.Disks) *counters.Disk {
	disk, ok := disks.ByNumber(w.Device)
	if !ok {
		return nil
	}
	return &disk
}

// readGroups returns the counters and reads the queue of each group's device.
func (w Watch) readGroups(disks counters.Disks) ([]SeenGroup, error) {
	groups := make([]SeenGroup, len(w.Groups))
	for i, number := range w.Groups {
		if disk, ok := disks.ByNumber(number); ok {
			groups[i].Disk = &disk
		}
		var err error
		if groups[i].Queue, err = counters.ReadQueue(w.FS, number); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

// sinceGroups returns what the devices did between two readings.
func sinceGroups(before, after []SeenGroup) []SeenGroup {
	if len(before) != len(after) {
		return nil
	}
	all := make([]SeenGroup, len(before))
	for i := range before {
		all[i].Queue = before[i].Queue
		if before[i].Disk == nil || after[i].Disk == nil {
			continue
		}
		if since, ok := after[i].Disk.Since(*before[i].Disk); ok {
			all[i].Disk = &since
		}
	}
	return all
}

// readPressure returns nil if the kernel does not count pressure, which is not a problem.
func (w Watch) readPressure() *time.Duration {
	p, err := counters.ReadCPUPressure(w.FS)
	if err != nil {
		return nil
	}
	return &p.Some.Total
}
