package suite

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// Every allowed option has a reason, is listed once, and exists in fio: a misspelt name would have no effect.
func TestOptionsWithinAreThoseOfFio(t *testing.T) {
	fio := testenv.Installed(t, "fio")
	help := func(arg string) string {
		out, err := exec.CommandContext(t.Context(), fio, arg).Output()
		require.NoError(t, err, arg)
		return string(out)
	}
	var engines strings.Builder
	for _, engine := range []string{"io_uring", "libaio", "mmap", "pvsync2"} { // other engines have no options
		engines.WriteString(help("--enghelp=" + engine))
	}
	seen := map[string]bool{}
	for _, group := range within() {
		assert.NotEmpty(t, group.why, group.options)
		for _, key := range strings.Fields(group.options) {
			assert.False(t, seen[key], "%s is there twice", key)
			seen[key] = true
			assert.Regexp(t, `(?m)^ *(`+key+` *:|alias: `+key+`$)`, help("--cmdhelp="+key)+engines.String(), key)
		}
	}
}

// fio accepts an option only by its full name and with the right case, so an option that is not listed cannot be spelt
// differently.
func TestFioTakesNoAbbreviations(t *testing.T) {
	fio := testenv.Installed(t, "fio")
	for _, line := range []string{"exec_pre=true", "ioeng=psync", "lockme=1m", "Lockmem=1m", "verify-state-save=1"} {
		c := exec.CommandContext(t.Context(), fio, "--parse-only", "-")
		c.Stdin = strings.NewReader("[a]\nioengine=null\nsize=1m\n" + line + "\n")
		out, err := c.CombinedOutput()
		require.Error(t, err, line)
		assert.Contains(t, string(out), "Bad option", line)
	}
}

// The suites themselves use only options that a user may use.
func TestOptionsOfSuitesAreWithin(t *testing.T) {
	oneCPU := []device.NodeCPUs{{CPUSet: device.CPUSet{CPUs: []int{0}, Cores: 1}}}
	for _, s := range All() {
		values, err := s.Set(nil)
		require.NoError(t, err)
		steps, err := s.Plan(values, Target{Path: "/x", ID: "x", SizeBytes: 1 << 40, Nodes: oneCPU})
		require.NoError(t, err, s.Name)
		for _, step := range steps {
			for _, section := range step.Job.Sections {
				assert.Empty(t, leadsBeyond(section.Options), step.Name)
			}
		}
	}
}
