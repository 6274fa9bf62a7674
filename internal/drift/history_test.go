package drift_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// logged is the traffic of a drive as a service logs it: every 15 s a mean latency and a rate of writes, but no utilisation.
type logged struct {
	track   *drift.Tracker
	work    func(rate float64) drift.Work
	seconds int64
	alarms  int
}

// run lets writes come at some times the usual rate. They take some times as long as usual.
func (l *logged) run(d time.Duration, more, slower float64) {
	for range int(d / (15 * time.Second)) {
		l.seconds += 15
		noise := 1 + 0.1*float64(l.seconds/15*7%17-8)/8
		events := l.track.AddRound(drift.Round{
			Time: time.Unix(l.seconds, 0), Values: drift.Values{0, 200e-6 * slower * noise}, Utilisation: -1, Work: l.work(more),
		}, record.Conditions{})
		for _, e := range events {
			if e.To == record.Regressed {
				l.alarms++
			}
		}
	}
}

// A history may have bytes and no I/Os, or I/Os and no bytes. What more work explains then is no drift, either.
func TestABurstOfWorkIsNoDriftWhereNoUtilisationIsKnown(t *testing.T) {
	for name, work := range map[string]func(rate float64) drift.Work{
		"bytes": func(rate float64) drift.Work { return drift.Work{Known: true, WrittenBytes: 1e8 * rate} },
		"I/Os":  func(rate float64) drift.Work { return drift.Work{Known: true, Writes: 1e4 * rate} },
	} {
		t.Run(name, func(t *testing.T) {
			l := logged{track: drift.NewTrafficTracker(drift.Default()), work: work}
			l.run(26*time.Hour, 1, 1)
			l.run(10*time.Minute, 1.8, 2)
			assert.Zero(t, l.alarms, "a queue explains it")
			l.run(time.Hour, 1, 1)
			l.run(10*time.Minute, 3, 6)
			assert.Zero(t, l.alarms, "the drive never had so much work")
			l.run(time.Hour, 1, 1)
			l.run(10*time.Minute, 1, 2)
			assert.Equal(t, 1, l.alarms, "the same work takes longer")
		})
	}
}
