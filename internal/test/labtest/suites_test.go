package labtest_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// TestSuites runs suites of fio on NVMe drives, and tries to destroy what must not be.
func TestSuites(t *testing.T) {
	t.Parallel()
	m := lab.Start(t, lab.Options{
		Drives: []lab.Drive{
			{ID: plain, WrittenRatio: 1, SizeBytes: 32 << 20, Serial: "PLAIN"},
			{ID: spare, WrittenRatio: 1, SizeBytes: 32 << 20, Serial: "SPARE"},
			{ID: dual, WrittenRatio: 1, SizeBytes: 8 << 20, Controllers: 2},
		},
		Files: map[string]string{
			"/usr/local/bin/ssdprobe": lab.Build(t, "github.com/ssdprobe/ssdprobe/cmd/ssdprobe"),
			"/usr/local/bin/holder":   buildHolder(t),
		},
		Programs:   []string{"dmsetup"},
		Modules:    []string{"dm-mod", "nvmet", "target-core-mod", "target-core-iblock", "target-core-file"},
		KernelArgs: []string{"nvme.poll_queues=1"},
	})
	for name, run := range map[string]func(*testing.T, *lab.Machine){
		"interrupts": testInterruptSuite, "write cache": testWriteCacheSuite, "scale": testScaleSuite, "holders": testHolders,
		"in use": testInUse, "cost model": testCostModel,
	} {
		t.Run(name, func(t *testing.T) { run(t, m) })
	}
}

// suiteRun runs a suite on drives, short.
func suiteRun(t *testing.T, m *lab.Machine, name string, drives []string, more ...string) (report.Document, lab.Result) {
	t.Helper()
	args := []string{"run", name, "--even-if-busy", "--set", "time=300ms", "-o", "json"}
	for _, drive := range drives {
		args = append(args, "-t", "/dev/"+disk(t, m, drive).Namespaces[0])
	}
	var doc report.Document
	result := ssdprobe(t, m, nil, append(args, more...)...)
	if result.ExitCode == 0 {
		ssdprobeJSON(t, result, &doc)
	}
	return doc, result
}

func testInterruptSuite(t *testing.T, m *lab.Machine) {
	controller := disk(t, m, plain).Controllers[0]
	before, known := feature(t, m, controller, 8)
	require.True(t, known)
	// QEMU's drives have the feature and refuse to change it.
	_, result := suiteRun(t, m, "interrupts", []string{plain})
	assert.Equal(t, 1, result.ExitCode)
	assert.Contains(t, result.Stderr, "change interrupt coalescing: unsupported operation")
	assert.NotContains(t, result.Stderr, "step 1 of", "nothing was run")
	after, _ := feature(t, m, controller, 8)
	assert.Equal(t, before, after)

	doc, result := suiteRun(t, m, "interrupts", []string{plain}, "--set", "depths=1,16", "--set", "repeats=1", "--set", "coalescing=as-found")
	require.Equal(t, 0, result.ExitCode, "%+v", result)
	perIO := map[string]float64{}
	for _, step := range doc.Report.Steps {
		perIO[step.Name] = step.InterruptsPerIO
	}
	require.Len(t, perIO, 4)
	assert.InDelta(t, 1, perIO["random-read-qd1"], 0.2)
	assert.Less(t, perIO["polled-random-read-qd1"], 0.2, "polled queues have no interrupts")
	require.Len(t, doc.Report.Analysis.Effects, 2)
	assert.Equal(t, []string{"polling", "off", "on"}, []string{
		doc.Report.Analysis.Effects[0].Setting, doc.Report.Analysis.Effects[0].From, doc.Report.Analysis.Effects[0].To,
	})
}

func testWriteCacheSuite(t *testing.T, m *lab.Machine) {
	controller := disk(t, m, plain).Controllers[0]
	before, known := feature(t, m, controller, 6)
	require.True(t, known)
	settings := []string{"--set", "blocks=4KiB", "--set", "depths=1", "--set", "repeats=2"}
	_, result := suiteRun(t, m, "write-cache", []string{plain}, settings...)
	assert.Equal(t, 4, result.ExitCode)
	assert.Contains(t, result.Stderr, "nobody has named it by its serial number")
	doc, result := suiteRun(t, m, "write-cache", []string{plain}, append(settings, "--destroy", "PLAIN")...)
	require.Equal(t, 0, result.ExitCode, "%+v", result)
	after, _ := feature(t, m, controller, 6)
	assert.Equal(t, before, after, "it is restored")
	require.Len(t, doc.Report.Analysis.Effects, 1)
	assert.Equal(t, "off", doc.Report.Analysis.Effects[0].From)
}

func testScaleSuite(t *testing.T, m *lab.Machine) {
	doc, result := suiteRun(t, m, "scale", []string{plain, spare}, "--set", "ramp=0s")
	require.Equal(t, 0, result.ExitCode, "%+v", result)
	require.Len(t, doc.Report.Targets, 2)
	assert.Regexp(t, "^pci[0-9a-f]{4}:", doc.Report.Targets[0].Group)
	assert.Len(t, doc.Report.Analysis.Scalings, 2)
}

// What is made of a drive stands in sysfs, whoever made it.
func testHolders(t *testing.T, m *lab.Machine) {
	node := disk(t, m, spare).Namespaces[0]
	sectors := number(t, m, "/sys/block", node, "size")
	sum := output(t, m, "sha256sum", "/dev/"+node)
	output(t, m, "dmsetup", "create", "over", "--table", fmt.Sprintf("0 %d linear /dev/%s 0", sectors, node))
	_, result := suiteRun(t, m, "mixed", []string{spare}, "--destroy", "SPARE", "--set", "engines=libaio")
	assert.Equal(t, 4, result.ExitCode)
	assert.Contains(t, result.Stderr, "/dev/dm-0 is made of it")
	assert.Contains(t, result.Stderr, "\n- wipefs and blkid of util-linux not found", "the machine has neither")
	output(t, m, "dmsetup", "remove", "over")
	assert.Equal(t, sum, output(t, m, "sha256sum", "/dev/"+node))
	_, result = suiteRun(t, m, "mixed", []string{spare}, "--destroy", "SPARE", "--set", "engines=libaio")
	assert.Equal(t, 0, result.ExitCode, "%+v", result)
	assert.Contains(t, result.Stderr, "/dev/"+node+": wipefs and blkid of util-linux not found", "it begins all the same")
}

func ssdprobeJSON(t *testing.T, result lab.Result, into any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(result.Stdout), into), "%+v", result)
}
