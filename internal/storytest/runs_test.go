package storytest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/lab"
)

// onCalendar is a probe file and short full runs on it, all due in the next minute.
const onCalendar = common + `
devices: {enabled: false}
files: [{path: /mnt, size: 16MiB}]
probes: [{name: read-4k, interval: 10s, ios: 14, warmup_ios: 1, timeout: 20s}]
runs:
  - {suite: quick, schedule: "* * * * *", time_zone: UTC, window: 1h, max_cpu_pressure: 1, max_others: 1, set: [time=300ms]}
  - {suite: depth-sweep, schedule: "* * * * *", time_zone: UTC, window: 1h, max_cpu_pressure: 1, max_others: 1, set: [time=300ms, "depths=1,4,16"]}
  - {suite: steady-state, schedule: "* * * * *", time_zone: UTC, window: 1h, max_cpu_pressure: 1, max_others: 1, set: [time=300ms, precondition=1, rounds=5, jobs=1]}
`

// TestRuns asks all queries of the dashboard for full runs, after the daemon has made some by its calendar on a filesystem
// of an NVMe drive.
func TestRuns(t *testing.T) {
	begun := time.Now()
	m := boot(t, lab.Options{
		Drives:   []lab.Drive{{ID: "one", SizeBytes: 256 << 20, EUI64: 0x5254000000000003}},
		Programs: []string{"mkfs.ext4"},
		Modules:  []string{"ext4"},
	})
	one := m.find(t, "one")
	for _, command := range [][]string{
		{"mkfs.ext4", "-q", "-F", "/dev/" + one.name},
		{"mkdir", "-p", "/mnt"},
		{"mount", "-t", "ext4", "/dev/" + one.name, "/mnt"},
	} {
		_, err := m.Output(bounded(t), command...)
		require.NoError(t, err)
	}
	// Another reader, so that there is a warning to see.
	_, err := m.StartProcess(bounded(t), "fio", "--name=another", "--filename=/dev/"+one.name, "--rw=randread",
		"--bs=4k", "--direct=1", "--time_based", "--runtime=10m")
	require.NoError(t, err)
	m.startDaemon(t, onCalendar)
	p := monitor(t, m, newInbox(t))
	one.id = "file:/mnt"
	await(t, "a run of each suite", func() bool {
		return len(p.now(t, `ssdprobe_run_last_completion_timestamp_seconds{id="`+one.id+`"}`)) == 3
	})
	dashboardHasData(t, p, "runs.json", 21, one, begun)
}
