package drifttest

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Fleet makes nodes as a fleet has them. A node has one to 24 drives of one model or two, and is idle or busy. Drives
// may have roles, and noise of their own besides that of the host. Kernels and firmwares change, and daemons restart.
// Drives are added, replaced and, now and then, slow.
type Fleet struct {
	Seed uint64
	// Days is the length of each node's history.
	Days float64
	// Interval is the time between rounds; a minute when zero.
	Interval time.Duration
	// Calm fleets have no fault: every finding about them is false.
	Calm bool
}

// smallNodes is the share of nodes with one or two drives. It gives these nodes a quarter
// of the fleet's drives.
const smallNodes = 0.75

// Node makes the node with a number.
func (f Fleet) Node(number int) Scenario {
	if f.Interval == 0 {
		f.Interval = time.Minute
	}
	b := &builder{
		rng: random{rand.New(rand.NewPCG(f.Seed, uint64(number)))}, //nolint:gosec // a fleet is to be the same every time
		s: Scenario{
			Kind: "fleet", Interval: f.Interval, Duration: time.Duration(f.Days * 24 * float64(time.Hour)),
		},
	}
	count := 1 + b.rng.IntN(2)
	if !b.rng.chance(smallNodes) {
		count = 3 + b.rng.IntN(22)
	}
	b.host()
	b.drives(count)
	b.changes()
	if !f.Calm {
		b.faults()
	}
	b.apart = true
	seed := b.rng.Uint64()
	b.s.Samples = b.samples(seed)
	// Rounds out of turn have random numbers of their own, so that the samples are the same whoever asks.
	outOfTurn := random{rand.New(rand.NewPCG(seed, 2))} //nolint:gosec // a fleet is to be the same every time
	b.s.Again = func(drive int, at time.Duration) (drift.Values, bool) { return b.atWork[drive].again(outOfTurn, at) }
	return b.s
}

// builder makes a node.
type builder struct {
	rng      random
	s        Scenario
	noises   []string // of the host
	unequal  float64  // how differently the host affects its drives
	apart    bool     // the drives are not probed at the same moment
	machines []machine
	atWork   []machine // the machines of the samples under way
	models   []model
	events   []event
}

// model is what the drives of a model have in common.
type model struct {
	name          string
	latency, tail float64
	queue         float64
}

// event is a change of the conditions or the work of one drive, or of all drives (-1).
type event struct {
	Change
	conditions func(*record.Conditions)
	work       func(*work)
}

func (b *builder) host() {
	b.noises = []string{pick(b.rng, SharedNoises())}
	if b.rng.chance(0.3) {
		if more := pick(b.rng, SharedNoises()); more != b.noises[0] {
			b.noises = append(b.noises, more)
		}
	}
	b.s.Noise, b.s.Noises = b.noises[0], b.noises
	b.unequal = b.rng.between(0, 0.25)
}

func pick[T any](rng random, list []T) T { return list[rng.IntN(len(list))] }

func (b *builder) drives(count int) {
	models := 1
	if count >= 6 && b.rng.chance(0.3) {
		models = 2
	}
	for i := range models {
		b.models = append(b.models, model{
			name: fmt.Sprintf("model %c", 'A'+rune(i)), latency: b.rng.between(50e-6, 120e-6), tail: b.rng.between(2, 4), queue: b.rng.between(0.1, 0.7),
		})
	}
	shape := work{
		wave: b.rng.between(0, 0.7), phase: b.rng.Float64(), jitter: b.rng.between(0.02, 0.25),
		reads: b.rng.between(0.2, 1), bytes: pick(b.rng, []float64{4096, 8192, 16384, 65536}),
	}
	// From idle nodes to nodes that are at times too busy for rounds.
	load := pick(b.rng, []float64{0, 0.02, 0.1, 0.3, 0.6, 0.85}) * b.rng.between(0.7, 1.1)
	for i := range count {
		b.drive(i, b.models[i%models], shape, load)
	}
	if count >= 2 && b.rng.chance(0.25) { // a role of its own: larger requests
		w := &b.machines[b.rng.IntN(count)].work
		w.bytes *= 16
		w.demand /= 8
		w.reads = 0.5
	}
}

func (b *builder) drive(slot int, of model, shape work, load float64) {
	m := machine{
		noise:   pick(b.rng, machineNoises()),
		latency: of.latency * b.rng.around(0.03), spread: b.rng.between(0.008, 0.03), tail: of.tail * b.rng.around(0.1),
		queue: of.queue * b.rng.around(0.1), obeys: 1 + b.unequal*b.rng.between(-1, 1), work: shape,
	}
	u := min(0.95, load*b.rng.around(0.15))
	m.work.demand = -math.Log(1-u) / m.takes()
	b.machines = append(b.machines, m)
	b.s.Drives = append(b.s.Drives, Drive{ID: fmt.Sprintf("d%02d", slot), Model: of.name, SizeBytes: 1 << 40, Noise: m.noise, To: b.s.Duration})
}

// every calls a function at random moments, which are a mean time apart on average.
func (b *builder) every(mean time.Duration, happens func(at time.Duration)) {
	for at := b.wait(mean); at < b.s.Duration; at += b.wait(mean) {
		happens(at.Truncate(b.s.Interval))
	}
}

func (b *builder) wait(mean time.Duration) time.Duration {
	return time.Duration(b.rng.ExpFloat64() * float64(mean))
}

const day = 24 * time.Hour

// changes adds the changes that make no drive slow.
func (b *builder) changes() {
	b.replacements()
	kernel := 1
	b.every(45*day, func(at time.Duration) {
		kernel++
		name := fmt.Sprintf("6.%d", kernel)
		b.event(at, -1, "kernel").conditions = func(c *record.Conditions) { c.Kernel = name }
		effect := pick(b.rng, []float64{1, 1, 1, 1, 0.98, 1.02, 0.9, 1.2})
		b.s.Host = append(b.s.Host, Episode{Kind: "kernel", Scope: OfHost, Onset: at, End: b.s.Duration, Slower: effect})
		b.s.Restarts = append(b.s.Restarts, at)
	})
	b.every(20*day, func(at time.Duration) {
		b.event(at, -1, "restart")
		b.s.Restarts = append(b.s.Restarts, at)
	})
	slices.Sort(b.s.Restarts)
	for i := range b.machines {
		firmware := 1
		b.every(120*day, func(at time.Duration) {
			firmware++
			name := fmt.Sprintf("F%d", firmware)
			b.event(at, i, "firmware").conditions = func(c *record.Conditions) { c.Firmware = name }
		})
		// Another tenant: more or less work, of another kind.
		b.every(60*day, func(at time.Duration) {
			more, larger, reads := b.rng.around(0.7), pick(b.rng, []float64{0.25, 1, 1, 4}), b.rng.between(0.2, 1)
			b.event(at, i, "other work").work = func(w *work) {
				w.demand *= more / larger
				w.bytes *= larger
				w.reads = reads
			}
		})
	}
	slices.SortStableFunc(b.events, func(x, y event) int { return cmp.Compare(x.At, y.At) })
	for _, e := range b.events {
		b.s.Changes = append(b.s.Changes, e.Change)
	}
}

func (b *builder) event(at time.Duration, drive int, what string) *event {
	b.events = append(b.events, event{Change: Change{At: at, Drive: drive, What: what}})
	return &b.events[len(b.events)-1]
}

// replacements replaces drives by others of their model, of which nothing is known, or adds drives.
func (b *builder) replacements() {
	for i := range len(b.machines) {
		at := b.wait(300 * day).Truncate(b.s.Interval)
		if at < 2*day || at > b.s.Duration-2*day {
			continue
		}
		if b.rng.chance(0.5) {
			b.s.Drives[i].From = at
			b.event(at, -1, "a drive was added")
			continue
		}
		b.s.Drives[i].To = at
		b.drive(100+i, b.models[i%len(b.models)], b.machines[i].work, 0)
		last := len(b.machines) - 1
		b.machines[last].work = b.machines[i].work
		b.s.Drives[last].From = (at + time.Duration(1+b.rng.IntN(24))*time.Hour).Truncate(b.s.Interval)
		b.event(at, -1, "a drive was replaced")
	}
}

// faults makes drives and hosts slow.
func (b *builder) faults() {
	if len(b.machines) >= 3 && b.rng.chance(0.1) {
		at := b.moment()
		if b.rng.chance(0.5) {
			b.s.Host = append(b.s.Host, Episode{
				Kind: "host slow", Scope: OfHost, Onset: at, End: at + time.Duration(b.rng.between(2, 72)*float64(time.Hour)), Slower: b.rng.between(1.15, 2),
			})
		} else {
			k := b.rng.between(1.2, 1.6)
			for _, i := range b.rng.Perm(len(b.machines))[:max(2, len(b.machines)/3)] {
				b.fault(i, Episode{Kind: "batch", Scope: OfBatch, Onset: at, End: b.s.Duration, Slower: k})
			}
		}
	}
	for i := range b.machines {
		if !b.rng.chance(0.12) {
			continue
		}
		e := Episode{Scope: OfDrive, Onset: b.moment(), End: b.s.Duration, Slower: 1}
		if b.rng.chance(0.4) {
			e.End = e.Onset + time.Duration(b.rng.between(0.2, 5)*float64(day))
		}
		switch e.Kind = pick(b.rng, []string{"step10", "step20", "step50", "double", "double", "x5", "x10", "tail", "intermittent", "creep", "born", "spell"}); e.Kind {
		case "step10", "step20", "step50", "double":
			e.Slower = ratio(e.Kind)
		case "x5":
			e.Slower = 5
		case "x10":
			e.Slower = 10
		case "born":
			e.Onset, e.End, e.Slower = b.s.Drives[i].From, b.s.Duration, 1.5
		case creep:
			e.End = b.s.Duration
		case "spell":
			e.End, e.Slower = e.Onset+time.Duration(b.rng.between(10, 60))*time.Minute, b.rng.between(1.5, 3)
		}
		b.fault(i, e)
	}
}

// fault adds an episode to a drive, within the time that the drive is there.
func (b *builder) fault(i int, e Episode) {
	d := &b.s.Drives[i]
	e.End = min(e.End, d.To)
	if e.Onset < d.From || (e.Kind != "born" && e.Onset < d.From+2*day) || e.Onset >= e.End {
		return
	}
	d.Episodes = append(d.Episodes, e)
}

// moment returns a time after the first two days.
func (b *builder) moment() time.Duration {
	return (2*day + time.Duration(b.rng.Float64()*float64(b.s.Duration-3*day))).Truncate(b.s.Interval)
}

func (b *builder) samples(seed uint64) iter.Seq2[int, Sample] {
	s := b.s
	return func(yield func(int, Sample) bool) {
		rng := random{rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // a fleet is to be the same every time
		var hosts []*shared
		for _, name := range b.noises {
			hosts = append(hosts, newShared(name, rng.Rand, s.Interval))
		}
		machines, conditions := slices.Clone(b.machines), make([]record.Conditions, len(b.machines))
		samples := make([]Sample, len(machines))
		b.atWork = machines
		for i := range machines {
			machines[i].rng = rng
			conditions[i] = record.Conditions{Model: s.Drives[i].Model, Firmware: "F1", Kernel: "6.1"}
		}
		events := b.events
		for at := time.Duration(0); at < s.Duration; at += s.Interval {
			noise := 1.0
			for _, h := range hosts {
				noise *= h.next(at)
			}
			host := noise * slower(s.Host, at)
			for ; len(events) > 0 && events[0].At <= at; events = events[1:] {
				events[0].carryOut(machines, conditions)
			}
			for i := range machines {
				d := s.Drives[i]
				if at < d.From || at >= d.To {
					continue
				}
				k, tail := b.happening(d.Episodes, at, rng)
				out := machines[i].next(at, k, tail, host)
				if b.apart {
					out.Time = out.Time.Add(s.Interval * time.Duration(i) / time.Duration(len(machines)))
				}
				out.Conditions, out.HostNoise = conditions[i], noise
				samples[i] = out
			}
			// All drives are at this moment before anything is made of it, so that a round out of turn meets it, too.
			for i, d := range s.Drives {
				if at >= d.From && at < d.To && !yield(i, samples[i]) {
					return
				}
			}
		}
	}
}

func (e event) carryOut(machines []machine, conditions []record.Conditions) {
	for i := range machines {
		switch {
		case e.Drive >= 0 && e.Drive != i:
		case e.conditions != nil:
			e.conditions(&conditions[i])
		case e.work != nil:
			e.work(&machines[i].work)
		}
	}
}

// happening returns how many times slower a drive is at a time, and how many times slower its tail is beyond that.
func (b *builder) happening(episodes []Episode, at time.Duration, rng random) (k, tail float64) {
	k, tail = 1, 1
	for _, e := range episodes {
		if at < e.Onset || at >= e.End {
			continue
		}
		switch e.Kind {
		case "tail":
			tail = 2
		case intermittent:
			if rng.chance(0.1) {
				k *= e.SlowerAt(at)
			}
		default:
			k *= e.SlowerAt(at)
		}
	}
	return k, tail
}
