package daemon

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/recorder"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// firstReading is how long discovery waits for the first reading of new controllers, so that their settings are among
// the conditions from the first round on.
const firstReading = 2 * time.Second

// keeper keeps the health of the watched devices. It has a reader for each controller and drive, so that none delays
// another, and one counter of all interrupts.
type keeper struct {
	fs    sysfs.FS
	log   *slog.Logger
	meter *health.Meter
	// scanning protects discovery from hanging in a driver's attributes.
	scanning guard.Guard
	// changed wakes the counter of interrupts when the sources change.
	changed chan struct{}

	mu         sync.Mutex
	settings   config.Health
	sources    []health.Source
	readers    map[string]*healthReader
	interrupts map[string]record.Interrupts
	counted    record.CollectorStatus
	said       map[string]bool // messages that are logged only once in the life of the daemon
}

func newKeeper(fs sysfs.FS, log *slog.Logger) *keeper {
	meter := health.NewMeter(fs)
	meter.FromZero = true
	return &keeper{
		fs: fs, log: log, meter: meter, changed: make(chan struct{}, 1),
		readers: map[string]*healthReader{}, said: map[string]bool{},
	}
}

// follow makes the readers match the watched devices. It waits up to firstReading for the first readings of new ones.
func (k *keeper) follow(ctx, running context.Context, c config.Config, devices []record.Device) {
	var sources []health.Source
	if c.Health.Enabled {
		var err error
		sources, err = guard.Do(ctx, &k.scanning, scanTimeout, func(context.Context) ([]health.Source, error) { return health.Sources(k.fs, devices), nil })
		if err != nil { // the known readers stay
			if k.news(err.Error()) {
				k.log.Error("the controllers of drives cannot be looked up", "err", err)
			}
			return
		}
	}
	for i, s := range sources {
		sources[i].EveryQueue = slices.ContainsFunc(s.Devices, func(d record.Device) bool { return c.Health.InterruptsOf(d) == config.InterruptsAll })
	}
	wanted := map[string]health.Source{}
	for _, s := range sources {
		wanted[s.Name] = s
	}
	stopped := map[string]*health.Reader{}
	for name, r := range k.current() {
		if s, ok := wanted[name]; !ok || r.interval != c.Health.Interval || r.source.Kind != s.Kind || !slices.Equal(r.source.IDs(), s.IDs()) {
			k.stop(name, r)
			stopped[name] = r.reader
		}
	}
	late, cancel := context.WithTimeout(ctx, firstReading)
	defer cancel()
	var started []*healthReader
	for _, s := range sources {
		if _, ok := k.current()[s.Name]; ok {
			continue
		}
		reader, err := health.NewReader(k.fs, s, filepath.Join(c.HostRoot, "dev"))
		if err != nil && k.news(err.Error()) {
			k.log.Info("the health of SATA and SAS drives is not read", "reason", err)
		}
		if before := stopped[s.Name]; reader != nil && before != nil {
			reader.Follow(before)
		}
		if reader != nil {
			started = append(started, k.start(running, s, c.Health.Interval, reader))
		}
	}
	k.take(c.Health, sources)
	for _, r := range started {
		select {
		case <-r.first:
		case <-late.Done():
		}
	}
}

// take records the current sources.
func (k *keeper) take(settings config.Health, sources []health.Source) {
	k.mu.Lock()
	same := k.settings.Interval == settings.Interval && slices.EqualFunc(k.sources, sources, func(a, b health.Source) bool {
		return a.Name == b.Name && a.EveryQueue == b.EveryQueue && slices.Equal(a.IDs(), b.IDs())
	})
	k.settings, k.sources = settings, sources
	k.mu.Unlock()
	if !same {
		select {
		case k.changed <- struct{}{}:
		default: // a wake-up is already pending
		}
	}
}

// news reports whether the message is new. It avoids repeating for every drive what is the same for all.
func (k *keeper) news(reason string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.said[reason]
	k.said[reason] = true
	return !known
}

func (k *keeper) current() map[string]*healthReader {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.readers)
}

func (k *keeper) start(running context.Context, s health.Source, interval time.Duration, reader *health.Reader) *healthReader {
	ctx, cancel := context.WithCancel(running)
	r := &healthReader{
		source: s, interval: interval, reader: reader, cancel: cancel, keeper: k,
		log: k.log.With("controller", s.Name), done: make(chan struct{}), first: make(chan struct{}),
		now: health.Reading{Controller: record.Controller{Name: s.Name, Kind: s.Kind, Devices: s.IDs()}},
	}
	k.mu.Lock()
	k.readers[s.Name] = r
	k.mu.Unlock()
	go r.Run(ctx) // ends with its context; stop waits for it
	return r
}

// stop ends a reader and waits for it. A call that hangs does not delay this, because the guard leaves it behind.
func (k *keeper) stop(name string, r *healthReader) {
	r.cancel()
	<-r.done
	k.mu.Lock()
	delete(k.readers, name)
	k.mu.Unlock()
}

func (k *keeper) stopAll() {
	readers := k.current()
	for _, r := range readers {
		r.cancel()
	}
	for name, r := range readers {
		k.stop(name, r)
	}
}

// count counts interrupts until ctx ends.
func (k *keeper) count(ctx context.Context) error {
	for {
		k.mu.Lock()
		sources, interval := k.sources, k.settings.Interval
		k.mu.Unlock()
		if len(sources) > 0 {
			start := time.Now()
			found, err := k.meter.Read(start, sources)
			k.counts(found, collected("interrupts", "", start, err))
		} else {
			interval = time.Hour // until there are some
			k.counts(nil, record.CollectorStatus{})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-k.changed:
		case <-time.After(interval):
		}
	}
}

func (k *keeper) counts(found map[string]record.Interrupts, status record.CollectorStatus) {
	k.mu.Lock()
	before := k.counted.Error
	k.interrupts, k.counted = found, status
	k.mu.Unlock()
	if status.Error != "" && status.Error != before {
		k.log.Error("interrupts cannot be counted", "err", status.Error)
	}
}

// complete adds the settings that the controllers of a device report to its conditions.
func (k *keeper) complete(d record.Device, c record.Conditions) record.Conditions {
	var known []record.Health
	readers := k.current()
	for _, name := range slices.Sorted(maps.Keys(readers)) {
		r := readers[name]
		if h := r.lastKnown(); h != nil && slices.Contains(r.source.IDs(), d.ID) {
			known = append(known, *h)
		}
	}
	return health.Complete(c, known)
}

// reading returns the last readings of a device. Its time is zero when there are none.
func (k *keeper) reading(id string) (r recorder.Reading) {
	k.mu.Lock()
	sources, interrupts := k.sources, k.interrupts
	readers := maps.Clone(k.readers)
	k.mu.Unlock()
	later := func(at time.Time) {
		if at.After(r.Time) {
			r.Time = at
		}
	}
	for _, s := range sources {
		if !slices.Contains(s.IDs(), id) {
			continue
		}
		if reader, ok := readers[s.Name]; ok {
			if at, celsius := reader.temperature(); celsius != nil {
				r.Celsius = celsius
				later(at)
			}
		}
		if i, ok := interrupts[s.Name]; ok {
			sum := i.Count
			if r.Interrupts != nil { // the device has several paths
				sum += *r.Interrupts
			}
			r.Interrupts, r.Counted = &sum, i.Time
			later(i.Time)
		}
	}
	return r
}

// fill adds the health of the targets to a snapshot.
func (k *keeper) fill(s *record.Snapshot) {
	k.mu.Lock()
	sources, interrupts, counted := k.sources, k.interrupts, k.counted
	readers := maps.Clone(k.readers)
	k.mu.Unlock()
	if counted.Collector != "" {
		s.Collectors = append(s.Collectors, counted)
	}
	for _, source := range sources {
		status := record.Controller{Name: source.Name, Kind: source.Kind, Devices: source.IDs()}
		if r, ok := readers[source.Name]; ok {
			status = r.fill(s.Targets)
		}
		if i, ok := interrupts[source.Name]; ok {
			status.Interrupts = &i
		} else if source.Kind == record.ControllerVirtio {
			continue // virtio controllers have nothing but interrupts
		}
		s.Controllers = append(s.Controllers, status)
	}
}
