package labtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

const (
	costModelFile = "/sys/fs/cgroup/io.cost.model"
	costQoSFile   = "/sys/fs/cgroup/io.cost.qos"
)

// testCostModel writes both lines of the suite model to the kernel, and reads them back unchanged.
func testCostModel(t *testing.T, m *lab.Machine) {
	settings := []string{"--set", "repeats=1", "--set", "sequential-block=1MiB", "--set", "percentile=90"}
	require.NoError(t, m.Throttle(bounded(t), plain, 2000)) // the drive must be the bottleneck, not the emulated processors
	t.Cleanup(func() { assert.NoError(t, m.Throttle(afterwards(t), plain, 0)) })
	model := measuredModel(t, m, append(settings, "--destroy", "PLAIN")...)
	number := text(t, m, "/sys/block", disk(t, m, plain).Namespaces[0], "dev")
	assert.Equal(t, number, model.Device)
	assert.Len(t, model.Coefficients, 6)

	t.Cleanup(func() {
		_, err := m.Output(afterwards(t), "sh", "-ec", "echo '"+number+" enable=0 ctrl=auto' > "+costQoSFile+"; echo '"+number+" ctrl=auto' > "+costModelFile)
		assert.NoError(t, err)
	})
	output(t, m, "sh", "-ec", "echo '"+model.ModelLine+"' > "+costModelFile)
	output(t, m, "sh", "-ec", "echo '"+model.QoSLine+"' > "+costQoSFile)
	assert.Equal(t, model.ModelLine, lineOf(t, m, costModelFile, number))
	assert.Equal(t, model.QoSLine, lineOf(t, m, costQoSFile, number))
	assert.Regexp(t, ` rpct=90\.00 rlat=[1-9]\d* wpct=90\.00 wlat=[1-9]\d* `, model.QoSLine)

	doc, result := suiteRun(t, m, "model", []string{plain}, settings...)
	require.Equal(t, 0, result.ExitCode, "%+v", result)
	assert.Contains(t, codes(doc), record.WarnMethod, "io.cost is on")
	require.Len(t, doc.Report.Steps, 3, "without --destroy, it is only read")
	assert.Empty(t, doc.Report.Analysis.CostModel.ModelLine)
	testNoCostModel(t, m)
}

// testNoCostModel tests devices that make no requests, so that io.cost cannot throttle them.
func testNoCostModel(t *testing.T, m *lab.Machine) {
	node := disk(t, m, plain).Namespaces[0]
	output(t, m, "dmsetup", "create", "costly", "--table", fmt.Sprintf("0 %d linear /dev/%s 0", number(t, m, "/sys/block", node, "size"), node))
	t.Cleanup(func() {
		_, err := m.Output(afterwards(t), "dmsetup", "remove", "--retry", "costly")
		assert.NoError(t, err)
	})
	for name, device := range map[string]string{
		"a mapped device":                  output(t, m, "sh", "-ec", "cd /sys/block/"+node+"/holders && echo -n *"),
		"a namespace with two controllers": disk(t, m, dual).Namespaces[0],
	} {
		result := ssdprobe(t, m, nil, "run", "model", "-t", "/dev/"+device, "--even-if-busy")
		assert.Equal(t, 2, result.ExitCode, name)
		assert.Contains(t, result.Stderr, "io.cost does not work on this device", name)
	}
}

// measuredModel repeats the suite until nothing disturbed it.
func measuredModel(t *testing.T, m *lab.Machine, settings ...string) record.CostModel {
	t.Helper()
	var doc report.Document
	eventually(t, "all six were measured undisturbed", func() bool {
		var result lab.Result
		doc, result = suiteRun(t, m, "model", []string{plain}, settings...)
		require.Equal(t, 0, result.ExitCode, "%+v", result)
		return doc.Report.Analysis.CostModel.ModelLine != ""
	})
	return *doc.Report.Analysis.CostModel
}

// lineOf returns the line of a device in a file of a cgroup.
func lineOf(t *testing.T, m *lab.Machine, file, number string) string {
	t.Helper()
	for line := range strings.Lines(output(t, m, "cat", file)) {
		if strings.HasPrefix(line, number+" ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func codes(doc report.Document) []string {
	var all []string
	for _, w := range doc.Report.Warnings {
		all = append(all, w.Code)
	}
	return all
}
