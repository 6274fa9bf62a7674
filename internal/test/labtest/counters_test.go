package labtest_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// testCounters compares the counters of a drive with those of fio. A drive counts in thousands of 512 bytes, rounded up.
// 125 blocks of 4 KiB are one such unit, so whole units add exactly, whatever the count was before.
func testCounters(t *testing.T, m *lab.Machine) {
	const reads, writes = 5 * 125, 3 * 125
	id, target := identity(t, m, plain), disk(t, m, plain)
	name := target.Controllers[0]
	d := startDaemon(t, m, configuration(t, m, 0, noProbes+watching(id)))

	shownBefore, before := smart(t, m, name)[0].Controller.Health, d.awaitReading(t, name)
	read := fio(t, m, target.Node(), "randread", 0, reads)
	written := fio(t, m, target.Node(), "randwrite", 0, writes)
	shownAfter, after := smart(t, m, name)[0].Controller.Health, d.awaitReading(t, name)
	require.Equal(t, fioIOs{IOs: reads, Bytes: reads * 4096}, read)
	require.Equal(t, fioIOs{IOs: writes, Bytes: writes * 4096}, written)

	for family, want := range map[string]uint64{
		"ssdprobe_nvme_data_read_bytes_total":     read.Bytes,
		"ssdprobe_nvme_data_written_bytes_total":  written.Bytes,
		"ssdprobe_nvme_host_read_commands_total":  read.IOs,
		"ssdprobe_nvme_host_write_commands_total": written.IOs,
	} {
		of := labels{"controller": name}
		assert.Equal(t, float64(want), after.must(t, family, of)-before.must(t, family, of), family)
	}
	assert.Equal(t, read.Bytes, *shownAfter.DataReadBytes-*shownBefore.DataReadBytes)
	assert.Equal(t, written.Bytes, *shownAfter.DataWrittenBytes-*shownBefore.DataWrittenBytes)
	assert.Equal(t, read.IOs, *shownAfter.HostReadCommands-*shownBefore.HostReadCommands)
	assert.Equal(t, written.IOs, *shownAfter.HostWriteCommands-*shownBefore.HostWriteCommands)
	d.stop(t)
}

// testInterrupts compares the interrupts of each controller with /proc/interrupts. There is no I/O except fio's, so the
// counts of the I/O queues are stable otherwise, and those of the admin queue change only with readings of the health.
func testInterrupts(t *testing.T, m *lab.Machine) {
	const reads = 200
	ids, names := map[string]string{}, map[string]string{}
	for _, drive := range []string{plain, remote} {
		ids[drive], names[drive] = identity(t, m, drive), disk(t, m, drive).Controllers[0]
	}
	// The daemon begins at 0 at some time between these two looks at the table.
	earliest, latest := map[string]map[string][]float64{}, map[string]map[string][]float64{}
	for drive, name := range names {
		earliest[drive] = interrupts(t, m, name)
	}
	d := startDaemon(t, m, configuration(t, m, 0, noProbes+watching(ids[plain], ids[remote])))
	for drive, name := range names {
		d.awaitReading(t, name)
		latest[drive] = interrupts(t, m, name)
	}
	// settled waits for metrics that were counted between two equal readings of the table, and returns them.
	settled := func(drive string, node int) (now metrics, remote float64) {
		t.Helper()
		name := names[drive]
		eventually(t, "the metrics are those of the table", func() bool {
			before := interrupts(t, m, name)
			now = d.awaitReading(t, name)
			after := interrupts(t, m, name)
			require.Len(t, before, 3, "an admin queue, and one for each processor; the polled one has none")
			least, most, away := 0.0, 0.0, 0.0
			for queue, counts := range before {
				least, most = least+sum(counts)-sum(latest[drive][queue]), most+sum(after[queue])-sum(earliest[drive][queue])
				away += counts[1-node] - latest[drive][queue][1-node] // each node has one processor
			}
			counted := now.must(t, "ssdprobe_nvme_interrupts_total", labels{"controller": name})
			remote = now.must(t, "ssdprobe_nvme_remote_interrupts_total", labels{"controller": name})
			return counted >= least && counted <= most && remote >= away
		})
		return now, remote
	}
	for drive, node := range map[string]int{plain: 0, remote: 1} {
		before, awayBefore := settled(drive, node)
		fio(t, m, disk(t, m, drive).Node(), "randread", 1-node, reads) // from the processor of the other node
		after, awayAfter := settled(drive, node)
		of := labels{"controller": names[drive]}
		more := after.must(t, "ssdprobe_nvme_interrupts_total", of) - before.must(t, "ssdprobe_nvme_interrupts_total", of)
		assert.GreaterOrEqual(t, more, float64(reads), "each read alone has its interrupt")
		assert.GreaterOrEqual(t, awayAfter-awayBefore, float64(reads), "taken outside the drive's node")

		shown := smart(t, m, names[drive])[0].Controller.Interrupts
		require.NotNil(t, shown)
		require.Len(t, shown.Queues, 3)
		for i, queue := range shown.Queues {
			assert.Equal(t, fmt.Sprint(i), queue.Queue)
			assert.Equal(t, text(t, m, "/proc/irq", queue.Number, "effective_affinity_list"), queue.CPUs, queue.Queue)
			if i > 0 { // the counts of the admin queue change
				assert.Equal(t, sum(interrupts(t, m, names[drive])[queue.Queue]), float64(queue.Count), "queue %d", i)
			}
		}
	}
	d.stop(t)
}

// testInterruptsPerIO checks a known value: at depth 1 each I/O has an interrupt of its own, whether the probes or fio
// cause it.
func testInterruptsPerIO(t *testing.T, m *lab.Machine) {
	target := disk(t, m, plain).Node()
	config := configuration(t, m, 0, "probes: [{name: read-4k}]\n")
	for _, suite := range [][]string{{"probe", "--rounds=3"}, {"quick", "--set=time=2s"}} {
		var document report.Document
		result := ssdprobe(t, m, &document, append([]string{"run", "--target", target, "--output=json", "--config", config}, suite...)...)
		require.Zero(t, result.ExitCode, result.Stderr)
		assert.Equal(t, target, document.Report.Target)
		require.NotEmpty(t, document.Report.Steps)
		step := document.Report.Steps[0] // random reads at depth 1
		require.NotNil(t, step.Read)
		assert.Positive(t, step.Read.IOs)
		assert.InDelta(t, 1, step.InterruptsPerIO, 0.2, suite[0])
	}
}

// testBusy measures a drive that others use. The heads of these drives count nothing themselves before Linux 6.4; their
// paths do.
func testBusy(t *testing.T, m *lab.Machine) {
	for _, drive := range []string{plain, dual} {
		node := disk(t, m, drive).Node()
		other, err := m.StartProcess(bounded(t), "fio", "--name=other", "--filename="+node, "--rw=randread", "--bs=4k", "--direct=1",
			"--ioengine=libaio", "--iodepth=16", "--thread", "--time_based", "--runtime=10m") // a single process, which can be killed
		require.NoError(t, err)
		t.Cleanup(func() { _ = other.Signal(afterwards(t), syscall.SIGKILL) }) // it may have ended already
		_, err = other.AwaitLine(bounded(t), "Starting 1 thread")
		require.NoError(t, err)
		var refused lab.Result
		eventually(t, "a refusal", func() bool {
			refused = ssdprobe(t, m, nil, "run", "--target", node, "--rounds", "1")
			return refused.ExitCode == 4
		})
		assert.Regexp(t, `busy|in flight`, refused.Stderr)
		require.NoError(t, other.Signal(bounded(t), syscall.SIGKILL))
		_, err = other.Wait(bounded(t))
		require.NoError(t, err)
	}
}
