package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// NewMeasurement returns what is known of a round of p before it begins.
func NewMeasurement(id string, p record.Probe) record.Measurement {
	return record.Measurement{
		Device: id, Probe: p.Name, Start: time.Now(),
		Load: record.Load{Utilisation: -1, IOPressure: -1, OthersIOs: -1},
	}
}

// ErrGone says that the target is not there any more, or is another one. The
// session is of no further use.
var ErrGone = errors.New("the target is gone")

// Round executes one round of p, if the device may be touched now. What the round
// is worth is its outcome; the error is for what ends more than the round: ctx
// ended, ErrGone, or the load cannot be read any more.
func (s *Session) Round(ctx context.Context, p record.Probe) (record.Measurement, error) {
	m := NewMeasurement(s.target.ID, p)
	load, err := s.gate.Admit(time.Now())
	m.Load = load
	if errors.Is(err, admit.ErrBusy) {
		m.Outcome, m.Reason = record.OutcomeBusy, admit.Why(err)
		return m, nil
	} else if err != nil {
		return m, err
	}
	done, err := guard.Do(ctx, s.options.Guard, p.Timeout, func(ctx context.Context) (record.Measurement, error) {
		if err := s.handle.Acquire(); err != nil {
			return m, fmt.Errorf("%w: %w", ErrGone, err)
		}
		m, err := s.prober.Round(ctx, p)
		return m, errors.Join(err, s.handle.Release())
	})
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	var hung *guard.HungError
	switch {
	case errors.As(err, &hung):
		m.Start, m.Outcome, m.Reason = hung.Since, record.OutcomeTimeout, hung.Error()
	case err != nil:
		m.Outcome, m.Reason = record.OutcomeError, err.Error()
	default:
		m = done
	}
	m.Device = s.target.ID
	s.checkStandstill(&m)
	if errors.Is(err, ErrGone) {
		return m, err
	}
	err = s.gate.Done(time.Now(), (m.ReadBytes+m.WrittenBytes)/p.BlockBytes, &load)
	m.Load = load
	if s.gate.Blind() {
		m.Warnings = append(m.Warnings, record.Warning{
			Code: record.WarnLoadBlind,
			Text: "the device did not count most I/Os of this round: its statistics are switched off (queue/iostats), or a cache answered in its place; " +
				"the load of others is not known",
		})
	}
	s.checkLimits(&m)
	return m, err
}

// checkStandstill calls a round disturbed when this process did not run for a part of
// it: its latencies, and that it took too long, say nothing of the device.
func (s *Session) checkStandstill(m *record.Measurement) {
	stood := s.options.Guard.StoodStill()
	if stood == 0 || m.Outcome != record.OutcomeOK && m.Outcome != record.OutcomeTimeout {
		return
	}
	m.Outcome = record.OutcomeDisturbed
	m.Reason = fmt.Sprintf("this process stood still for %s: it was stopped by a signal, its container was frozen, or the machine was suspended", units.Span(stood))
}

// checkLimits calls a round disturbed when the cgroup limits I/O on the device:
// it measured the limit.
func (s *Session) checkLimits(m *record.Measurement) {
	if m.Outcome != record.OutcomeOK || s.target.Number == "" {
		return
	}
	if warning, limited := s.options.Meter.IOLimited(s.target.Number); limited {
		m.Outcome, m.Reason = record.OutcomeDisturbed, warning.Text
		m.Warnings = append(m.Warnings, warning)
	}
}
