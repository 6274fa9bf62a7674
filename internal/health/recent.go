package health

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Recent holds by how much the counters of one drive have grown within the last day. The alerts look as
// far back, and a counter does not say when it grew. The zero value is for a drive that was never read.
type Recent struct {
	mu         sync.Mutex // a reader that hung may return while its successor runs
	controller *record.Health
	disk       *record.DiskHealth
	// steps holds the intervals between readings in which something grew, oldest first.
	steps []growth
}

// growth is by how much counters have grown between two readings.
type growth struct {
	from, to             time.Time
	mediaErrors, sectors int64         // NVMe; SATA and SAS: sectors that were replaced
	warning, critical    time.Duration // above these temperatures
}

// span returns "hour", or a longer time if the readings were further apart.
func (g growth) span() string {
	if length := g.to.Sub(g.from); length > time.Hour {
		return units.Span(length)
	}
	return "hour"
}

// add records a reading of a controller, and returns the one before it, or nil if there was none of this drive.
func (r *Recent) add(now record.Health) (before *record.Health) {
	before, r.controller = r.controller, &now
	if before == nil || before.Identity.Serial != now.Identity.Serial {
		r.steps = nil
		return nil
	}
	r.keep(growth{
		from: before.Time, to: now.Time,
		mediaErrors: more(before.MediaErrors, now.MediaErrors),
		warning:     longer(before.WarningTemperatureTime, now.WarningTemperatureTime),
		critical:    longer(before.CriticalTemperatureTime, now.CriticalTemperatureTime),
	})
	return before
}

// addDisk records a reading of a SATA or SAS drive.
func (r *Recent) addDisk(now record.DiskHealth) {
	before := r.disk
	r.disk = &now
	if before != nil && before.ReallocatedSectors != nil && now.ReallocatedSectors != nil {
		r.keep(growth{from: before.Time, to: now.Time, sectors: *now.ReallocatedSectors - *before.ReallocatedSectors})
	}
}

// keep records a step, and forgets steps that ended a day ago or earlier.
func (r *Recent) keep(g growth) {
	g.mediaErrors, g.sectors = max(0, g.mediaErrors), max(0, g.sectors) // a counter may restart
	if g.mediaErrors > 0 || g.sectors > 0 || g.warning > 0 || g.critical > 0 {
		r.steps = append(r.steps, g)
	}
	r.steps = slices.DeleteFunc(r.steps, func(s growth) bool { return g.to.Sub(s.to) >= 24*time.Hour })
}

// within sums up the steps that ended less than d ago. They may have begun earlier: sum.from says when.
func (r *Recent) within(d time.Duration, now time.Time) (sum growth) {
	sum.from, sum.to = now.Add(-d), now
	for _, s := range r.steps {
		if now.Sub(s.to) >= d {
			continue
		}
		if s.from.Before(sum.from) {
			sum.from = s.from
		}
		sum.mediaErrors += s.mediaErrors
		sum.sectors += s.sectors
		sum.warning += s.warning
		sum.critical += s.critical
	}
	return sum
}

// more returns the growth of a counter; 0 if it is unknown or has restarted. A counter that was unknown was 0.
func more(before, now *uint64) int64 {
	var was uint64
	if before != nil {
		was = *before
	}
	if now == nil || *now < was {
		return 0
	}
	return int64(min(*now-was, math.MaxInt64))
}

// longer returns the growth of a counter of time; 0 if it is unknown or has restarted.
func longer(before, now *time.Duration) time.Duration {
	if before == nil || now == nil {
		return 0
	}
	return max(0, *now-*before)
}
