package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/iolatency"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// timed makes eBPF programs time the I/O of applications on the watched devices, where that is possible.
type timed struct {
	fs      sysfs.FS
	log     *slog.Logger
	mode    config.IOLatency
	devices func() []traffic.Device
	flight  *flight

	unreported uint64 // slow I/Os that the flight recorder knows it lacks; the goroutine of run owns it

	mu      sync.Mutex
	tracer  *iolatency.Tracer       // nil when nothing is timed
	reason  record.IOLatencyReason  // why nothing is timed; empty until that is known
	warning *record.Warning         // a warning about the node that somebody should see
	status  *record.CollectorStatus // of the last update of the devices
}

// begin loads the programs. It must run before any thread may hang in the kernel. It returns an error when the
// configuration requires the programs and they cannot run.
func (t *timed) begin() error {
	if t.mode == config.IOLatencyNever {
		t.without(record.IOLatencyOff, nil)
		return nil
	}
	tracer, err := iolatency.Start()
	if why := (*iolatency.UnavailableError)(nil); errors.As(err, &why) {
		if t.mode == config.IOLatencyAlways {
			return fmt.Errorf("io_latency is always, but I/O cannot be timed: %w; or set io_latency to auto", err)
		}
		t.log.Info("the latency of applications' I/O is not known", "why", err)
		t.without(why.Reason, &record.Warning{Code: record.WarnIOLatency, Text: err.Error()})
		return nil
	}
	if err := iolatency.DropRights(); err != nil {
		t.log.Warn("cannot drop rights that are no longer needed", "err", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tracer = tracer
	t.log.Info("the latency of applications' I/O is timed by eBPF programs")
	return nil
}

// run keeps the tracer up to date until ctx ends, if there is one.
func (t *timed) run(ctx context.Context) error {
	if t.tracer == nil { // tracer does not change after begin
		return nil
	}
	return errors.Join(t.follow(ctx, t.tracer), t.tracer.Close())
}

func (t *timed) without(reason record.IOLatencyReason, warning *record.Warning) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reason, t.warning = reason, warning
}

// followInterval is how soon the tracer follows a new device.
const followInterval = time.Second

// follow makes the tracer follow the watched devices.
func (t *timed) follow(ctx context.Context, tracer *iolatency.Tracer) error {
	beats := time.Tick(followInterval)
	var before map[string]iolatency.Device
	for {
		start := time.Now()
		before = t.wanted(before)
		err := errors.Join(tracer.Follow(before), t.record(tracer))
		status := collected("io_latency", "", start, err)
		t.mu.Lock()
		t.status = &status
		t.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-beats:
		}
	}
}

// record passes the slowest I/Os to the flight recorder, and how many others were not reported.
func (t *timed) record(tracer *iolatency.Tracer) error {
	slow, err := tracer.Slow(t.flight.names())
	if len(slow) > 0 {
		for _, d := range t.devices() {
			t.flight.Slow(d.ID, slow[d.Number])
			delete(slow, d.Number) // another target on the same device must not record them again
		}
	}
	unreported := uint64(0)
	for _, n := range tracer.Unreported() {
		unreported += n
	}
	t.flight.Unreported(unreported - t.unreported)
	t.unreported = unreported
	return err
}

// wanted returns the watched devices by number. Devices in before are not examined again.
func (t *timed) wanted(before map[string]iolatency.Device) map[string]iolatency.Device {
	wanted := map[string]iolatency.Device{}
	for _, d := range t.devices() {
		w, ok := before[d.Number]
		if !ok || w.ID != d.ID { // or another device has got the number
			w.ID = d.ID
			_, err := t.fs.List(path.Join("/sys/dev/block", d.Number, "mq"))
			w.Requests = err == nil
		}
		w.Run = d.Run || wanted[d.Number].Run // or of another target on the device
		wanted[d.Number] = w
	}
	return wanted
}

// fill adds the latency of applications' I/O to a snapshot.
func (t *timed) fill(s *record.Snapshot) {
	t.mu.Lock()
	tracer, reason, warning, status := t.tracer, t.reason, t.warning, t.status
	t.mu.Unlock()
	if warning != nil {
		s.Warnings = append(s.Warnings, *warning)
	}
	if tracer != nil {
		s.IOLatencyMissed, s.IOLatencyUnreported = tracer.Missed(), tracer.Unreported()
	}
	if status != nil {
		s.Collectors = append(s.Collectors, *status)
	}
	for i := range s.Targets {
		target := &s.Targets[i]
		switch {
		case tracer != nil:
			target.IOLatency = tracer.Of(target.Device.Number)
		case reason != "":
			target.IOLatency = &record.IOLatency{Unavailable: reason}
		}
	}
}
