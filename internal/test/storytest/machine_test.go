package storytest_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

const (
	node = "stor-07"
	// metricsPort is where the daemon in the machine listens.
	metricsPort = 10040
	// configurationPath is its configuration.
	configurationPath = "/etc/ssdprobe.yaml"

	// The I/Os per second of the drives. The speed of an emulated drive depends on the load of the host.
	// A low limit is about the same on a busy host, so both drives have one while their speed matters.
	usualIOPS, slowIOPS = 25, 8
)

// common holds only what a machine with emulated processors needs.
const common = `
node: ` + node + `
state_dir: /state
lock_dir: /locks
discovery_interval: 1s
rounds_at_once: 2
fallback_file: false
admission: {max_utilisation: 1, max_in_flight: 1000, max_io_pressure: 1, max_cpu_wait: 1}
`

// configuration is for a machine whose clock is set forward by fly.
const configuration = common + `
probes: [{name: read-4k, interval: 1s, ios: 14, warmup_ios: 1, timeout: 20s}]
drift: {baseline_rounds: 24}
health: {interval: 5s, interrupts: all}
io_latency: never
`

// usualFlight is how many seconds most stories set the clock forward each second.
const usualFlight = 30

// fly sets the clock forward by the given seconds each second, from now on. Timers are not
// affected: rounds have an interval of a second.
func (m *machine) fly(t *testing.T, seconds int) {
	t.Helper()
	_, err := m.StartProcess(bounded(t), "sh", "-c", strings.ReplaceAll(`
read -r up idle </proc/uptime
from=$(($(date +%s) - SECONDS * ${up%.*}))
while sleep 1; do
	read -r up idle </proc/uptime
	date -s @$((from + SECONDS * ${up%.*})) >/dev/null
done`, "SECONDS", strconv.Itoa(seconds)))
	require.NoError(t, err)
}

// machine is the machine with the drives, and the daemon in it.
type machine struct {
	*lab.Machine
	url         string // of the daemon
	worn, sound drive
}

type drive struct {
	lab      string // its ID in the lab
	name, id string
}

// startMachine starts a machine with two drives, makes its clock fly, and starts the daemon.
func startMachine(t *testing.T) *machine {
	t.Helper()
	m := boot(t, lab.Options{
		// Small, so that enough written blocks are known after the first round.
		Drives: []lab.Drive{
			{ID: "worn", SizeBytes: 16 << 20, WrittenRatio: 1, EUI64: 0x5254000000000001},
			{ID: "sound", SizeBytes: 16 << 20, WrittenRatio: 1, EUI64: 0x5254000000000002},
		},
		KernelArgs: []string{"nvme_core.multipath=N"}, // so that the scheduler is that of the device, not of its paths
	})
	m.worn, m.sound = m.find(t, "worn"), m.find(t, "sound")
	m.fly(t, usualFlight)
	m.startDaemon(t, configuration)
	return m
}

// boot starts a machine with ssdprobe in it.
func boot(t *testing.T, o lab.Options) *machine {
	t.Helper()
	o.Files = map[string]string{"/usr/local/bin/ssdprobe": lab.Build(t, "github.com/ssdprobe/ssdprobe/cmd/ssdprobe")}
	o.ForwardPorts = []int{metricsPort}
	m := &machine{Machine: lab.Start(t, o)}
	m.url = "http://" + m.Addr(metricsPort)
	return m
}

func (m *machine) startDaemon(t *testing.T, configuration string) {
	t.Helper()
	require.NoError(t, m.WriteFile(bounded(t), configurationPath, []byte(configuration), 0o644))
	daemon, err := m.StartProcess(bounded(t), "ssdprobe", "daemon", "--config", configurationPath)
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			ctx, cancel := context.WithTimeout(context.Background(), bound) // the test's context has ended
			defer cancel()
			written, err := daemon.Output(ctx)
			t.Logf("daemon: %v\n%s", err, written.Stderr)
			verdicts, err := m.Output(ctx, "wget", "-q", "-O-", fmt.Sprintf("http://127.0.0.1:%d/api/v1/drift", metricsPort))
			t.Logf("its verdicts: %v\n%s", err, verdicts)
		}
	})
	_, err = daemon.AwaitLine(bounded(t), "status  ")
	require.NoError(t, err)
}

func (m *machine) find(t *testing.T, id string) drive {
	t.Helper()
	disk, err := m.Disk(bounded(t), id)
	require.NoError(t, err)
	name := disk.Namespaces[0]
	wwid, err := m.ReadFile(bounded(t), "/sys/block/"+name+"/wwid")
	require.NoError(t, err)
	return drive{lab: id, name: name, id: strings.TrimSpace(string(wwid))}
}

// limit limits the drive to the given I/Os per second.
func (m *machine) limit(t *testing.T, d drive, iops int) {
	t.Helper()
	require.NoError(t, m.Throttle(bounded(t), d.lab, iops))
}

// learnAnew waits for baselines of drives that were limited a moment ago. A baseline from before
// the limit does not count.
func (m *machine) learnAnew(t *testing.T, p prometheus, drives ...drive) {
	t.Helper()
	limited := m.clock(t)
	for _, d := range drives {
		await(t, "the daemon has saved something, and forgets it", func() bool {
			result, err := m.Run(bounded(t), "ssdprobe", "baseline", "reset", d.name, "--config", configurationPath)
			require.NoError(t, err)
			return result.ExitCode == 0
		})
	}
	await(t, "the baselines of the drives", func() bool {
		return len(p.now(t, fmt.Sprintf(`ssdprobe_baseline_learned_timestamp_seconds{probe="read-4k"} > %d`, limited.Unix()))) == len(drives)
	})
}

// changeScheduler gives the drive an I/O scheduler; it has none at first.
func (m *machine) changeScheduler(t *testing.T, d drive) {
	t.Helper()
	require.NoError(t, m.WriteFile(bounded(t), "/sys/block/"+d.name+"/queue/scheduler", []byte("mq-deadline"), 0o644))
}

// clock returns the time in the machine.
func (m *machine) clock(t *testing.T) time.Time {
	t.Helper()
	out, err := m.Output(bounded(t), "date", "+%s")
	require.NoError(t, err)
	seconds, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	require.NoError(t, err)
	return time.Unix(seconds, 0)
}
