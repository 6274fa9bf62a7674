package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// Every field of a drive's health is shown by a fact; one that is not was forgotten in
// health.go.
func TestEveryFieldOfHealthIsShown(t *testing.T) {
	fresh := func() record.Health {
		h := *recordtest.Snapshot().Controllers[0].Health
		h.CriticalWarnings, h.GroupWarnings = record.CriticalWarnings(), record.CriticalWarnings()
		return h
	}
	facts := func(h record.Health) any {
		return report.HealthFacts(record.Controller{Kind: record.ControllerNVMe, Health: &h})
	}
	recordtest.EachField(t, fresh, func(field string, without record.Health) {
		switch field {
		case "Time", "Identity": // shown above the facts
		case "CriticalWarnings", "GroupWarnings": // shown as findings
		default:
			assert.NotEqual(t, facts(fresh()), facts(without), "no fact shows %s", field)
		}
	})
}

// A queue that the controller no longer has counts in the total, as it does in the remote interrupts.
func TestInterruptsOfQueuesThatAreGone(t *testing.T) {
	facts := report.HealthFacts(record.Controller{Kind: record.ControllerVirtio, Interrupts: &record.Interrupts{
		Count: 900, Remote: new(uint64(500)), Queues: []record.QueueInterrupts{{Queue: "1", Count: 10}},
	}})
	assert.Equal(t, "900 since boot", facts[0].Value)
	assert.Equal(t, "500", facts[1].Value)
	now := time.Now()
	facts = report.HealthFacts(record.Controller{Kind: record.ControllerVirtio, Interrupts: &record.Interrupts{Count: 900, Time: now, Since: now.Add(-2 * time.Hour)}})
	assert.Equal(t, "900 in 2 h", facts[0].Value, "as the daemon counts them")
}
