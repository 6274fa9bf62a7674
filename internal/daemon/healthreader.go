package daemon

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
)

// healthCollector is the collector name of health readings.
const healthCollector = "health"

// healthReader reads one controller or drive periodically.
type healthReader struct {
	keeper   *keeper
	source   health.Source
	interval time.Duration
	reader   *health.Reader
	log      *slog.Logger
	cancel   context.CancelFunc
	done     chan struct{}
	first    chan struct{} // closed when the first reading is over

	mu        sync.Mutex
	now       health.Reading
	known     *record.Health // from the last reading that succeeded
	collector record.CollectorStatus
}

// Run reads until ctx ends.
func (r *healthReader) Run(ctx context.Context) {
	defer close(r.done)
	for first := true; ctx.Err() == nil; first = false {
		start := time.Now()
		err := r.read(ctx)
		if ctx.Err() == nil {
			r.report(start, err)
		}
		if first {
			close(r.first)
		}
		schedule.Pause(ctx, r.interval)
	}
}

// report records the result of a reading, and logs a change.
func (r *healthReader) report(start time.Time, err error) {
	status := collected(healthCollector, "", start, err)
	r.mu.Lock()
	before := r.collector
	r.collector = status
	r.mu.Unlock()
	switch missing := health.Denied(err); {
	case missing != "":
		if r.keeper.news(missing) {
			r.keeper.log.Warn("the health of drives cannot be read; probes go on without", "reason", missing)
		}
	case err != nil && status.Error != before.Error:
		r.log.Error("the health cannot be read", "err", err)
	case err == nil && before.Error != "":
		r.log.Info("the health can be read again")
	}
}

// read takes one reading and keeps it.
func (r *healthReader) read(ctx context.Context) error {
	now, err := r.reader.Read(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = now
	if now.Health != nil {
		r.known = now.Health
	}
	return err
}

// lastKnown returns the last reading that succeeded, or nil when none has.
func (r *healthReader) lastKnown() *record.Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known
}

// temperature returns the temperature of the whole drive and when it was read; nil when it is not known.
func (r *healthReader) temperature() (at time.Time, celsius *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch now := r.now; {
	case now.Health != nil:
		for _, t := range now.Health.Temperatures {
			if t.Sensor == record.CompositeSensor {
				return now.Health.Time, &t.Celsius
			}
		}
	case now.Disk != nil:
		return now.Disk.Time, now.Disk.TemperatureCelsius
	}
	return time.Time{}, nil
}

// fill adds the warnings and the status of the last reading to the targets on the controller's devices, and returns
// the controller.
func (r *healthReader) fill(targets []record.TargetStatus) record.Controller {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range targets {
		t := &targets[i]
		if !slices.Contains(r.source.IDs(), t.Device.ID) {
			continue
		}
		t.Warnings = slices.Concat(t.Warnings, r.warningsFor(t.Device))
		if !t.File {
			t.Warnings = slices.Concat(t.Warnings, r.now.OfDevice[t.Device.ID])
		}
		if r.collector.Collector != "" {
			t.Collectors = withCollector(t.Collectors, r.collector, t.Device.Name)
		}
	}
	return r.now.Controller
}

// warningsFor returns the warnings about the controller or drive. When a device has several controllers, each warning
// names its controller.
func (r *healthReader) warningsFor(d record.Device) []record.Warning {
	if len(d.Controllers) < 2 {
		return r.now.Warnings
	}
	named := slices.Clone(r.now.Warnings)
	for i := range named {
		named[i].Text = r.source.Name + ": " + named[i].Text
	}
	return named
}

// withCollector adds the status of a reading. It merges the status of a second controller of the same device with
// that of the first. The health of a device is known only when all of its controllers can be read.
func withCollector(all []record.CollectorStatus, status record.CollectorStatus, device string) []record.CollectorStatus {
	status.Device = device
	all = slices.Clone(all)
	i := slices.IndexFunc(all, func(c record.CollectorStatus) bool { return c.Collector == status.Collector })
	if i < 0 {
		return append(all, status)
	}
	all[i].Success = all[i].Success && status.Success
	all[i].Duration = max(all[i].Duration, status.Duration)
	all[i].Error = strings.TrimPrefix(strings.TrimSuffix(all[i].Error+"; "+status.Error, "; "), "; ")
	return all
}
