package storytest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
)

// onCalendar configures a probe file with short full runs that are all due in the next minute,
// besides probes of every drive.
const onCalendar = common + `
devices: {exclude: [{name: %s}]}
files: [{path: /mnt, size: 16MiB}]
probes:
  - {name: read-4k, interval: 5s, ios: 32, warmup_ios: 0, timeout: 20s}
  - {name: durable-write-4k, direction: write, pattern: sequential, datasync: true, interval: 10s, ios: 4, targets: files}
health: {interval: 5s}
runs:
  - {suite: quick, schedule: "* * * * *", time_zone: UTC, targets: [/mnt], window: 1h, max_cpu_pressure: 1, max_others: 1, set: [time=300ms]}
  - {suite: depth-sweep, schedule: "* * * * *", time_zone: UTC, targets: [/mnt], window: 1h, max_cpu_pressure: 1, max_others: 1, set: [time=300ms, "depths=1,4,16"]}
  - {suite: steady-state, schedule: "* * * * *", time_zone: UTC, targets: [/mnt], window: 1h, max_cpu_pressure: 1, max_others: 1, set: [time=300ms, precondition=1, rounds=5, jobs=1]}
`

// TestDashboards evaluates the dashboard queries that have no answer in the story: those about full runs, which
// the calendar starts on a filesystem of an NVMe drive, and those about many drives or drives in trouble.
func TestDashboards(t *testing.T) {
	begun := time.Now()
	const (
		size  = 16 << 20
		peers = 5
	)
	options := lab.Options{
		Drives: []lab.Drive{
			{ID: "mounted", SizeBytes: 256 << 20, EUI64: 0x5254000000000003},
			{ID: "worn", SizeBytes: size, WrittenRatio: 0.125, NUMANode: 1, Throttles: true}, // too little is written to be sure
		},
		Programs:  []string{"mkfs.ext4"},
		Modules:   []string{"ext4"},
		NUMANodes: 2,
	}
	for i := 1; i < peers; i++ {
		options.Drives = append(options.Drives, lab.Drive{ID: fmt.Sprintf("peer%d", i), SizeBytes: size, WrittenRatio: 1})
	}
	m := boot(t, options)
	mounted, worn := m.find(t, "mounted"), m.find(t, "worn")
	for _, command := range [][]string{
		{"mkfs.ext4", "-q", "-F", "/dev/" + mounted.name},
		{"mkdir", "-p", "/mnt"},
		{"mount", "-t", "ext4", "/dev/" + mounted.name, "/mnt"},
	} {
		_, err := m.Output(bounded(t), command...)
		require.NoError(t, err)
	}
	// Another reader causes a warning in the runs.
	_, err := m.StartProcess(bounded(t), "fio", "--name=another", "--filename=/dev/"+mounted.name, "--rw=randread",
		"--bs=4k", "--direct=1", "--rate_iops=2000", "--time_based", "--runtime=10m")
	require.NoError(t, err)
	m.startDaemon(t, fmt.Sprintf(onCalendar, mounted.name))
	p := monitor(t, m, inbox{promtest.NewInbox(t)})

	await(t, "figures of all peers", func() bool {
		return len(p.now(t, `device:ssdprobe_probe_level_seconds:vs_peers{statistic="latency_p50_seconds"}`)) == peers
	})
	require.NoError(t, m.SetFaults(bounded(t), worn.lab, everyBlock(t, 16, size)...))
	await(t, "a failed read", func() bool {
		return len(p.now(t, `ssdprobe_probe_errors_total{id="`+worn.id+`"} > 0`)) == 1
	})
	file := drive{name: mounted.name, id: "file:/mnt"}
	await(t, "a run of each suite", func() bool {
		return len(p.now(t, `ssdprobe_run_last_completion_timestamp_seconds{id="`+file.id+`"}`)) == 3
	})
	// How many I/Os a percentile has depends on how fast this machine is: see TestPercentilesOfFewIOsAreMarked.
	whateverIsSure := func(expr string) bool { return !strings.Contains(expr, "_percentile_ios") }
	assert.Equal(t, 17, dashboardHasData(t, p, "runs.json", file, begun, whateverIsSure), "queries about runs")
	ofFile := func(expr string) bool {
		return strings.Contains(expr, "ssdprobe_probe_written_bytes_total") || strings.Contains(expr, "ssdprobe_io_latency_seconds")
	}
	assert.Equal(t, 2, dashboardHasData(t, p, "device.json", file, begun, ofFile), "queries about writing, and about applications' I/O")
	ofDrive := func(expr string) bool { return !inStory(expr) && !ofFile(expr) }
	assert.Equal(t, 4, dashboardHasData(t, p, "device.json", worn, begun, ofDrive), "queries about a drive in trouble")
	assert.Equal(t, 5, dashboardHasData(t, p, "fleet.json", worn, begun, ofDrive), "queries about many drives")
}

// everyBlock returns faults that fail reads of every nth block of 4 KiB.
func everyBlock(t *testing.T, nth, sizeBytes int64) []lab.Fault {
	t.Helper()
	var faults []lab.Fault
	for block := int64(0); block < sizeBytes/4096; block += nth {
		faults = append(faults, lab.Fault{Sector: block * 8})
	}
	return faults
}
