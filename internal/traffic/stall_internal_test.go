package traffic

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// looks passes readings for the seconds from to to, of a device with that many I/Os in flight.
func looks(s *stalls, d *drive, from, to int, inFlight uint64, cause record.StallCause) (told []record.Stall) {
	for i := from; i <= to; i++ {
		d.disk.InFlight = inFlight
		r := d.at(float64(i))
		now := record.StallCause("")
		if s.stands(r) {
			now = cause
		}
		told = append(told, s.tick(r, now)...)
	}
	return told
}

func TestAStallIsToldWhenItEnds(t *testing.T) {
	d, s := newDrive(), &stalls{}
	assert.Empty(t, looks(s, d, 0, 3, 4, record.StallByDevice))
	recent, totals := s.list()
	assert.Equal(t, []record.Stall{{Start: at(0), Length: 3 * time.Second, Cause: record.StallByDevice, InFlight: 4, Ongoing: true}}, recent)
	assert.Empty(t, totals)
	d.reads(1, 4*time.Second)
	want := record.Stall{Start: at(0), Length: 3 * time.Second, Cause: record.StallByDevice, InFlight: 4}
	assert.Equal(t, []record.Stall{want}, looks(s, d, 4, 4, 4, record.StallByDevice))
	recent, totals = s.list()
	assert.Equal(t, []record.Stall{want}, recent)
	assert.Equal(t, map[record.StallCause]record.StallTotal{record.StallByDevice: {Count: 1, Length: 3 * time.Second}}, totals)

	looks(s, d, 5, 3605, 0, record.StallByDevice)
	recent, totals = s.list()
	assert.Empty(t, recent, "an hour later")
	assert.Len(t, totals, 1)
}

func TestALongStallIsToldWhileItGoesOn(t *testing.T) {
	d, s := newDrive(), &stalls{}
	told := looks(s, d, 0, 25, 1, record.StallByDevice)
	assert.Equal(t, []record.Stall{{Start: at(0), Length: 10 * time.Second, Cause: record.StallByDevice, InFlight: 1, Ongoing: true}}, told)
	_, totals := s.list()
	assert.Equal(t, record.StallTotal{Count: 1, Length: 25 * time.Second}, totals[record.StallByDevice], "it is counted as it goes on")
	d.discards(1, 26*time.Second)
	told = looks(s, d, 26, 26, 0, record.StallByDevice)
	assert.Equal(t, []record.Stall{{Start: at(0), Length: 25 * time.Second, Cause: record.StallByDiscard, InFlight: 1}}, told,
		"that it was a discard is known now: nobody holds it against the drive any more")
	recent, totals := s.list()
	assert.Equal(t, told, recent)
	assert.Equal(t, record.StallTotal{Count: 1, Length: 25 * time.Second}, totals[record.StallByDevice], "what was counted stays")
}

func TestWhatIsNoStall(t *testing.T) {
	d, s := newDrive(), &stalls{}
	for i := range 20 {
		d.reads(1, time.Second)
		assert.Empty(t, looks(s, d, i, i, 32, record.StallByDevice), "one of many completes")
	}
	assert.Empty(t, looks(s, d, 20, 40, 0, record.StallByDevice), "nothing is in flight")
	for i := 41; i < 60; i++ { // each second another one begins, after a pause
		d.reads(1, time.Millisecond)
		assert.Empty(t, looks(s, d, i, i, uint64(i%2), record.StallByDevice))
	}
	d.disk.ReadSectors += 8 // a part of a request
	d.disk.InFlight = 1
	assert.False(t, s.stands(d.at(60)))
	s.tick(d.at(60), "")
	d.disk = counters.Disk{Number: "259:0", InFlight: 1, Discards: &counters.Discards{}, Flushes: &counters.Flushes{}}
	assert.False(t, s.stands(d.at(61)), "another device, which counts anew")
}

func TestNothingIsConcludedAcrossASecondThatIsNobodys(t *testing.T) {
	d, s := newDrive(), &stalls{}
	looks(s, d, 0, 2, 1, record.StallByDevice)
	told := s.miss()
	assert.Equal(t, []record.Stall{{Start: at(0), Length: 2 * time.Second, Cause: record.StallByDevice, InFlight: 1}}, told)
	assert.Empty(t, looks(s, d, 60, 60, 1, record.StallByDevice))
	looks(s, d, 61, 62, 1, record.StallByDevice)
	recent, _ := s.list()
	assert.Equal(t, at(60), recent[1].Start)
}

func TestCausesOfStalls(t *testing.T) {
	t.Run("a reset after a hang", func(t *testing.T) {
		d, s := newDrive(), &stalls{}
		looks(s, d, 0, 5, 1, record.StallByDevice)
		looks(s, d, 6, 8, 1, record.StallByReset)
		d.reads(1, 8*time.Second)
		looks(s, d, 9, 9, 0, record.StallByDevice)
		_, totals := s.list()
		assert.Equal(t, map[record.StallCause]record.StallTotal{
			record.StallByDevice: {Count: 1, Length: 5 * time.Second}, record.StallByReset: {Count: 1, Length: 3 * time.Second},
		}, totals)
	})
	t.Run("a discard", func(t *testing.T) {
		d, s := newDrive(), &stalls{}
		looks(s, d, 0, 5, 1, record.StallByDevice)
		d.discards(1, 5*time.Second)
		looks(s, d, 6, 6, 1, record.StallByDevice)
		_, totals := s.list()
		assert.Equal(t, map[record.StallCause]record.StallTotal{record.StallByDiscard: {Count: 1, Length: 5 * time.Second}}, totals)
		// More discards are under way: no stall is held against the device while they go on.
		told := looks(s, d, 7, 20, 1, record.StallByDevice)
		assert.Equal(t, record.StallByDiscard, told[0].Cause)
	})
	t.Run("discards that came during a hang explain nothing", func(t *testing.T) {
		d, s := newDrive(), &stalls{}
		looks(s, d, 0, 8, 1, record.StallByDevice)
		d.discards(10, 900*time.Millisecond)
		d.reads(1, 8*time.Second)
		told := looks(s, d, 9, 9, 1, record.StallByDevice)
		assert.Equal(t, record.StallByDevice, told[0].Cause)
	})
	t.Run("short discards explain nothing", func(t *testing.T) {
		d, s := newDrive(), &stalls{}
		d.discards(1000, time.Millisecond)
		looks(s, d, 0, 5, 1, record.StallByDevice)
		d.discards(10, time.Millisecond)
		d.reads(1, 5*time.Second)
		told := looks(s, d, 6, 6, 1, record.StallByDevice)
		assert.Equal(t, record.StallByDevice, told[0].Cause)
	})
}

// Some kernels lose count on devices without a request queue: more I/Os have begun than ended.
func TestIOsThatTheKernelHasLostCountOfAreNoStall(t *testing.T) {
	coarse := func(d *drive, i int, inFlight uint64) reading {
		d.disk.InFlight = inFlight
		r := d.at(float64(i))
		r.timing = counters.TickTimes
		return r
	}
	d, s := newDrive(), &stalls{}
	for i := range 20 {
		r := coarse(d, i, 3)
		assert.False(t, s.stands(r))
		s.tick(r, "")
	}
	s.tick(coarse(d, 20, 4), "")
	assert.True(t, s.stands(coarse(d, 21, 4)), "one more does not complete")
}

func TestRecentStallsAreBounded(t *testing.T) {
	d, s := newDrive(), &stalls{}
	for i := 0; i < 400; i += 4 {
		looks(s, d, i, i+2+i%8/4, 1, record.StallByDevice)
		d.reads(1, time.Second)
	}
	recent, totals := s.list()
	assert.LessOrEqual(t, len(recent), maxRecent+1)
	assert.EqualValues(t, 99, totals[record.StallByDevice].Count)
	for _, r := range recent[:maxRecent] {
		assert.Equal(t, 3*time.Second, r.Length, "the longest stay")
	}
}
