package storytest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// TestStory is one story. Its parts are not separate tests, because each begins where the one before ended.
func TestStory(t *testing.T) {
	begun := time.Now()
	m := startMachine(t)
	inbox := inbox{promtest.NewInbox(t)}
	p := monitor(t, m, inbox)
	tell := func(what string) { t.Logf("%5.1f s: %s", time.Since(begun).Seconds(), what) }
	tell("the machine runs")

	await(t, "enough written blocks of both drives", func() bool {
		return len(p.now(t, `ssdprobe_device_pool_blocks unless on (id) ssdprobe_finding{code="pool_small"}`)) == 2
	})
	for _, d := range []drive{m.worn, m.sound} {
		m.limit(t, d, usualIOPS)
	}
	tell("the drives are found")

	m.learnAnew(t, p, m.worn, m.sound)
	tell("baselines are learned")

	slowSince := m.clock(t)
	m.limit(t, m.worn, slowIOPS)
	await(t, "an alert", func() bool { _, found := inbox.slower(); return found })
	tell("the alert has arrived")
	slower, _ := inbox.slower()
	isAbout(t, slower, m.worn, slowSince, m.clock(t))
	looksSlow(t, m)
	tell("the browser has looked")

	m.limit(t, m.worn, usualIOPS)
	await(t, "the end of all alerts", func() bool { return !inbox.open() })
	tell("the alert is resolved")
	inbox.onlyAbout(t, m.worn)

	changed := time.Now()
	m.changeScheduler(t, m.worn)
	await(t, "the new conditions", func() bool {
		return len(p.now(t, `ssdprobe_device_conditions_info{id="`+m.worn.id+`",scheduler="mq-deadline"}`)) == 1
	})
	m.limit(t, m.worn, slowIOPS)
	await(t, "a baseline under the new conditions, and the change named", func() bool {
		return len(p.now(t, `ssdprobe_drift_attribution_info{id="`+m.worn.id+`",condition="scheduler",from="none",to="mq-deadline"}`)) == 1
	})
	await(t, "what the change did, for the fleet", func() bool {
		return len(p.now(t, `condition:ssdprobe_condition_effect_ratio:p50{condition="scheduler"}`)) > 0
	})
	tell("the change of conditions is blamed")
	isNoAlarm(t, m)
	assert.Empty(t, p.QueryRange(t, changed, time.Now(), `ALERTS{alertname=~"SsdprobeDrive(Degraded|Severe)"}`), "not even for a moment")
	inbox.onlyAbout(t, m.worn)
	assert.Equal(t, 57, dashboardHasData(t, p, "device.json", m.worn, begun, inStory), "queries about a drive")
	assert.Equal(t, 35, dashboardHasData(t, p, "fleet.json", m.worn, begun, inStory), "queries about the fleet")
	tell("the dashboard has its data")
}

// bound is far more than any step takes, even on a busy machine.
const bound = 8 * time.Minute

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	t.Cleanup(cancel)
	return ctx
}

// await waits until something can be observed.
func await(t *testing.T, what string, seen func() bool) {
	t.Helper()
	testenv.EventuallyWithin(t, bound, 250*time.Millisecond, what, seen)
}

// prometheus is the Prometheus that watches the machine.
type prometheus struct{ promtest.Server }

// now evaluates an expression now; there is no answer while Prometheus starts.
func (p prometheus) now(t *testing.T, expr string) []promtest.Series {
	t.Helper()
	series, err := p.TryQuery(t, time.Now(), expr)
	if err != nil {
		return nil
	}
	return series
}
