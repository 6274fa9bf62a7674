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
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// healthCollector is what readings of health are called.
const healthCollector = "health"

// healthReader reads one controller or drive from time to time.
type healthReader struct {
	keeper   *keeper
	source   health.Source
	interval time.Duration
	read     func(context.Context, *healthReader) error
	closing  func() error
	log      *slog.Logger
	cancel   context.CancelFunc
	done     chan struct{}
	first    chan struct{} // closed when the first reading is over

	mu     sync.Mutex
	status record.Controller
	// ofDevice are the warnings that concern one device only, by its id.
	ofDevice  map[string][]record.Warning
	collector record.CollectorStatus
	// known and disk are those of the last reading that succeeded.
	known *record.Health
	disk  *record.DiskHealth
}

// Run reads until ctx ends.
func (r *healthReader) Run(ctx context.Context) {
	defer close(r.done)
	defer r.close()
	for first := true; ctx.Err() == nil; first = false {
		start := time.Now()
		err := r.read(ctx, r)
		if ctx.Err() == nil {
			r.report(start, err)
		}
		if first {
			close(r.first)
		}
		schedule.Pause(ctx, r.interval)
	}
}

func (r *healthReader) close() {
	if err := r.closing(); err != nil {
		r.log.Warn("close the controller", "err", err)
	}
}

// report notes how a reading went, and logs what is news.
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

func (r *healthReader) readController(ctx context.Context, fs sysfs.FS, c *health.Controller) error {
	ids := health.NamespaceIDs(fs, r.source.Devices)
	wanted := []uint32{}
	for _, id := range ids {
		wanted = append(wanted, id)
	}
	slices.Sort(wanted)
	now, ok, err := c.Read(ctx, health.Timeout, wanted)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Health, r.status.Warnings, r.ofDevice = nil, nil, nil
	if !ok {
		return err
	}
	before := r.known
	r.known, r.status.Health, r.status.LastRead = &now, &now, now.Time
	r.status.Warnings = health.Warnings(r.source.Name, before, now)
	r.ofDevice = map[string][]record.Warning{}
	for _, d := range r.source.Devices {
		for _, n := range now.Namespaces {
			if id, ok := ids[d.ID]; ok && id == n.ID {
				r.ofDevice[d.ID] = health.NamespaceWarnings(d.Name, n)
			}
		}
	}
	return err
}

func (r *healthReader) readDrive(ctx context.Context, d *health.Drive) error {
	now, err := d.Read(ctx, health.Timeout)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Disk, r.status.Warnings = nil, nil
	if err != nil {
		return err
	}
	r.status.Disk = &now
	if now.Asleep {
		return nil
	}
	r.status.LastRead = now.Time
	r.status.Warnings = health.DiskWarnings(r.source.Name, r.disk, now)
	r.disk = &now
	return nil
}

// lastKnown returns the last reading that succeeded, nil when none has.
func (r *healthReader) lastKnown() *record.Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known
}

// fill adds to the targets what the reading says of their device, and returns it.
func (r *healthReader) fill(targets []record.TargetStatus) record.Controller {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range targets {
		t := &targets[i]
		if !slices.Contains(r.source.IDs(), t.Device.ID) {
			continue
		}
		t.Warnings = slices.Concat(t.Warnings, r.status.Warnings)
		if !t.File {
			t.Warnings = slices.Concat(t.Warnings, r.ofDevice[t.Device.ID])
		}
		if r.collector.Collector != "" {
			t.Collectors = withCollector(t.Collectors, r.collector, t.Device.Name)
		}
	}
	return r.status
}

// withCollector adds the status of a reading. That of a second controller of the same
// device joins the first's: the health of a device is read when that of all is.
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
