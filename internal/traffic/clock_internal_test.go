package traffic

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func TestSecondsOfTheClock(t *testing.T) {
	c := clock{host: sysfstest.Make(t, nil, nil)}
	assert.True(t, c.beat(at(0)))
	c.end(at(0))
	pass := func(from float64, beats ...float64) (over int, nobodys bool) {
		for _, b := range beats {
			if c.beat(at(from + b)) {
				over++
				nobodys = c.end(at(from+b)) || nobodys
			}
		}
		return over, nobodys
	}
	over, nobodys := pass(0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2.01, 2.25, 2.5, 2.8, 3)
	assert.Equal(t, 3, over)
	assert.False(t, nobodys)
	over, nobodys = pass(3, 0.25, 0.9, 1.3) // late, on a busy machine
	assert.Equal(t, 1, over)
	assert.False(t, nobodys)
	over, nobodys = pass(4.3, 0.05, 0.9, 1.1)
	assert.Equal(t, 1, over)
	assert.True(t, nobodys, "the machine stood still within a second")
	over, nobodys = pass(5.4, 60)
	assert.Equal(t, 1, over)
	assert.True(t, nobodys, "it was suspended")
	_, nobodys = pass(65.4, 0.25, 0.5, 0.75, 1)
	assert.False(t, nobodys)
}

func TestSecondsThatTheHypervisorTook(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "proc"), 0o700))
	c := clock{host: sysfs.New(root)}
	second := func(i int, cpu0, cpu1 string) bool {
		text := "cpu 1 1 1 1 1 1 1 9 0 0\ncpu0 1 1 1 1 1 1 1 " + cpu0 + " 0 0\ncpu1 1 1 1 1 1 1 1 " + cpu1 + " 0 0\nintr 5 4 3\n"
		require.NoError(t, os.WriteFile(filepath.Join(root, "proc/stat"), []byte(text), 0o600))
		c.beat(at(float64(i)))
		return c.stolen(at(float64(i)))
	}
	assert.False(t, second(0, "0", "5"), "it is the first")
	assert.False(t, second(1, "20", "25"), "a fifth of a second of each CPU")
	assert.True(t, second(2, "20", "85"), "of one CPU more than half")
	assert.False(t, second(3, "20", "85"))
	assert.False(t, second(30, "2000", "85"), "it cannot be said of which second")
}

func TestAMachineWithoutAHypervisorIsSeldomAsked(t *testing.T) {
	c := clock{host: sysfstest.Make(t, map[string]string{"proc/stat": "cpu 1 1 1 1 1 1 1 0\ncpu0 1 1 1 1 1 1 1 0\n"}, nil)}
	asked := map[time.Time]bool{}
	for i := range 61 {
		assert.False(t, c.stolen(at(float64(i))))
		asked[c.asked] = true
	}
	assert.Len(t, asked, 3)
}
