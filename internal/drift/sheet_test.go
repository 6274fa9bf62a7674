package drift_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// drive returns a drive whose read-4k has a final baseline: a median in microseconds, and the ratio of p99 to that.
func drive(id string, p50, tail float64) record.TargetStatus {
	return record.TargetStatus{
		ID: id, Device: record.Device{Model: "MZQL2", SizeBytes: 4e12},
		Probes: []record.ProbeStatus{{
			Probe: record.DefaultProbes()[0],
			Baseline: &record.Baseline{
				Learned: start(), Maturity: record.Final, Conditions: record.Conditions{Firmware: "A", PCIeLink: record.LinkRate{GTs: 16, Lanes: 4}},
				Values: map[record.Statistic]float64{
					record.LatencyP50: p50 * 1e-6, record.LatencyP95: p50 * 1.2e-6, record.LatencyP99: tail * p50 * 1e-6, record.IOPS: 1e6 / p50,
				},
			},
		}},
	}
}

func TestSlowerThanDataSheet(t *testing.T) {
	latency := record.DataSheet{Model: "MZQL*", RandomReadLatency: &record.Promise[time.Duration]{Value: 80 * time.Microsecond}}
	full := latency
	full.SequentialReadBytesPerSecond = &record.Promise[float64]{Value: 6.5536e9} // 128 KiB in 20 µs
	iops := record.DataSheet{Model: "*", RandomReadIOPS: &record.Promise[float64]{Value: 1e6}, SequentialReadBytesPerSecond: &record.Promise[float64]{Value: 7e9}}
	at := func(blockBytes int64) record.DataSheet {
		return record.DataSheet{Model: "*", RandomReadLatency: &record.Promise[time.Duration]{Value: 80 * time.Microsecond, BlockBytes: blockBytes}}
	}
	with := func(p50 float64, change func(*record.TargetStatus)) record.TargetStatus {
		d := drive("d", p50, 2)
		change(&d)
		return d
	}
	probe := func(i int) func(*record.TargetStatus) {
		return func(t *record.TargetStatus) { t.Probes[0].Probe = record.DefaultProbes()[i] }
	}
	for name, c := range map[string]struct {
		drive  record.TargetStatus
		sheets []record.DataSheet
		want   string
	}{
		"as promised":          {drive("d", 85, 2), []record.DataSheet{latency}, ""},
		"with the host's part": {drive("d", 119, 9), []record.DataSheet{latency}, ""},
		"slow": {
			drive("d", 152, 2), []record.DataSheet{latency},
			"the baseline of probe read-4k is far slower than the data sheet: p50 152 µs instead of 80.0 µs, 90 % slower",
		},
		"no sheet":                        {drive("d", 150, 2), nil, ""},
		"of another model":                {drive("d", 150, 2), []record.DataSheet{{Model: "MZWL*", RandomReadLatency: latency.RandomReadLatency}}, ""},
		"the first sheet counts":          {drive("d", 150, 2), []record.DataSheet{{Model: "MZ*", RandomReadLatency: &record.Promise[time.Duration]{Value: 120 * time.Microsecond}}, latency}, ""},
		"nothing to compare":              {drive("d", 150, 2), []record.DataSheet{iops}, ""},
		"deep queues wait":                {with(150, func(t *record.TargetStatus) { t.Probes[0].Probe.QueueDepth = 4 }), []record.DataSheet{latency}, ""},
		"an early baseline":               {with(150, func(t *record.TargetStatus) { t.Probes[0].Baseline.Maturity = record.Early }), []record.DataSheet{latency}, ""},
		"a file":                          {with(150, func(t *record.TargetStatus) { t.File = true }), []record.DataSheet{latency}, ""},
		"durable writes":                  {with(900, probe(2)), []record.DataSheet{full}, ""},
		"larger blocks need the rate too": {with(900, probe(1)), []record.DataSheet{latency}, ""},
		"larger blocks within":            {with(199, probe(1)), []record.DataSheet{full}, ""},
		"larger blocks, bytes at the rate": {
			with(210, probe(1)), []record.DataSheet{full},
			"the baseline of probe read-128k is far slower than the data sheet: p50 210 µs instead of 100 µs, 2.1 times slower",
		},
		"smaller blocks take no longer": {
			drive("d", 152, 2), []record.DataSheet{at(16 << 10)},
			"the baseline of probe read-4k is far slower than the data sheet: p50 152 µs instead of 80.0 µs for 16 KiB, 90 % slower",
		},
		"a sheet for smaller blocks promises nothing": {drive("d", 152, 2), []record.DataSheet{at(512)}, ""},
		"the usual blocks, named": {
			drive("d", 152, 2), []record.DataSheet{at(4 << 10)},
			"the baseline of probe read-4k is far slower than the data sheet: p50 152 µs instead of 80.0 µs, 90 % slower",
		},
		"blocks of the probe": {
			with(152, func(t *record.TargetStatus) { t.Probes[0].Probe.BlockBytes = 16 << 10 }), []record.DataSheet{at(16 << 10)},
			"the baseline of probe read-4k is far slower than the data sheet: p50 152 µs instead of 80.0 µs, 90 % slower",
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string][]record.Warning{}
			if c.want != "" {
				want["d"] = []record.Warning{{Code: record.WarnSlowerThanSheet, Text: c.want}}
			}
			assert.Equal(t, want, drift.SlowerThanDataSheet(record.Snapshot{Targets: []record.TargetStatus{c.drive}}, c.sheets))
		})
	}
}
