package counters_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

const pressure = "some avg10=1.50 avg60=2.25 avg300=0.50 total=4270346\n" +
	"full avg10=100.01 avg60=0.02 avg300=0.05 total=3667846\n"

func TestReadIOPressure(t *testing.T) {
	fs := sysfstest.Make(t, map[string]string{"proc/pressure/io": pressure}, nil)
	got, err := counters.ReadIOPressure(fs)
	require.NoError(t, err)
	assert.Equal(t, counters.Pressure{
		Some: counters.Stall{Average10: 0.015, Average60: 0.0225, Average300: 0.005, Total: 4270346 * time.Microsecond},
		Full: counters.Stall{Average10: 1, Average60: 0.0002, Average300: 0.0005, Total: 3667846 * time.Microsecond},
	}, got)

	_, err = counters.ReadIOPressure(sysfstest.Make(t, nil, nil))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Before Linux 5.13 the file of the CPUs has no line for full (Debian 11, RHEL 8).
func TestReadCPUPressureOfOldKernels(t *testing.T) {
	some := strings.SplitAfter(pressure, "\n")[0]
	got, err := counters.ReadCPUPressure(sysfstest.Make(t, map[string]string{"proc/pressure/cpu": some}, nil))
	require.NoError(t, err)
	assert.Equal(t, counters.Stall{Average10: 0.015, Average60: 0.0225, Average300: 0.005, Total: 4270346 * time.Microsecond}, got.Some)
}

func TestReadIOPressureOfThisMachine(t *testing.T) {
	got, err := counters.ReadIOPressure(sysfs.New("/"))
	if errors.Is(err, os.ErrNotExist) {
		assert.NoFileExists(t, "/proc/pressure/io")
		return
	}
	require.NoError(t, err)
	assert.GreaterOrEqual(t, got.Some.Total, got.Full.Total, "when all wait, some wait")
}

func TestParsePressureRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty":        "",
		"no full":      strings.SplitAfter(pressure, "\n")[0],
		"no total":     strings.Replace(pressure, "total=4270346", "", 1),
		"twice":        strings.Replace(pressure, "avg60=2.25", "avg10=1.50", 1) + "some avg10=1",
		"not a number": strings.Replace(pressure, "1.50", "NaN", 1),
		"negative":     strings.Replace(pressure, "1.50", "-1.50", 1),
		"too much":     strings.Replace(pressure, "1.50", "250", 1),
		"overflow":     strings.Replace(pressure, "4270346", "9223372036854775807", 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := counters.ParsePressure(strings.NewReader(text), "some", "full")
			require.Error(t, err)
		})
	}
}

func FuzzParsePressure(f *testing.F) {
	f.Add(pressure)
	f.Add("some avg10=NaN avg60=1e300 avg300=+Inf total=18446744073709551615\n")
	f.Add("cpu x=1\n" + pressure)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := counters.ParsePressure(strings.NewReader(text), "some", "full")
		if err != nil {
			return
		}
		for _, s := range []counters.Stall{p.Some, p.Full} {
			for _, share := range []float64{s.Average10, s.Average60, s.Average300} {
				require.True(t, share >= 0 && share <= 1, "%v", s)
			}
			require.GreaterOrEqual(t, s.Total, time.Duration(0))
		}
	})
}
