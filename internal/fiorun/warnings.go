package fiorun

import (
	"fmt"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

const (
	// cpuBound is the share of a CPU from which on the CPU is considered the limit.
	cpuBound = 0.9
	// throttledShare is the share of the time for which a CPU quota may stop threads.
	throttledShare = 0.01
	// waitedShare is the share of the time for which fio's threads may wait for a CPU.
	waitedShare = 0.05
	// pressedShare is the share of the time with some task waiting for a CPU from which
	// on figures are doubtful.
	pressedShare = 0.3
	// othersShare of fio's own bytes, but at least othersBytes, is what others may read
	// and write: the journal of a filesystem does that much.
	othersShare = 0.02
	othersBytes = 256 << 10
)

// warnings returns what makes the figures of a step doubtful.
func (r Run) warnings(s record.Step, jobs []fio.JobResult) []record.Warning {
	var all []record.Warning
	add := func(code, text string) {
		if text != "" {
			all = append(all, record.Warning{Code: code, Text: text})
		}
	}
	if r.Stopped != nil {
		add(record.WarnShort, fmt.Sprintf("Stopped before its end: %v.", r.Stopped))
	}
	add(record.WarnErrors, r.errorsText(s))
	add(record.WarnMethod, TrimText(jobs))
	add(record.WarnBrief, BriefText(s))
	cpus := r.cpus()
	limited := cpuText(s, jobs, cpus)
	add(record.WarnCPUBound, limited)
	if limit := time.Duration(float64(r.Duration) * throttledShare); r.Seen.Throttled > limit {
		add(record.WarnDisturbed, fmt.Sprintf(
			"The CPU quota of the control group stopped threads for %s in %s: raise it (cpu.max, a container's CPU limit) and repeat.",
			units.Span(r.Seen.Throttled), units.Span(r.Duration)))
	}
	if code, text := r.waitingText(s, cpus); code != record.WarnCPUBound || limited == "" {
		add(code, text)
	}
	if r.Seen.StoodStill > 0 {
		add(record.WarnDisturbed, fmt.Sprintf(
			"ssdprobe stood still for %s, and fio most likely too: a signal, a frozen container or a suspended machine stopped it; repeat.",
			units.Span(r.Seen.StoodStill)))
	}
	add(record.WarnOthersActive, r.othersText())
	add(record.WarnLoadBlind, r.blindText())
	if s.Depth != nil {
		if w, bad := s.Depth.Warning(); bad {
			all = append(all, w)
		}
	}
	if s.InterruptsPerSecond > record.MostInterrupts {
		add(record.WarnInterrupts, fmt.Sprintf("The drive interrupted %.2f million times a second, and a host should stay below %.1f million from all drives: "+
			"switch on interrupt coalescing, or use polled queues.", s.InterruptsPerSecond/1e6, record.MostInterrupts/1e6))
	}
	if len(r.Seen.Problems) > 0 {
		add(record.WarnDisturbanceBlind, fmt.Sprintf("Could not look at %s.", strings.Join(r.Seen.Problems, "; ")))
	}
	return all
}

// waitingText says that a CPU was waited for: by fio's own threads or, if that is
// unknown, by any task of the host. If fio itself used most of the CPUs it was allowed,
// its jobs waited for each other.
func (r Run) waitingText(s record.Step, cpus int) (code, text string) {
	who, share, limit := "The threads of fio", 0.0, waitedShare
	switch {
	case r.Seen.CPUWait != nil:
		share = *r.Seen.CPUWait
	case r.Seen.CPUPressure != nil && r.Duration > 0:
		who, share, limit = "Tasks of this host", r.Seen.CPUPressure.Seconds()/r.Duration.Seconds(), pressedShare
	}
	switch own := (s.UserCPU + s.SystemCPU) / float64(cpus); {
	case share <= limit:
		return "", ""
	case own >= 0.5:
		return record.WarnCPUBound, fmt.Sprintf(
			"%s waited for a CPU for %.0f %% of the time, and fio itself used %.0f %% of those that it may use: they were the limit, not the drive.",
			who, 100*share, 100*own)
	default:
		return record.WarnDisturbed, fmt.Sprintf(
			"%s waited for a CPU for %.0f %% of the time: the CPUs were measured along with the drive; repeat when the host is calm.",
			who, 100*share)
	}
}

func (r Run) errorsText(s record.Step) string {
	var failed int64
	for _, n := range s.Errors {
		failed += n
	}
	switch {
	case failed > 0:
		return fmt.Sprintf("%d I/Os failed and are not in the figures: look at the kernel's log and the drive's error log%s.", failed, r.Messages)
	case r.Ended != "" && r.Stopped == nil:
		return fmt.Sprintf("fio did not end well, %s%s.", r.Ended, r.Messages)
	}
	return ""
}

// brief is the time below which a step is too short. fio counts whole milliseconds, so that rates are off by 5 % here.
const brief = 20 * time.Millisecond

// BriefText says that a step was too short for the clock of fio; empty if it was not.
func BriefText(s record.Step) string {
	if s.Duration <= 0 || s.Duration >= brief {
		return ""
	}
	return fmt.Sprintf("This took %d ms, and fio counts whole milliseconds, so the rates may be off by %s: measure more data or for longer.",
		s.Duration.Milliseconds(), units.Percent(float64(time.Millisecond)/float64(s.Duration)))
}

// cpuText says that the CPUs were the limit: one job used up its CPU, or all jobs
// together used up all that they were allowed.
func cpuText(s record.Step, jobs []fio.JobResult, cpus int) string {
	if text := OneCPUText(jobs); text != "" {
		return text
	}
	if used := s.UserCPU + s.SystemCPU; used >= cpuBound*float64(cpus) {
		return fmt.Sprintf("The load generator used %.1f of its %d CPUs: they were the limit, not the drive; use a machine with more.", used, cpus)
	}
	return ""
}

// OneCPUText says that one of the jobs used up its CPU; empty if none did.
func OneCPUText(jobs []fio.JobResult) string {
	most := 0.0
	for _, job := range jobs {
		most = max(most, job.UserCPU+job.SystemCPU)
	}
	if most < cpuBound {
		return ""
	}
	return fmt.Sprintf("The load generator used %.0f %% of one CPU: the CPU was the limit, not the drive; use more jobs.", 100*most)
}

// TrimText says that the jobs trimmed blocks, which a step has no figures of; empty if they did
// not.
func TrimText(jobs []fio.JobResult) string {
	var trimmed uint64
	for _, job := range jobs {
		trimmed += bytesOf(job.Trim)
	}
	if trimmed == 0 {
		return ""
	}
	return fmt.Sprintf("fio trimmed blocks, %s in all: no figure here counts that.", units.DriveSize(trimmed))
}

// blindText says why it is not known whether others used the devices. It is empty if it is known, if the devices
// are not, or if the run was too short to look at.
func (r Run) blindText() string {
	var counted bool // at least half of what fio did
	m := r.Seen.Moved
	switch read, written, ok := r.ownBytes(); {
	case ok && r.Seen.Disk != nil:
		counted = sectorsOf(*r.Seen.Disk).Bytes() >= (read+written)/2
	case !r.Seen.counts() || r.Duration < 4*waitingLook:
		return ""
	case m == nil || m.Own == (counters.ProcessIO{}):
		return "The kernel did not count what fio moved (/proc/PID/io), so its I/O cannot be told from that of others. " +
			"Whether they used the device is not known."
	default: // what fio wrote may still be in the page cache
		counted = m.Read >= m.Own.Read/2
	}
	if counted {
		return ""
	}
	return "The device did not count most of these I/Os: its statistics are switched off (queue/iostats), or a cache answered in its place. " +
		"Whether others used it is not known."
}

// foreign compares what the devices did with what fio did; ok is false if that is unknown. exact
// says that it was compared for the whole run, with fio's own count.
func (r Run) foreign() (o foreignIO, exact, ok bool) {
	if read, written, ok := r.ownBytes(); ok && r.Seen.Disk != nil {
		return Moved{
			Read: r.Seen.Disk.ReadSectors.Bytes(), Written: r.Seen.Disk.WriteSectors.Bytes(),
			Own: counters.ProcessIO{Read: read, Written: written},
		}.foreign(written > 0), true, true
	}
	m := r.Seen.Moved
	if m == nil || m.Own == (counters.ProcessIO{}) {
		return foreignIO{}, false, false
	}
	return m.foreign(m.Own.Written > 0), false, true
}

// othersRatio returns what others did as a share of what fio did, by bytes or by I/Os,
// whichever is larger; 0 if unknown. The requests that the kernel makes of one large I/O are not
// those of others.
func (r Run) othersRatio(s record.Step) float64 {
	o, exact, ok := r.foreign()
	if !ok {
		return 0
	}
	bytes := float64(o.read+o.written) / float64(o.own)
	if !exact {
		return bytes
	}
	var own, all uint64
	if s.Read != nil {
		own, all = uint64(s.Read.IOs), r.Seen.Disk.ReadIOs
	}
	if s.Write != nil {
		own += uint64(s.Write.IOs)
	}
	if o.written > 0 || s.Write != nil {
		all += r.Seen.Disk.WriteIOs
	}
	if own == 0 {
		return 0
	}
	others := beyond(all, own)
	if len(r.Seen.Groups) > 0 {
		if most := uint64(r.Seen.Groups[0].Queue.MaxRequestBytes); most > 0 {
			others = beyond(others, beyond(o.own/most, own))
		}
	}
	if s.Write == nil { // all that others moved is known, and so how many requests it was at most
		others = min(others, (o.read+o.written)/512)
	}
	return max(bytes, float64(others)/float64(own))
}

func (r Run) othersText() string {
	o, _, ok := r.foreign()
	if !ok || float64(o.read+o.written) <= max(othersBytes, othersShare*float64(o.own)) {
		return ""
	}
	return fmt.Sprintf("Others used the device meanwhile: they read %s and wrote %s, beside the %s of this run; repeat when it is idle.",
		units.DriveSize(o.read), units.DriveSize(o.written), units.DriveSize(o.own))
}
