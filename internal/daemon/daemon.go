package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Options holds what a daemon needs besides its configuration.
type Options struct {
	// Config has all defaults filled in, including Node, StateDir and LockDir.
	Config config.Config
	Log    *slog.Logger
	// Generator is the program that run reports and recordings name as their origin, such as "ssdprobe 1.2.3".
	Generator string
	// Latencies receives every measured I/O for the histograms of the metrics.
	Latencies *export.Latencies
	// Restorer is the command that restores device settings if the daemon is killed during a run; see settings.Self.
	Restorer []string
	// Source is the configuration file that Parse turned into Config.
	Source config.Source
	Parse  func(config.Source) (config.Config, error)
	// Warnings says what of a valid configuration is probably not intended; may be nil.
	Warnings func(config.Config) []string
	// Reload delivers a signal each time the configuration file is to be read again; may be nil.
	Reload <-chan os.Signal
	// Serve runs the HTTP server until its context ends; nil for no server.
	Serve func(context.Context) error
}

// Daemon watches targets. Create one with New and run it once.
type Daemon struct {
	shared     *shared
	file       *configFile
	supervisor supervisor
	serve      func(context.Context) error
	warnings   []record.Warning
	doubts     func(config.Config) []string // Options.Warnings
	started    time.Time
	scanning   guard.Guard
	// host remembers devices that hang. Only discovery uses it, through scanning.
	host     *device.Scanner
	health   *keeper
	fleet    *permits
	status   *nodeStatus
	calendar *calendar
	timed    *timed
	flight   *flight
	// generator is Options.Generator.
	generator string
	// nodeUnread is true when stored state of the node could not be read at the start. Nothing is saved over it.
	nodeUnread bool

	mu         sync.Mutex
	config     config.Config
	watches    map[string]*watch
	ignored    []record.Ignored
	discovered record.CollectorStatus
	reloaded   record.CollectorStatus
	fellBack   *fallback // nil until known
	ready      bool
	// ways holds the access to each target, by id. Only discovery uses it.
	ways map[string]*access
	// unanswered lists the requests that remain because they cannot be read or removed. Only discovery uses it.
	unanswered []string
	// unleft holds the answers to requests that could not be removed, so that these are not carried out twice.
	unleft map[string]state.Answer
	first  chan struct{} // closed when the first discovery is over
}

// endTimeout is how long all tasks may take to end. A run that restores what it changed takes seconds. It is below
// the 30 s that Kubernetes waits.
const endTimeout = 20 * time.Second

// New returns a daemon that holds the lock of its state directory, which Run releases.
func New(o Options) (*Daemon, error) {
	storage, err := holdStorage(o.Config, o.Log)
	if err != nil {
		return nil, err
	}
	meter, warnings, err := counters.NewMeter()
	if err != nil {
		return nil, errors.Join(err, storage.lock.Release())
	}
	permits, err := newPermits(o.Config, o.Log)
	if err != nil {
		return nil, errors.Join(err, storage.lock.Release())
	}
	d := &Daemon{
		shared: &shared{
			fs: sysfs.New(o.Config.HostRoot), node: o.Config.Node, locks: &locks{dir: o.Config.LockDir}, log: o.Log, state: storage,
			meter: meter, engine: probe.NewEngine(meter, o.Config.Admission.MaxCPUWait), latencies: o.Latencies,
			slots: make(turn, o.Config.RoundsAtOnce),
		},
		config: o.Config, file: newConfigFile(o), supervisor: supervisor{o.Log}, serve: o.Serve, warnings: warnings, doubts: o.Warnings, started: time.Now(),
		watches: map[string]*watch{}, ways: map[string]*access{}, first: make(chan struct{}),
		reloaded: record.CollectorStatus{Collector: record.CollectorConfiguration, Success: true},
		health:   newKeeper(sysfs.New(o.Config.HostRoot), o.Log),
		host:     device.NewScanner(sysfs.New(o.Config.HostRoot)),
		fleet:    permits,
	}
	d.host.Recall = d.recall
	d.generator, d.flight = o.Generator, newFlight(d.shared.fs, o.Config.Recorder)
	d.shared.traffic = d.newSampler()
	d.timed = &timed{fs: d.shared.fs, log: o.Log, mode: o.Config.IOLatency, devices: d.sampled, flight: d.flight}
	d.shared.judging, d.shared.tell, d.shared.confirm = newJudging(o.Config.Drift.Settings), d.tellJudged, d.confirm
	d.shared.judging.waits = true
	if err := d.restoreNode(); err != nil {
		return nil, errors.Join(err, storage.lock.Release())
	}
	d.tellSize(o.Config.Recorder)
	d.restoreRecordings()
	if d.status, err = d.newNodeStatus(o.Config); err != nil {
		return nil, errors.Join(err, storage.lock.Release())
	}
	d.calendar = &calendar{
		shared: d.shared, generator: o.Generator, restorer: o.Restorer, fleet: permits,
		runs: func() []config.Run { return d.configuration().Runs }, watches: d.current,
	}
	return d, nil
}

// Announce records the daemon's URLs in the state directory, so that commands that are given the directory find the
// daemon. Failing to do so is only logged, because a directory that is full or broken is no reason to watch nothing.
// Commands then need the URL.
func (d *Daemon) Announce(urls []string) {
	if err := d.shared.state.save(context.Background(), saveTimeout, func(s state.Dir) error { return s.Announce(urls) }); err != nil {
		d.shared.log.Error("cannot store the address of this daemon; give commands its --url", "err", err)
	}
}

// task is an activity that runs as long as the daemon.
type task struct {
	name string
	run  func(context.Context) error
}

func (d *Daemon) tasks() []task {
	tasks := []task{{"discovery", d.discover}, {"calendar", d.calendar.follow}, {"interrupts", d.health.count}, {"traffic", d.shared.traffic.Run}, {"io latency", d.timed.run}, {"judging", d.judgeOn}, {"flight recorder", d.recordOn}, {"configuration", d.followFile}, {"supervisor", d.supervise}, {"histories", d.keepHistories}}
	if d.fleet != nil {
		tasks = append(tasks, task{"fleet", d.fleet.watch})
	}
	if d.status != nil {
		tasks = append(tasks, task{"node status", d.status.Run})
	}
	if d.serve != nil {
		tasks = append(tasks, task{"http server", d.serve})
	}
	return tasks
}

// Run executes all tasks until ctx ends, and then stops them in order: the watches save their state. A task that
// fails ends all others.
func (d *Daemon) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, d.shared.state.letGo()) }()
	// A thread that returns from a system call needs a P of the Go scheduler to continue. With only one, any other
	// goroutine would delay reading the clock after an I/O.
	if runtime.GOMAXPROCS(0) < 2 {
		runtime.GOMAXPROCS(2)
	}
	if err := d.timed.begin(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, t := range d.tasks() {
		group.Go(func() error {
			if err := t.run(ctx); err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			return nil
		})
	}
	return within(ctx, endTimeout, group.Wait)
}

// within waits for tasks, but at most for timeout once their context has ended. A task may hang in the kernel; it
// ends with the process.
func within(ctx context.Context, timeout time.Duration, wait func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(timeout):
		return fmt.Errorf("stop: a task has not ended within %s and is left behind; what was learned is kept", timeout)
	}
}

// Missing lists the targets that cannot be probed now and why, and other problems such as a lack of targets. It only
// reads memory.
func (d *Daemon) Missing() []string {
	var missing []string
	for _, w := range d.current() {
		if why := w.opener.problem(); why != "" {
			missing = append(missing, fmt.Sprintf("%s cannot be probed now: %s", w.spec.Path, why))
		}
	}
	slices.Sort(missing)
	_, state := d.shared.state.status()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.discovered.Error != "" {
		missing = append(missing, "discovery: "+d.discovered.Error)
	}
	for _, w := range state {
		missing = append(missing, w.Text)
	}
	if d.fellBack != nil && d.fellBack.warning.Text != "" {
		missing = append(missing, d.fellBack.warning.Text)
	}
	return missing
}

// Ready returns nil once the first discovery is over, which means that each target has answered or has been given up
// for now. Before that, it returns an error that says why not.
func (d *Daemon) Ready() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.ready {
		return errors.New(notReady)
	}
	return nil
}

const notReady = "the daemon is still looking for devices and files"

// Discovered is closed when the first discovery is over.
func (d *Daemon) Discovered() <-chan struct{} { return d.first }

// Snapshot returns the current state of the daemon. It only reads memory.
func (d *Daemon) Snapshot() record.Snapshot {
	now := time.Now()
	state, problems := d.shared.state.status()
	d.mu.Lock()
	watches := make([]*watch, 0, len(d.watches))
	for _, id := range slices.Sorted(maps.Keys(d.watches)) {
		watches = append(watches, d.watches[id])
	}
	s := record.Snapshot{
		Time: now, Node: d.shared.node, Started: d.started, Ignored: slices.Clone(d.ignored),
		Collectors: append([]record.CollectorStatus{d.discovered, d.reloaded, state}, slices.Concat(d.fleet.collector(), d.status.collector())...),
		Warnings:   slices.Concat(d.warnings, problems),
	}
	if !d.ready {
		s.NotReady = notReady
	}
	if d.fellBack != nil {
		s.FallbackUsed = new(d.fellBack.used)
		if d.fellBack.warning.Text != "" {
			s.Warnings = append(s.Warnings, d.fellBack.warning)
		}
	}
	d.file.fill(&s)
	sheets := d.config.Drift.DataSheets
	s.QuietUntil = d.config.QuietHours.Until(now)
	d.mu.Unlock()
	for _, w := range watches {
		s.Targets = append(s.Targets, w.Status(now))
	}
	d.health.fill(&s)
	d.fillTraffic(&s)
	d.timed.fill(&s)
	d.shared.judging.look(func() { d.shared.judging.node.Fill(&s) })
	d.flight.fill(&s, d.generator)
	drift.FlagSlowerThanDataSheet(&s, sheets)
	return s
}
