package counters

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

func TestCPUTime(t *testing.T) {
	got, err := parseCPUTime(strings.NewReader("cpu  100 20 30 4000 500 6 7 80 9 1\ncpu0 1 2 3 4 5 6 7 8 9 10\n"))
	require.NoError(t, err)
	want := CPUTime{Busy: 1630 * time.Millisecond, Idle: 40 * time.Second, Wait: 5 * time.Second, Steal: 800 * time.Millisecond}
	assert.Equal(t, want, got)
	assert.Equal(t, 47430*time.Millisecond, got.Total())
}

func TestCPUTimeThatMakesNoSense(t *testing.T) {
	for _, text := range []string{"", "cpu 1 2 3\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu 1 2 x 4 5 6 7 8\n"} {
		_, err := parseCPUTime(strings.NewReader(text))
		assert.Error(t, err, text)
	}
}

func TestCPUTimeOfThisMachine(t *testing.T) {
	got, err := ReadCPUTime(sysfs.New("/"))
	require.NoError(t, err)
	assert.Positive(t, got.Busy)
}
