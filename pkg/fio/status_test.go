package fio_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// The lines are from fio 3.33, unless a comment says otherwise.
func TestParseStatus(t *testing.T) {
	const ki, mi = 1 << 10, 1 << 20
	for line, want := range map[string]fio.Status{
		"Jobs: 2 (f=2)": {Running: 2},
		"Jobs: 2 (f=2): [m(2)][60.0%][r=94.4MiB/s,w=93.9MiB/s][r=24.2k,w=24.0k IOPS][eta 00m:02s]": {
			Running: 2, Done: new(0.6), Remaining: new(2 * time.Second),
			Rates: &fio.Rates{ReadBytesPerSecond: 94.4 * mi, WriteBytesPerSecond: 93.9 * mi, ReadIOPS: 24200, WriteIOPS: 24000},
		},
		"Jobs: 3 (f=3), 0-600 IOPS: [m(3),P(1)][37.5%][r=1210KiB/s,w=1210KiB/s][r=302,w=302 IOPS][eta 00m:05s]     ": {
			Running: 3, Done: new(0.375), Remaining: new(5 * time.Second),
			Rates: &fio.Rates{ReadBytesPerSecond: 1210 * ki, WriteBytesPerSecond: 1210 * ki, ReadIOPS: 302, WriteIOPS: 302},
		},
		"Jobs: 1 (f=1): [_(3),W(1)][77.8%][w=354MiB/s][w=5670 IOPS][eta 00m:02s]": {
			Running: 1, Done: new(0.778), Remaining: new(2 * time.Second),
			Rates: &fio.Rates{WriteBytesPerSecond: 354 * mi, WriteIOPS: 5670},
		},
		"Jobs: 3 (f=0): [/(3),P(1)][-.-%][eta 49710d:06h:28m:14s]": {Running: 3},
		// hand-made: kb_base=1000, a trim job, a run that takes days
		"Jobs: 1 (f=1): [t(1)][0.1%][t=2.50MB/s][t=610 IOPS][eta 02d:01h:00m:03s]": {
			Running: 1, Done: new(0.001), Remaining: new(49*time.Hour + 3*time.Second),
		},
		"Jobs: 1 (f=1): [r(1)][1.0%][r=2.50MB/s][r=610 IOPS][eta 01h:00m:03s]": {
			Running: 1, Done: new(0.01), Remaining: new(time.Hour + 3*time.Second),
			Rates: &fio.Rates{ReadBytesPerSecond: 2.5e6, ReadIOPS: 610},
		},
	} {
		got, ok := fio.ParseStatus(line)
		assert.True(t, ok, line)
		assert.Equal(t, want, got, line)
	}
	for _, line := range []string{"", "Jobs:", "fio: terminating on signal 2", "Jobs: x (f=1)", "Jobs: 99999999999 (f=1)"} {
		_, ok := fio.ParseStatus(line)
		assert.False(t, ok, line)
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add("Jobs: 2 (f=2): [m(2)][60.0%][r=94.4MiB/s,w=93.9MiB/s][r=24.2k,w=24.0k IOPS][eta 00m:02s]")
	f.Add("Jobs: 3 (f=0): [/(3),P(1)][-.-%][eta 49710d:06h:28m:14s]")
	f.Fuzz(func(t *testing.T, line string) {
		s, ok := fio.ParseStatus(line)
		if !ok {
			assert.Zero(t, s)
			return
		}
		assert.GreaterOrEqual(t, s.Running, 0)
		if s.Done != nil {
			assert.True(t, *s.Done >= 0 && *s.Done <= 1)
		}
		if s.Remaining != nil {
			assert.GreaterOrEqual(t, *s.Remaining, time.Duration(0))
		}
		if s.Rates != nil {
			for _, rate := range []float64{s.Rates.ReadIOPS, s.Rates.WriteIOPS, s.Rates.ReadBytesPerSecond, s.Rates.WriteBytesPerSecond} {
				assert.False(t, rate < 0 || math.IsNaN(rate))
			}
		}
	})
}
