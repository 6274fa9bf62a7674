package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Round is a round to execute, with what is known about the target at that moment.
type Round struct {
	Probe      record.Probe
	Conditions record.Conditions
	// Link is the PCIe link of the device; nil if it has none.
	Link *record.PCIeLink
	// Budget is charged with what the round writes, at BytesPerDay; nil if writes are unlimited.
	Budget      *admit.Budget
	BytesPerDay int64
	// Overdue says that the probe has had no round for too long. A small round may then run however busy the device is,
	// unless a limit of the user forbids it.
	Overdue bool
}

// small returns p with its I/Os reduced to what a busy device may be asked for.
func small(p record.Probe) record.Probe {
	p.IOs, p.WarmupIOs = min(p.IOs, admit.ForcedIOs), min(p.WarmupIOs, admit.ForcedWarmupIOs)
	p.QueueDepth = min(p.QueueDepth, p.IOs)
	return p
}

// ErrGone says that the target no longer exists or has been replaced. The session cannot be used any further.
var ErrGone = errors.New("the target is gone")

// Round executes a round if the device may be touched now. The measurement is final: its outcome says what it is worth,
// and its reason says why. An error means trouble beyond this round: ctx has ended, and the outcome of the round is
// unknown; the target is gone (ErrGone); or the load can no longer be read.
func (s *Session) Round(ctx context.Context, r Round) (record.Measurement, error) {
	m := record.Measurement{
		Device: s.target.ID, Probe: r.Probe.Name, Start: time.Now(), Conditions: r.Conditions,
		Load: record.UnknownLoad(),
	}
	asked := r.Probe
	r.Probe = s.prober.Fit(asked)
	done, err := s.begin(&m, r)
	if err != nil || m.Outcome != "" {
		return m, err
	}
	defer done()
	if m.Loaded {
		asked = small(asked)
	}
	err = s.execute(ctx, &m, asked)
	if r.Budget != nil {
		r.Budget.Charge(time.Now(), mayHaveWritten(m, s.prober.Fit(asked), err), r.BytesPerDay)
	}
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	s.checkStandstill(&m)
	if errors.Is(err, ErrGone) {
		return m, err
	}
	err = s.gate.Done(time.Now(), (m.ReadBytes+m.WrittenBytes)/r.Probe.BlockBytes, &m.Load)
	if s.gate.Blind() {
		m.Warnings = append(m.Warnings, record.Warning{
			Code: record.WarnLoadBlind,
			Text: "the device did not count most I/Os of this round: its statistics are switched off (queue/iostats), or a cache answered instead; " +
				"the load of others is not known",
		})
	}
	s.checkLimits(&m)
	checkLink(&m, r)
	return m, err
}

// begin sets the outcome of a round that cannot run now, or returns the function that ends a round that can. Errors:
// those of reading the load.
func (s *Session) begin(m *record.Measurement, r Round) (done func(), err error) {
	if since := s.options.Guard.Since(); !since.IsZero() {
		m.Outcome, m.Reason = record.OutcomeTimeout, (&guard.HungError{Since: since, Earlier: true}).Error()
		return nil, nil
	}
	if r.Budget != nil && r.Probe.Direction == record.Write {
		if err := r.Budget.Allow(m.Start, r.Probe.RoundBytes(), r.BytesPerDay); err != nil {
			m.Outcome, m.Reason = record.OutcomeBusy, admit.Why(err)
			return nil, nil
		}
	}
	done, err = s.lock()
	if err != nil {
		s.HadRun()
		m.Outcome, m.Reason = record.OutcomeBusy, admit.Why(err)
		return nil, nil
	}
	if m.Load, err = s.gate.Admit(time.Now()); err == nil {
		return done, nil
	}
	if m.Loaded = r.Overdue && s.gate.MayForce(err); m.Loaded {
		return done, nil
	}
	done()
	if errors.Is(err, admit.ErrBusy) {
		m.Outcome, m.Reason = record.OutcomeBusy, admit.Why(err)
		return nil, nil
	}
	m.Outcome, m.Reason = record.OutcomeError, err.Error()
	return nil, err
}

// lock locks the device, unless the caller holds the lock, and returns the function that unlocks it. A round that hangs
// keeps its lock until the kernel returns the thread.
func (s *Session) lock() (done func(), err error) {
	if s.options.Lock == nil {
		return func() {}, nil
	}
	release, err := s.options.Lock()
	if errors.Is(err, store.ErrLocked) {
		return nil, fmt.Errorf("another run of ssdprobe uses the device: %w", err)
	} else if err != nil {
		return nil, err
	}
	return func() { s.options.Guard.Finally(release) }, nil
}

// execute executes the I/O of a round through the guard. It returns ErrGone if the target is gone. It sets m in any
// case.
func (s *Session) execute(ctx context.Context, m *record.Measurement, p record.Probe) error {
	given := *m
	done, err := guard.DoLate(ctx, s.options.Guard, p.Timeout, func(ctx context.Context) (record.Measurement, error) {
		if err := s.handle.Acquire(); err != nil {
			return record.Measurement{}, fmt.Errorf("%w: %w", ErrGone, err)
		}
		s.prober.Sparing = given.Loaded
		m, err := s.prober.Round(ctx, p)
		return m, errors.Join(err, s.handle.Release())
	}, func(late record.Measurement, err error) { s.returned(late, given, err) })
	var hung *guard.HungError
	switch {
	case errors.As(err, &hung):
		m.Start, m.Outcome, m.Reason = hung.Since, record.OutcomeTimeout, hung.Error()
	case err != nil:
		m.Outcome, m.Reason = record.OutcomeError, err.Error()
	default:
		done.Device, done.Loaded, done.Load, done.Conditions = m.Device, m.Loaded, m.Load, m.Conditions
		*m = done
	}
	return err
}

// mayHaveWritten returns how many bytes a round wrote. A round that hangs, was canceled or failed does not say how many: it
// counts as a whole, unless the device was gone before.
func mayHaveWritten(m record.Measurement, p record.Probe, err error) int64 {
	if p.Direction == record.Write && err != nil && !errors.Is(err, ErrGone) {
		return p.RoundBytes()
	}
	return m.WrittenBytes
}

// returned passes on a round that was given up and has returned after all, unless this process itself stood still.
func (s *Session) returned(late, given record.Measurement, err error) {
	if err != nil || s.options.Late == nil || s.options.Guard.StoodStill() > 0 {
		return
	}
	late.Device, late.Loaded, late.Load, late.Conditions = given.Device, given.Loaded, given.Load, given.Conditions
	s.options.Late(late)
}

// disturb marks a good round as one that measured something other than the device.
func disturb(m *record.Measurement, w record.Warning) {
	m.Outcome, m.Reason = record.OutcomeDisturbed, w.Text
	m.Warnings = append(m.Warnings, w)
}

// checkStandstill marks a round as disturbed if this process did not run for a part of it: its latencies, or its
// timeout, then say nothing about the device.
func (s *Session) checkStandstill(m *record.Measurement) {
	stood := s.options.Guard.StoodStill()
	if stood == 0 || m.Outcome != record.OutcomeOK && m.Outcome != record.OutcomeTimeout {
		return
	}
	m.Outcome = record.OutcomeDisturbed
	m.Reason = fmt.Sprintf("this process stood still for %s: it was stopped by a signal, its container was frozen, or the machine was suspended", units.Span(stood))
}

// checkLimits marks a round as disturbed if the cgroup limits I/O on the device: the round then measured that limit.
func (s *Session) checkLimits(m *record.Measurement) {
	if m.Outcome != record.OutcomeOK || s.target.Number == "" {
		return
	}
	if warning, limited := s.options.Meter.IOLimited(s.target.Number); limited {
		disturb(m, warning)
	}
}

// checkLink marks a good round as disturbed if its figures exceed what the device's link can carry. It then measured
// something other than the drive and must not become part of a baseline. A device without a link passes.
func checkLink(m *record.Measurement, r Round) {
	if r.Link == nil || m.Outcome != record.OutcomeOK {
		return
	}
	w, bad := r.Link.Impossible(m.IOPS()*float64(r.Probe.BlockBytes), r.Probe.BlockBytes, m.Latency.Quantile(0.5))
	if bad {
		disturb(m, w)
	}
}
