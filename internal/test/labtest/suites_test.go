package labtest_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// TestSuites runs suites of fio on NVMe drives, and tries to destroy drives that must not be destroyed.
func TestSuites(t *testing.T) {
	t.Parallel()
	m := lab.Start(t, lab.Options{
		Drives: []lab.Drive{
			{ID: plain, WrittenRatio: 1, SizeBytes: 32 << 20, Serial: "PLAIN"},
			{ID: spare, WrittenRatio: 1, SizeBytes: 32 << 20, Serial: "SPARE"},
			{ID: dual, WrittenRatio: 1, SizeBytes: 8 << 20, Controllers: 2},
			{ID: scratch, WrittenRatio: 1, SizeBytes: 32 << 20, Serial: "SCRATCH"},
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
		"in use": testInUse, "cost model": testCostModel, "killed": testKilledSuite, "format": testFormat,
	} {
		t.Run(name, func(t *testing.T) { run(t, m) })
	}
}

// scratch is a drive that the test formats.
const scratch = "scratch"

// suiteRun runs a suite on drives, with short steps.
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
	// QEMU's drives have the feature but refuse to change it.
	_, result := suiteRun(t, m, "interrupts", []string{plain})
	assert.Equal(t, 1, result.ExitCode)
	assert.Contains(t, result.Stderr, "change interrupt coalescing: unsupported operation")
	assert.NotContains(t, result.Stderr, "step 1 of", "nothing was run")
	after, _ := feature(t, m, controller, 8)
	assert.Equal(t, before, after)

	// Depth 1 only: QEMU's drives now and then lose a polled I/O of several for a minute.
	doc, result := suiteRun(t, m, "interrupts", []string{plain}, "--set", "depths=1", "--set", "repeats=1", "--set", "coalescing=as-found")
	require.Equal(t, 0, result.ExitCode, "%+v", result)
	perIO := map[string]float64{}
	for _, step := range doc.Report.Steps {
		perIO[step.Name] = step.InterruptsPerIO
	}
	require.Len(t, perIO, 2)
	assert.InDelta(t, 1, perIO["random-read-qd1"], 0.2)
	assert.Less(t, perIO["polled-random-read-qd1"], 0.2, "polled queues have no interrupts")
	require.Len(t, doc.Report.Analysis.Effects, 1)
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

// testKilledSuite kills a run that has changed the write cache of the drive. No ssdprobe is started after that.
func testKilledSuite(t *testing.T, m *lab.Machine) {
	controller := disk(t, m, plain).Controllers[0]
	cache := func() uint32 {
		value, known := feature(t, m, controller, 6)
		require.True(t, known)
		return value
	}
	before := cache()
	require.NotZero(t, before)
	run, err := m.StartProcess(bounded(t), "ssdprobe", "run", "write-cache", "--even-if-busy", "-t", "/dev/"+disk(t, m, plain).Namespaces[0],
		"--destroy", "PLAIN", "--set", "time=10m", "--set", "blocks=4KiB", "--set", "depths=1")
	require.NoError(t, err)
	eventually(t, "fio runs with the cache off", func() bool {
		found, err := m.Run(bounded(t), "pidof", "fio")
		require.NoError(t, err)
		return found.ExitCode == 0 && cache() == 0
	})
	require.NoError(t, run.SignalGroup(bounded(t), syscall.SIGKILL))
	eventually(t, "the cache is on again", func() bool { return cache() == before })
	ended, err := run.Wait(bounded(t))
	require.NoError(t, err)
	assert.Equal(t, 128+int(syscall.SIGKILL), ended.ExitCode)
	assert.Contains(t, ended.Stderr, "ssdprobe: restored after a run: write cache of ")
}

// testFormat formats a drive, and tries to format one without permission.
func testFormat(t *testing.T, m *lab.Machine) {
	node := "/dev/" + disk(t, m, scratch).Namespaces[0]
	sum := output(t, m, "sha256sum", node)
	// Rounds that mostly read write little, however fast the machine is.
	short := []string{"--set", "precondition=0", "--set", "rounds=2", "--set", "window=2", "--set", "reads=90"}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"nobody has named it":    {[]string{"--format"}, 2, "--format: goes with --destroy SERIAL, which names the device"},
		"nobody has asked":       {[]string{"--destroy", "SCRATCH", "--set", "purge=format"}, 2, "give --format and --destroy SERIAL instead"},
		"another one was named":  {[]string{"--format", "--destroy", "SPARE"}, 4, "its serial number is SCRATCH, and SPARE was named"},
		"it would only be shown": {[]string{"--format", "--destroy", "SCRATCH", "--dry-run"}, 0, ""},
	} {
		_, result := suiteRun(t, m, "steady-state", []string{scratch}, append(short, c.args...)...)
		assert.Equal(t, c.code, result.ExitCode, "%s: %+v", name, result)
		assert.Contains(t, result.Stderr, c.says, name)
		assert.Equal(t, sum, output(t, m, "sha256sum", node), name)
	}
	written := func() int {
		n, err := strconv.Atoi(strings.TrimSpace(output(t, m, "sh", "-c", `tr -d '\0' < `+node+" | wc -c")))
		require.NoError(t, err)
		return n
	}
	const size = 32 << 20
	require.Greater(t, written(), size*9/10, "random data")
	doc, result := suiteRun(t, m, "steady-state", []string{scratch}, append(short, "--format", "--destroy", "SCRATCH")...)
	require.Equal(t, 0, result.ExitCode, "%+v", result)
	require.Len(t, doc.Report.Steps, 3)
	assert.Equal(t, "NVMe Format, which erases all user data", doc.Report.Steps[0].Plan)
	assert.Positive(t, doc.Report.Steps[0].Duration)
	assert.Equal(t, "format", doc.Report.Settings["purge"])
	assert.Positive(t, doc.Report.Steps[2].Write.IOs, "the descriptor that held it is good after it")
	assert.Less(t, written(), size/2, "only what the rounds have written is there")
}

func testScaleSuite(t *testing.T, m *lab.Machine) {
	doc, result := suiteRun(t, m, "scale", []string{plain, spare}, "--set", "ramp=0s")
	require.Equal(t, 0, result.ExitCode, "%+v", result)
	require.Len(t, doc.Report.Targets, 2)
	assert.Regexp(t, "^pci[0-9a-f]{4}:", doc.Report.Targets[0].Group)
	assert.Len(t, doc.Report.Analysis.Scalings, 2)
}

// Devices that are made of a drive are in sysfs, whoever made them.
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

// testMemoryOfItsNode runs load on a drive of the machine's second NUMA node, with fio's memory on
// that node and on any.
func testMemoryOfItsNode(t *testing.T, m *lab.Machine) {
	doc, result := suiteRun(t, m, "saturate", []string{remote}, "--set", "ramp=0s", "--set", "random-jobs=1", "--set", "depth=4",
		"--set", "writes=no", "--set", "repeats=1", "--set", "memory=bind,any")
	require.Zero(t, result.ExitCode, "%+v", result)
	bound := 0
	for _, step := range doc.Report.Steps {
		require.NotNil(t, step.Read, step.Name)
		assert.Positive(t, step.Read.IOs, step.Name)
		if strings.HasPrefix(step.Name, "memory-bind-") {
			bound++
			assert.Contains(t, step.JobFile, "numa_mem_policy=bind:1\n", step.Name)
			assert.Contains(t, step.Plan, ", memory of NUMA node 1", step.Name)
		} else {
			assert.NotContains(t, step.JobFile, "numa_mem_policy", step.Name)
		}
	}
	assert.Equal(t, len(doc.Report.Steps), 2*bound)
	assert.Positive(t, bound)
}
