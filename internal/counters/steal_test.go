package counters_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func TestReadSteal(t *testing.T) {
	stat := func(text string) sysfs.FS { return sysfstest.Make(t, map[string]string{"proc/stat": text}, nil) }
	steal, err := counters.ReadSteal(stat("cpu  1 2 3 4 5 6 7 99 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu3 1 2 3 4 5 6 7 91 9 10\nintr 1 2\n"))
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{80 * time.Millisecond, 910 * time.Millisecond}, steal)
	for _, text := range []string{"cpu0 1 2 3 4 5 6 7\n", "cpu0 1 2 3 4 5 6 7 x\n"} {
		_, err = counters.ReadSteal(stat(text))
		require.ErrorContains(t, err, "parse stat", text)
	}
	_, err = counters.ReadSteal(sysfstest.Make(t, nil, nil))
	require.ErrorIs(t, err, os.ErrNotExist)

	steal, err = counters.ReadSteal(sysfs.New("/"))
	require.NoError(t, err)
	assert.NotEmpty(t, steal)
}
