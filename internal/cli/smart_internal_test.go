package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestAWarningOfANamespaceNamesIt(t *testing.T) {
	unwritten := record.Warning{Code: record.WarnUnwritten, Text: "only 1 % holds data"}
	now := health.Reading{OfDevice: map[string][]record.Warning{"b": {unwritten}}}
	devices := []record.Device{{ID: "a", Name: "nvme0n1"}, {ID: "b", Name: "nvme0n2"}}
	assert.Equal(t, []record.Warning{{Code: record.WarnUnwritten, Text: "nvme0n2: only 1 % holds data"}}, ofNamespaces(now, devices))
}
