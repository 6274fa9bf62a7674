package run

import (
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// summing sums up the rounds of one probe. The good rounds are the result. If there are
// none, the disturbed rounds replace them, with a warning.
type summing struct {
	probe           record.Probe
	rounds, good    int
	issued          int64 // I/Os including those of the warm-up and search
	ok, disturbed   totals
	errors          map[string]int64
	warnings        []record.Warning
	last            string // reason why the last bad round was not good
	disturbedRounds int
}

type totals struct {
	latency     record.Histogram
	span        time.Duration
	disturbance record.Disturbance
}

func (t *totals) add(m record.Measurement) {
	t.latency = record.Merge(t.latency, m.Latency)
	t.span += m.Duration
	t.disturbance.CPUWait += m.Disturbance.CPUWait
	t.disturbance.Throttled += m.Disturbance.Throttled
	t.disturbance.InvoluntarySwitches += m.Disturbance.InvoluntarySwitches
}

func (s *summing) add(m record.Measurement) {
	s.rounds++
	s.issued += (m.ReadBytes + m.WrittenBytes) / s.probe.BlockBytes
	for name, n := range m.Errors {
		if s.errors == nil {
			s.errors = map[string]int64{}
		}
		s.errors[name] += n
	}
	for _, w := range m.Warnings {
		if i := slices.IndexFunc(s.warnings, func(have record.Warning) bool { return have.Code == w.Code }); i >= 0 {
			s.warnings[i] = w // keep the latest of each kind
		} else {
			s.warnings = append(s.warnings, w)
		}
	}
	switch m.Outcome {
	case record.OutcomeOK:
		s.good++
		s.ok.add(m)
		return
	case record.OutcomeDisturbed:
		s.disturbedRounds++
		s.disturbed.add(m)
	default: // measured nothing useful
	}
	s.last = fmt.Sprintf("%s: %s", m.Outcome, m.Reason)
}

// step returns the result of the rounds.
func (s *summing) step(interruptsPerIO float64) record.Step {
	step := record.Step{
		Name: s.probe.Name, Plan: s.probe.String(), Errors: s.errors,
		Warnings: s.warnings, InterruptsPerIO: interruptsPerIO,
	}
	use := s.ok
	if s.good == 0 {
		use = s.disturbed
	} else { // no good round is impossible; for the others, the few-samples warning has the reason
		step.Warnings = slices.DeleteFunc(slices.Clone(s.warnings), func(w record.Warning) bool { return w.Code == record.WarnImpossible })
	}
	switch {
	case s.good == 0 && s.disturbedRounds > 0:
		step.Warnings = append(step.Warnings, record.Warning{
			Code: record.WarnDisturbed, Text: "every round was disturbed, so the CPU was measured along with the drive: " + s.last,
		})
	case s.last != "" && 2*s.good < s.rounds: // the disturbance rarely ended just where a round began
		step.Warnings = append(step.Warnings, record.Warning{
			Code: record.WarnDisturbed, Text: fmt.Sprintf("%d of %d rounds did not count, so the others may be disturbed, too; the last because: %s", s.rounds-s.good, s.rounds, s.last),
		})
	case s.last != "":
		step.Warnings = append(step.Warnings, record.Warning{
			Code: record.WarnFewSamples, Text: fmt.Sprintf("%d of %d rounds did not count; the last because: %s", s.rounds-s.good, s.rounds, s.last),
		})
	}
	step.Duration, step.Disturbance = use.span, use.disturbance
	if use.span <= 0 || use.latency.Count() == 0 {
		return step
	}
	step.Disturbance.CPUWaitRatio = min(1, use.disturbance.CPUWait.Seconds()/use.span.Seconds())
	n := use.latency.Count()
	result := &record.Result{
		IOs: n, Bytes: n * s.probe.BlockBytes, Latency: use.latency,
		IOPS: float64(n) / use.span.Seconds(), BytesPerSecond: float64(n*s.probe.BlockBytes) / use.span.Seconds(),
		Min: use.latency.Min(), Mean: use.latency.Mean(), Max: use.latency.Max(),
	}
	if s.probe.Direction == record.Write {
		step.Write = result
	} else {
		step.Read = result
	}
	return step
}
