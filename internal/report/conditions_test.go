package report_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// Every condition is shown among the facts of a run and in the conditions of an epoch.
func TestEveryConditionIsShown(t *testing.T) {
	r := quickRun()
	r.Conditions = recordtest.Conditions()
	c := r.Conditions
	r.Device = record.Device{Name: "nvme0n1", Model: c.Model, Firmware: c.Firmware, Transport: c.Transport}
	r.Engine = c.Engine
	var b strings.Builder
	require.NoError(t, report.Baselines(&b, []report.BaselineRow{{Target: "/dev/nvme0n1", Baseline: record.Baseline{Conditions: c}}}))
	run, epoch := strings.Join(strings.Fields(runText(t, r)), " "), strings.Join(strings.Fields(b.String()), " ")
	for _, condition := range c.List() {
		assert.Contains(t, run, condition.Value, condition.Name)
		assert.Contains(t, epoch, record.ConditionTitle(condition.Name)+" "+condition.Value)
	}
}

// Reports that users kept from version 1 can be read.
func TestParseVersion1(t *testing.T) {
	var read []report.Document
	for _, name := range []string{"run_version1.json", "run_probe.json"} {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		documents, err := report.Parse(text)
		require.NoError(t, err)
		read = append(read, documents...)
	}
	require.Len(t, read, 2)
	assert.Equal(t, record.NumberOf(64), read[0].Report.Conditions.NrRequests)
	assert.Equal(t, read[1].Report, read[0].Report)
}
