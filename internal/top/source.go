package top

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// Options say what is shown.
type Options struct {
	Host sysfs.FS
	Node string
	// Interval is the length of a sample, in whole seconds.
	Interval time.Duration
	// Targets are names of devices, in a form that device.Find accepts. If there are none, all whole disks and what
	// the daemon watches are shown.
	Targets []string
	// All also shows partitions and devices made of disks, memory and files.
	All bool
	// Ask asks the daemon.
	Ask Ask
	// onPanic is called before a panic of a goroutine ends the process; may be nil.
	onPanic func()
}

// Source produces samples. Create one with NewSource.
type Source struct {
	options Options
	devices devices
	daemon  daemon
	sampler *traffic.Sampler

	emit    func(Sample)
	seconds int // since the last sample
	at      time.Time
	last    map[string]traffic.Counted // at the last sample, by device number
}

// NewSource returns a Source.
func NewSource(o Options) *Source {
	s := &Source{options: o, daemon: daemon{ask: o.Ask}}
	s.devices = devices{host: o.Host, disks: device.NewScanner(o.Host), wanted: o.Targets, watched: s.daemon.watches, all: o.All, guarded: s.guarded}
	s.sampler = traffic.New(traffic.Options{
		FS: o.Host, Devices: s.devices.sampled, Second: s.second,
		Sample: func(traffic.Device, record.Traffic) {}, Stall: func(traffic.Device, record.Stall) {},
	})
	return s
}

// List lists the devices. Its error says why some or all cannot be shown, and matches os.ErrNotExist when this
// machine has no such target.
func (s *Source) List(ctx context.Context) error {
	s.devices.list(ctx)
	_, err := s.devices.current()
	return err
}

// Run emits a sample at the end of each interval until ctx ends. While emit blocks, nothing is sampled, and the
// interval gets longer.
func (s *Source) Run(ctx context.Context, emit func(Sample)) error {
	s.emit = emit
	group, ctx := errgroup.WithContext(ctx)
	for _, run := range []func(context.Context) error{s.devices.follow, s.daemon.follow, s.sampler.Run} {
		group.Go(func() error {
			defer s.guarded()
			return run(ctx)
		})
	}
	return group.Wait()
}

// guarded is deferred in each goroutine. It calls onPanic before a panic ends the process.
func (s *Source) guarded() {
	if s.options.onPanic == nil {
		return
	}
	if p := recover(); p != nil {
		s.options.onPanic()
		panic(p) // this keeps the stack of the first panic
	}
}

// ShowAll sets whether devices that are not whole disks are shown, too.
func (s *Source) ShowAll(all bool) { s.devices.setAll(all) }

// second processes what all devices had counted at the end of a second.
func (s *Source) second(now traffic.Second) {
	at, all := now.Time, now.Devices
	s.seconds++
	if s.last != nil && s.seconds < int(s.options.Interval/time.Second) {
		return
	}
	last, span := s.last, at.Sub(s.at)
	s.seconds, s.at, s.last = 0, at, make(map[string]traffic.Counted, len(all))
	for _, c := range all {
		s.last[c.Number] = c
	}
	if last != nil {
		s.emit(s.sample(at, span, last))
	}
}

// sample returns what was done since the last sample.
func (s *Source) sample(at time.Time, span time.Duration, last map[string]traffic.Counted) Sample {
	sample := Sample{Time: at, Length: span, Node: s.options.Node, Devices: []Row{}}
	answer, drives := s.daemon.now(at)
	sample.Daemon = answer
	here, err := s.devices.current()
	if err != nil {
		sample.Problems = append(sample.Problems, fmt.Sprintf("not all devices can be shown: %v", err))
	}
	if _, err := s.sampler.Last(); err != nil {
		sample.Problems = append(sample.Problems, err.Error())
	}
	for _, l := range here {
		now, ok := s.last[l.Number]
		before, known := last[l.Number]
		if !ok || !known || now.ID != before.ID || now.Timing != before.Timing {
			continue
		}
		counted, ok := now.Disk.Since(before.Disk)
		if !ok { // another device has its number
			continue
		}
		row := Row{
			Device: l.Name, ID: l.ID, Number: l.Number, Kind: l.Kind, Model: l.Model, Whole: l.whole,
			Traffic: traffic.Of(at, span, counted, now.Timing), InFlight: now.Disk.InFlight,
		}
		if row.Traffic.Unusable = now.Unusable; now.Unusable != "" {
			sample.Problems = append(sample.Problems, l.Name+": "+now.Unusable)
		}
		s.addStalls(&row)
		if d, ok := drives[l.ID]; ok {
			row.State, row.Verdict, row.partly, row.Ratio, row.P99 = d.state, d.verdict, d.partly, d.ratio, d.p99
			if d.stalls.Count > row.Stalls.Count { // the daemon has watched for longer
				row.Stalls = d.stalls
			}
			if s := d.stall; s != nil && row.Stall != nil && s.Start.Before(row.Stall.Start) {
				row.Stall = new(*s)
				row.Stall.Length = at.Sub(s.Start)
			}
		}
		sample.Devices = append(sample.Devices, row)
	}
	return sample
}

// addStalls adds the stalls that were seen of the device.
func (s *Source) addStalls(row *Row) {
	status := s.sampler.Status(row.Number)
	if status == nil {
		return
	}
	row.Stalls, row.Stall = blamed(status.Stalls), ongoing(status.Stalls)
}
