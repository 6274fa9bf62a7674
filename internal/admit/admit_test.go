package admit_test

import (
	"errors"
	"io/fs"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// host returns the values that the test sets.
type host struct {
	usage       admit.Usage
	usageErr    error
	pressure    float64
	pressureErr error
	asleep      bool
	asleepErr   error
}

func (h *host) Usage() (admit.Usage, error)  { return h.usage, h.usageErr }
func (h *host) IOPressure() (float64, error) { return h.pressure, h.pressureErr }
func (h *host) Asleep() (bool, error)        { return h.asleep, h.asleepErr }

// did adds the I/Os that others do to the device in ten seconds.
func (h *host) did(utilisation, inFlight float64, ios, bytes uint64) {
	h.usage.Busy += time.Duration(utilisation * 10e9)
	h.usage.Served += time.Duration(max(utilisation, inFlight) * 10e9)
	h.usage.Queued += time.Duration(inFlight * 10e9)
	h.usage.IOs += ios
	h.usage.Bytes += bytes
}

var (
	limits = admit.Limits{MaxUtilisation: new(0.5), MaxInFlight: new(int64(4)), MaxIOPressure: new(0.3)}
	start  = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
)

// What a run of ours did to the device is neither the load of others nor what they can have it do.
func TestARunOfOurs(t *testing.T) {
	h := &host{}
	gate := admit.NewGate(h, limits)
	require.NoError(t, gate.Start(start))
	h.did(0.1, 0.2, 1000, 1000<<12)
	before, err := gate.Admit(start.Add(10 * time.Second))
	require.NoError(t, err)
	most := gate.Most
	h.did(1, 60, 4_000_000, 4_000_000<<12)
	gate.Forget()
	load, err := gate.Admit(start.Add(20 * time.Second))
	require.NoError(t, err)
	assert.Equal(t, before, load)
	assert.Equal(t, most, gate.Most)
	h.did(0.2, 0.3, 1000, 1000<<12)
	load, err = gate.Admit(start.Add(30 * time.Second))
	require.NoError(t, err)
	assert.InDelta(t, 0.2, load.Utilisation, 1e-9)
}

// Limits that the user has set hold for every device.
func TestLimitsOfUsers(t *testing.T) {
	broken := errors.New("broken")
	tests := map[string]struct {
		now      host // ten seconds after a start with 100 s busy
		want     record.Load
		busy     string
		otherErr error
	}{
		"idle": {
			now:  host{usage: admit.Usage{Busy: 101 * time.Second, Queued: 202 * time.Second, IOs: 9}, pressure: 0.1},
			want: record.Load{Utilisation: 0.1, MeanInFlight: 0.2, IOPressure: 0.1, OthersIOs: -1},
		},
		"utilised": {
			now:  host{usage: admit.Usage{Busy: 106 * time.Second, Queued: 206 * time.Second, IOs: 9}},
			want: record.Load{Utilisation: 0.6, MeanInFlight: 0.6, OthersIOs: -1},
			busy: "busy: others used the device for 60 % of the time, above the limit of 50 %",
		},
		"deep queue": {
			now:  host{usage: admit.Usage{Busy: 100 * time.Second, Queued: 200 * time.Second, InFlight: 5, IOs: 9}},
			want: record.Load{InFlight: 5, OthersIOs: -1},
			busy: "busy: others have 5 I/Os in flight, above the limit of 4",
		},
		"deep queue on average": {
			now:  host{usage: admit.Usage{Busy: 102 * time.Second, Queued: 250 * time.Second, InFlight: 1, IOs: 9}},
			want: record.Load{Utilisation: 0.2, MeanInFlight: 5, InFlight: 1, OthersIOs: -1},
			busy: "busy: others kept 5 I/Os in flight on average, above the limit of 4",
		},
		"pressure": {
			now:  host{usage: admit.Usage{Busy: 100 * time.Second, Queued: 200 * time.Second, IOs: 9}, pressure: 0.31},
			want: record.Load{IOPressure: 0.31, OthersIOs: -1},
			busy: "busy: tasks of this host waited for I/O for 31 % of the last 10 s, above the limit of 30 %",
		},
		"no pressure counted by this kernel": {
			now:  host{usage: admit.Usage{Busy: 100 * time.Second, Queued: 200 * time.Second, IOs: 9}, pressureErr: fs.ErrNotExist},
			want: record.Load{IOPressure: -1, OthersIOs: -1},
		},
		"counter reset": {
			now:  host{usage: admit.Usage{Busy: time.Second, Queued: time.Second, IOs: 3}},
			want: record.Load{Utilisation: -1, MeanInFlight: -1, OthersIOs: -1},
		},
		"times that start again at zero": { // 32 bits of milliseconds wrap around
			now:  host{usage: admit.Usage{Busy: 100*time.Second - math.MaxUint32*time.Millisecond, Queued: 204 * time.Second, IOs: 9}},
			want: record.Load{Utilisation: 0.0001, MeanInFlight: 0.4, OthersIOs: -1},
		},
		"many lone I/Os": { // busy time counts a whole tick for each, served time its true latency
			now:  host{usage: admit.Usage{Busy: 108 * time.Second, Served: 201 * time.Second, Queued: 201 * time.Second, IOs: 9}},
			want: record.Load{Utilisation: 0.1, MeanInFlight: 0.1, OthersIOs: -1},
		},
		"many at once": {
			now:  host{usage: admit.Usage{Busy: 104 * time.Second, Served: 900 * time.Second, Queued: 240 * time.Second, IOs: 9}},
			want: record.Load{Utilisation: 0.4, MeanInFlight: 4, OthersIOs: -1},
		},
		"unreadable": {
			now:      host{usageErr: broken},
			want:     record.UnknownLoad(),
			otherErr: broken,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := &host{usage: admit.Usage{Busy: 100 * time.Second, Served: 200 * time.Second, Queued: 200 * time.Second, IOs: 5}}
			gate := admit.NewGate(h, limits)
			require.NoError(t, gate.Start(start))
			*h = test.now
			load, err := gate.Admit(start.Add(10 * time.Second))
			assert.InDelta(t, test.want.MeanInFlight, load.MeanInFlight, 1e-9)
			assert.InDelta(t, test.want.Utilisation, load.Utilisation, 1e-9)
			test.want.MeanInFlight, test.want.Utilisation = load.MeanInFlight, load.Utilisation
			assert.Equal(t, test.want, load)
			switch {
			case test.busy != "":
				require.ErrorIs(t, err, admit.ErrBusy)
				require.EqualError(t, err, test.busy)
				assert.False(t, gate.MayForce(err), "what a user has set always holds")
			case test.otherErr != nil:
				require.ErrorIs(t, err, test.otherErr)
				require.NotErrorIs(t, err, admit.ErrBusy, "not knowing the load is not the same as a load")
				assert.False(t, gate.MayForce(err))
			default:
				require.NoError(t, err)
			}
		})
	}
}

// Without the user's limits, a device is left alone depending on the work it does for others.
func TestLimitsLeftToUs(t *testing.T) {
	const deep = "others keep 40 I/Os in flight, above the limit of 32, and the device does 100 % of the most work that it was seen to do"
	for name, c := range map[string]struct {
		spins    bool
		before   func(*host) // a busier time, ten seconds before
		now      func(*host)
		pressure float64
		busy     string
	}{
		"idle": {now: func(*host) {}},
		"busy for 90 % of the time with one I/O at a time": {now: func(h *host) { h.did(0.9, 0.9, 9000, 9000<<12) }},
		"busy all the time with 30":                        {now: func(h *host) { h.did(1, 30, 1e6, 1e6<<12) }},
		"a hard disk that is busy for 90 % of the time": {
			spins: true, now: func(h *host) { h.did(0.9, 0.9, 900, 900<<12) },
			busy: "others used the device for 90 % of the time, above the limit of 80 %",
		},
		"40 in flight": {now: func(h *host) { h.did(1, 40, 1e6, 1e6<<12) }, busy: deep},
		"40 in flight, of a device that does half of what it can": {
			before: func(h *host) { h.did(1, 40, 2e6, 2e6<<12) }, now: func(h *host) { h.did(1, 40, 1e6, 1e6<<12) },
		},
		"40 large ones in flight, of a device that was seen with small ones": {
			before: func(h *host) { h.did(1, 40, 2e6, 2e6<<12) }, now: func(h *host) { h.did(1, 40, 1e5, 1e5<<17) }, busy: deep,
		},
		"pressure made elsewhere":                {now: func(h *host) { h.did(0.2, 0.3, 2000, 2000<<12) }, pressure: 0.95},
		"pressure made here by one that waits":   {now: func(h *host) { h.did(0.95, 0.95, 9500, 9500<<12) }, pressure: 0.95},
		"pressure, and many wait here":           {now: func(h *host) { h.did(1, 12, 9500, 9500<<12) }, pressure: 0.95, busy: "tasks of this host waited for I/O for 95 % of the last 10 s, above the limit of 60 %, and others keep 12 I/Os in flight on this device"},
		"less pressure, and many wait here":      {now: func(h *host) { h.did(1, 12, 9500, 9500<<12) }, pressure: 0.5},
		"many wait here because it has got slow": {before: func(h *host) { h.did(1, 12, 9500, 9500<<12) }, now: func(h *host) { h.did(1, 12, 950, 950<<12) }, pressure: 0.95},
	} {
		t.Run(name, func(t *testing.T) {
			h, now := &host{usage: admit.Usage{IOs: 1}}, start
			gate := admit.NewGate(h, admit.Limits{})
			gate.Spins = c.spins
			require.NoError(t, gate.Start(now))
			for _, happens := range []func(*host){c.before, c.now} {
				if happens == nil {
					continue
				}
				happens(h)
				h.pressure = c.pressure
				now = now.Add(10 * time.Second)
				_, err := gate.Admit(now)
				if now.Sub(start) == 10*time.Second && c.before != nil {
					continue
				}
				if c.busy == "" {
					require.NoError(t, err)
					return
				}
				require.EqualError(t, err, "busy: "+c.busy)
				assert.Equal(t, !c.spins, gate.MayForce(err))
				h.asleep = true
				assert.False(t, gate.MayForce(err), "what sleeps is not woken")
				h.asleep, h.asleepErr = false, errors.New("broken")
				assert.False(t, gate.MayForce(err))
			}
		})
	}
}

// What a device did long ago does not count for ever: one that stays slow counts as busy again after
// weeks.
func TestTheMostWorkIsForgotten(t *testing.T) {
	h, now := &host{usage: admit.Usage{IOs: 1}}, start
	gate := admit.NewGate(h, admit.Limits{})
	require.NoError(t, gate.Start(now))
	round := func(ios uint64) error {
		h.did(1, 40, ios, ios<<12)
		now = now.Add(10 * time.Second)
		_, err := gate.Admit(now)
		return err
	}
	require.Error(t, round(4e6))
	require.NoError(t, round(1e6))
	load := record.UnknownLoad()
	now = now.AddDate(0, 0, 28)
	require.NoError(t, gate.Done(now, 0, &load))
	require.Error(t, round(1e6))
}

// Before a full run, the limits for hard disks apply to every device.
func TestLimitsBeforeARun(t *testing.T) {
	assert.Equal(t, admit.Limits{MaxUtilisation: new(0.8), MaxInFlight: new(int64(32)), MaxIOPressure: new(0.6)}, admit.Limits{}.ForRun())
	assert.Equal(t, limits, limits.ForRun())
	h := &host{usage: admit.Usage{IOs: 1, InFlight: 1 << 40}, pressure: 1}
	gate := admit.NewGate(h, admit.Unlimited())
	require.NoError(t, gate.Start(start))
	h.did(1, 1<<10, 1, 1)
	_, err := gate.Admit(start.Add(10 * time.Second))
	require.NoError(t, err)
}

func TestOurOwnIOIsNotOthersLoad(t *testing.T) {
	h := &host{}
	gate := admit.NewGate(h, limits)
	require.NoError(t, gate.Start(start))
	load, err := gate.Admit(start.Add(10 * time.Second))
	require.NoError(t, err)

	// Our round keeps the device busy for 9 s with 256 I/Os; others add 44.
	h.usage = admit.Usage{Busy: 9 * time.Second, IOs: 300}
	require.NoError(t, gate.Done(start.Add(20*time.Second), 256, &load))
	assert.EqualValues(t, 44, load.OthersIOs)

	load, err = gate.Admit(start.Add(30 * time.Second))
	require.NoError(t, err)
	assert.Zero(t, load.Utilisation)
}

func TestDeviceThatDoesNotCountUs(t *testing.T) {
	h := &host{}
	gate := admit.NewGate(h, limits)
	require.NoError(t, gate.Start(start))
	load, err := gate.Admit(start.Add(10 * time.Second))
	require.NoError(t, err)
	h.usage.IOs = 100
	require.NoError(t, gate.Done(start.Add(11*time.Second), 256, &load))
	assert.True(t, gate.Blind())
	assert.Equal(t, record.Load{Utilisation: -1, MeanInFlight: -1, OthersIOs: -1}, load)
	load, err = gate.Admit(start.Add(20 * time.Second))
	require.NoError(t, err)
	assert.InDelta(t, -1, load.Utilisation, 0)
	h.usage.IOs = 356
	require.NoError(t, gate.Done(start.Add(21*time.Second), 256, &load))
	assert.False(t, gate.Blind(), "somebody has switched the counters on")
}

func TestUtilisationNeedsASpan(t *testing.T) {
	h := &host{}
	gate := admit.NewGate(h, limits)
	require.NoError(t, gate.Start(start))
	h.usage.Busy = time.Millisecond
	load, err := gate.Admit(start.Add(time.Millisecond))
	require.NoError(t, err)
	assert.InDelta(t, -1, load.Utilisation, 0, "one I/O in one millisecond is not a load of 100 %")
}

func TestGateWithoutHostAdmits(t *testing.T) {
	gate := admit.NewGate(nil, limits)
	require.NoError(t, gate.Start(start))
	load, err := gate.Admit(start)
	require.NoError(t, err)
	assert.Equal(t, record.UnknownLoad(), load)
	require.NoError(t, gate.Done(start, 1, &load))
}

func TestBudgetIsUsedUpAndPaidOff(t *testing.T) {
	const limit = 1000
	var b admit.Budget
	require.NoError(t, b.Allow(start, 600, limit))
	b.Charge(start, 600, limit)
	require.NoError(t, b.Allow(start, 400, limit))
	err := b.Allow(start, 401, limit)
	require.ErrorIs(t, err, admit.ErrBusy)
	require.EqualError(t, err, "busy: the budget of 1000 B written a day is used up for the next 1m27s")
	later := start.Add(87 * time.Second)
	require.NoError(t, b.Allow(later, 401, limit), "a thousandth of a day has paid for one byte")
	require.NoError(t, b.Allow(start.Add(14*time.Hour+24*time.Minute), 1000, limit), "all is paid off")
	require.EqualError(t, b.Allow(start.AddDate(1, 0, 0), 1001, limit), "busy: a round writes 1001 B, more than its budget of 1000 B a day: "+
		"raise admission.write_budget_per_day, or lower ios or block_size", "what was not used is not saved up")
	b.Charge(later, 0, 0)
	require.NoError(t, b.Allow(later, 401, limit), "reads cost nothing")
}

func TestBudgetOverAMonth(t *testing.T) {
	const limit, round = 1 << 30, 1 << 20
	for name, interval := range map[string]time.Duration{"twice as much as may be": 42 * time.Second, "as much": 85 * time.Second} {
		t.Run(name, func(t *testing.T) {
			var b admit.Budget
			var written []time.Time // in the last 24 hours
			var longest time.Duration
			last := start
			for now := start; now.Before(start.AddDate(0, 0, 30)); now = now.Add(interval) {
				for len(written) > 0 && now.Sub(written[0]) >= 24*time.Hour {
					written = written[1:]
				}
				if b.Allow(now, round, limit) != nil {
					continue
				}
				b.Charge(now, round, limit)
				written = append(written, now)
				require.LessOrEqual(t, len(written)*round, 2*limit, "in no 24 hours more than twice as much")
				longest, last = max(longest, now.Sub(last)), now
			}
			assert.LessOrEqual(t, longest, 3*42*time.Second, "never long without a round")
		})
	}
}

func TestBudgetAndClocksThatWereSet(t *testing.T) {
	const limit = 1000
	var b admit.Budget
	b.Charge(start, limit, limit)
	back := start.AddDate(-1, 0, 0)
	require.Error(t, b.Allow(back, 1, limit), "what was written is not forgotten")
	refused := b // whatever it was asked for meanwhile, nothing was written
	require.Error(t, refused.Allow(back, 1, limit))
	require.NoError(t, refused.Allow(back.Add(24*time.Hour), limit, limit), "nor is the clock waited for when nothing is written")
	b.Charge(back, 1, limit)
	require.NoError(t, b.Allow(back.Add(24*time.Hour), limit-1, limit), "nor held against the drive for a year")
	require.Error(t, b.Allow(back, 1<<60, 1), "an absurd round")
	require.Error(t, b.Allow(back, 1, 0), "without a budget nothing is written")
}

func TestWhyIsWithoutTheWord(t *testing.T) {
	var budget admit.Budget
	err := budget.Allow(time.Now(), 4096, 1024)
	require.ErrorIs(t, err, admit.ErrBusy)
	assert.Equal(t, "busy: "+admit.Why(err), err.Error())
	assert.Equal(t, "/dev/x: busy: no", admit.Why(errors.New("/dev/x: busy: no")))
}

// The most work seen before a restart is remembered: with 40 I/Os in flight, a device is not busy if it
// does only half of that work.
func TestTheMostWorkIsRemembered(t *testing.T) {
	for most, busy := range map[float64]bool{0: true, 2e5: false} {
		h := &host{usage: admit.Usage{IOs: 1}}
		gate := admit.NewGate(h, admit.Limits{})
		gate.Most = admit.Capacity{Seen: start, IOs: most, Bytes: most * 4096}
		require.NoError(t, gate.Start(start))
		h.did(1, 40, 1e6, 1e6<<12)
		_, err := gate.Admit(start.Add(10 * time.Second))
		assert.Equal(t, busy, errors.Is(err, admit.ErrBusy), "%g seen", most)
		assert.InDelta(t, max(most, 1e5), gate.Most.IOs, 100)
	}
}
