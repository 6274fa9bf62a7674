package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestARoundBeyondTheLinkMeasuredSomethingElse(t *testing.T) {
	gen3 := &record.PCIeLink{CurrentGTs: 8, MaxGTs: 8, CurrentLanes: 4, MaxLanes: 4}
	probe := record.Probe{BlockBytes: 128 << 10}
	round := func(took time.Duration, outcome record.Outcome) record.Measurement {
		return record.Measurement{Outcome: outcome, Duration: took, Latency: record.Histogram{{Latency: took, Count: 32}}}
	}
	for name, c := range map[string]struct {
		round record.Measurement
		link  *record.PCIeLink
		want  record.Outcome
	}{
		"a good round":              {round(2*time.Millisecond, record.OutcomeOK), gen3, record.OutcomeOK},
		"4.2 GB/s":                  {round(time.Millisecond, record.OutcomeOK), gen3, record.OutcomeDisturbed},
		"no link to measure it by":  {round(time.Millisecond, record.OutcomeOK), nil, record.OutcomeOK},
		"worth nothing already":     {round(time.Millisecond, record.OutcomeUnmapped), gen3, record.OutcomeUnmapped},
		"a round without any I/O":   {record.Measurement{Outcome: record.OutcomeOK}, gen3, record.OutcomeOK},
		"faster than a bus can be":  {record.Measurement{Outcome: record.OutcomeOK, Duration: time.Second, Latency: record.Histogram{{Latency: 20 * time.Microsecond, Count: 2}}}, gen3, record.OutcomeDisturbed},
		"what 128 KiB take at best": {record.Measurement{Outcome: record.OutcomeOK, Duration: time.Second, Latency: record.Histogram{{Latency: 35 * time.Microsecond, Count: 2}}}, gen3, record.OutcomeOK},
	} {
		t.Run(name, func(t *testing.T) {
			m := c.round
			checkLink(&m, Round{Probe: probe, Link: c.link})
			assert.Equal(t, c.want, m.Outcome)
			if c.want == record.OutcomeDisturbed {
				assert.Contains(t, m.Reason, "impossible: ")
				assert.Equal(t, []record.Warning{{Code: record.WarnImpossible, Text: m.Reason}}, m.Warnings)
			} else {
				assert.Equal(t, c.round, m)
			}
		})
	}
}
