package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// The exit code says what the label of the warning says. The help lists what is critical.
func TestWhatIsCriticalForSmart(t *testing.T) {
	for _, code := range []string{record.WarnDriveCritical, record.WarnCriticallyHot, record.WarnSelfTestFailed} {
		w := record.Warning{Code: code, Text: "what was seen"}
		assert.True(t, isCritical(w), code)
		var b strings.Builder
		require.NoError(t, report.Smart(&b, []report.SmartRow{{Controller: record.Controller{Warnings: []record.Warning{w}}}}))
		assert.Contains(t, b.String(), "\ncritical: what was seen")
	}
	for _, code := range []string{record.WarnDiesOffline, record.WarnHot, record.WarnFewSpares, record.WarnWorn, record.WarnMediaErrors, record.WarnThrottling} {
		assert.False(t, isCritical(record.Warning{Code: code}), code)
	}
}

func TestAWarningOfANamespaceNamesIt(t *testing.T) {
	unwritten := record.Warning{Code: record.WarnUnwritten, Text: "only 1 % holds data"}
	now := health.Reading{OfDevice: map[string][]record.Warning{"b": {unwritten}}}
	devices := []record.Device{{ID: "a", Name: "nvme0n1"}, {ID: "b", Name: "nvme0n2"}}
	assert.Equal(t, []record.Warning{{Code: record.WarnUnwritten, Text: "nvme0n2: only 1 % holds data"}}, ofNamespaces(now, devices))
}
