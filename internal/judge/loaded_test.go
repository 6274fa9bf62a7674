package judge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// tooBusy makes the drives of a machine too busy for more than a small round each quarter of an hour.
func (m *machine) tooBusy() {
	m.loaded, m.busy = true, 0.9
	m.work.Reads, m.work.ReadBytes = 10*m.work.Reads, 10*m.work.ReadBytes
}

// A drive that is always too busy is judged by its small rounds, but for their tails.
func TestSmallRoundsOnABusyDriveAreCompared(t *testing.T) {
	for name, before := range map[string]func(*machine){
		"busy from the first day on": func(m *machine) { m.tooBusy(); m.run(4*day, steady) },
		"busy since days":            func(m *machine) { m.run(36*time.Hour, steady); m.tooBusy(); m.run(3*day, steady) },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, 1)
			before(m)
			probe := m.node.Tracker("d00", "read-4k")
			require.Equal(t, record.Final, probe.Maturity())
			require.True(t, probe.Known(m.now()))
			m.probed = map[string]float64{"d00": 2}
			m.tail = 3
			m.run(2*time.Hour, steady)
			assert.Equal(t, []string{"probes"}, m.verdict("d00").Witnesses)
			assert.InDelta(t, 2, m.verdict("d00").Ratio.Ratio, 0.2)
			for i, s := range probe.Statistics() {
				assert.Equal(t, !s.IsTail(), probe.StateOf(i) == record.Regressed, s)
			}
			if p99 := probe.DriftAt(m.now())[2]; name == "busy since days" {
				assert.Equal(t, record.Unknown, p99.State)
				assert.Equal(t, record.ReasonBusy, p99.Unjudged.Reason)
			} else {
				assert.Equal(t, record.Waiting, p99.State)
			}
		})
	}
}

// They are too few to refute what users feel.
func TestSmallRoundsOnABusyDriveRefuteNothingAtOnce(t *testing.T) {
	m := newMachine(t, 1)
	m.run(36*time.Hour, steady)
	m.tooBusy()
	m.run(3*day, steady)
	m.felt = map[string]float64{"d00": 1.6}
	m.run(12*time.Minute, steady)
	for range 48 {
		m.run(time.Minute, steady)
		require.Equal(t, record.Degraded, m.verdict("d00").Verdict)
		require.Equal(t, []string{"traffic"}, m.verdict("d00").Witnesses)
	}
}
