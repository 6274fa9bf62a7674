package judge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Drives that became slow one after the other are slow by themselves, even where they are more than half of the node.
func TestDrivesThatBecameSlowOneByOneAreNoHost(t *testing.T) {
	m := newMachine(t, 9)
	m.run(2*day, steady)
	slow := m.drives[:5]
	for _, id := range slow {
		m.slower[id] = 1.6
		m.run(3*time.Hour, steady)
		assert.Empty(t, m.node.Together(), id)
		assert.Equal(t, record.Healthy, m.node.Host().Verdict)
	}
	blamed := func() (ids []string) {
		for _, id := range m.drives {
			if m.verdict(id).Verdict.Blames() {
				ids = append(ids, id)
			}
		}
		return ids
	}
	assert.Equal(t, slow, blamed())

	m.run(90*time.Minute, always(1.3))
	host := m.node.Host()
	assert.Equal(t, record.Degraded, host.Verdict, "it is seen beside them")
	assert.InDelta(t, 1.3, host.Ratio.Ratio, 0.1)
	assert.Equal(t, slow, blamed())
	m.run(6*time.Hour, steady)
	assert.Equal(t, record.Healthy, m.node.Host().Verdict)
	assert.Equal(t, slow, blamed())
}
