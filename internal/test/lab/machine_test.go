package lab_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

const (
	plain  = "plain"  // fully written, on NUMA node 0
	remote = "remote" // sparse, on NUMA node 1, with blocks of 4 KiB and an EUI64
	dual   = "dual"   // with two controllers
	spare  = "spare"  // not plugged in at boot

	servedPort = 9000
	faultyByte = 3 << 20 // of plain
)

// TestMachine tests everything that does not need a machine of its own in one, because booting takes time.
func TestMachine(t *testing.T) {
	hostFile := filepath.Join(t.TempDir(), "hello")
	require.NoError(t, os.WriteFile(hostFile, []byte("#!/bin/sh\necho hello from \"$1\"\n"), 0o755))
	m := lab.Start(t, lab.Options{
		Drives: []lab.Drive{
			{ID: plain, WrittenRatio: 1, Throttles: true},
			{ID: remote, Serial: "TWOPORTS", NUMANode: 1, LogicalBlockBytes: 4096, EUI64: 0x5254000000000001},
			{ID: dual, Serial: "TWOPORTS", SizeBytes: 8 << 20, Controllers: 2},
			{ID: spare, SizeBytes: 8 << 20, Unplugged: true},
		},
		Files:        map[string]string{"/usr/local/bin/hello": hostFile},
		Programs:     []string{"lsblk"},
		Modules:      []string{"null_blk"},
		NUMANodes:    2,
		ForwardPorts: []int{servedPort},
		KernelArgs:   []string{"lab.test=1"},
	})
	for _, test := range []struct {
		name string
		run  func(*testing.T, *lab.Machine)
	}{
		{"run", testRun},
		{"clock", testClock},
		{"run as another user", testRunAs},
		{"big outputs", testBigOutputs},
		{"killed with its context", testKilled},
		{"processes", testProcesses},
		{"files", testFiles},
		{"options", testOptions},
		{"forwarded port", testForwardedPort},
		{"NUMA nodes", testNUMA},
		{"controllers", testControllers},
		{"written and unwritten", testWritten},
		{"interrupts", testInterrupts},
		{"throttle", testThrottle},
		{"critical warning", testCriticalWarning},
		{"throttling", testThrottling},
		{"media error", testMediaError},
		{"unplug and plug", testUnplug},
		{"restored", testRestored},
		{"reset", testReset},
		{"switched off", testSwitchedOff}, // the last
	} {
		t.Run(test.name, func(t *testing.T) {
			begun := time.Now()
			test.run(t, m)
			t.Logf("took %v", time.Since(begun).Round(time.Millisecond))
		})
	}
}

func testRun(t *testing.T, m *lab.Machine) {
	result, err := m.Run(bounded(t), "sh", "-c", "echo out; echo err >&2; exit 3")
	require.NoError(t, err)
	assert.Equal(t, lab.Result{Stdout: "out\n", Stderr: "err\n", ExitCode: 3}, result)

	result, err = m.RunCommand(bounded(t), lab.Command{
		Args: []string{"sh", "-c", `pwd; echo "$COLOUR"; cat; kill -TERM $$`}, Env: []string{"COLOUR=red"},
		Dir: "/tmp", Stdin: []byte("from the test"),
	})
	require.NoError(t, err)
	assert.Equal(t, lab.Result{Stdout: "/tmp\nred\nfrom the test", ExitCode: 128 + int(syscall.SIGTERM)}, result)

	_, err = m.Run(bounded(t), "no-such-program")
	require.ErrorContains(t, err, `run ["no-such-program"] in the laboratory`)
	_, err = m.Output(bounded(t), "sh", "-c", "echo what is wrong >&2; false")
	require.ErrorContains(t, err, "exit code 1\nwhat is wrong")
}

// testClock compares the progress of the guest's and the host's clock. When the kernel measured the
// rate of its counter at boot, on a busy host the guest's clock ran almost three times too fast.
func testClock(t *testing.T, m *lab.Machine) {
	uptime := func() time.Duration {
		content, err := m.ReadFile(bounded(t), "/proc/uptime")
		require.NoError(t, err)
		seconds, err := time.ParseDuration(strings.Fields(string(content))[0] + "s")
		require.NoError(t, err)
		return seconds
	}
	before := time.Now()
	first := uptime()
	begun := time.Now()
	_, err := m.Output(bounded(t), "sleep", "5")
	require.NoError(t, err)
	ended := time.Now()
	passed := uptime() - first
	assert.Greater(t, passed.Seconds(), ended.Sub(begun).Seconds()*0.97, "the guest's clock is slow")
	assert.Less(t, passed.Seconds(), time.Since(before).Seconds()*1.03, "the guest's clock is fast")
}

func testRunAs(t *testing.T, m *lab.Machine) {
	const nobody, capSysAdmin = 65534, 21
	command := lab.Command{Args: []string{"sh", "-c", "id -u; grep CapEff /proc/self/status"}, UID: nobody, GID: nobody}
	result, err := m.RunCommand(bounded(t), command)
	require.NoError(t, err)
	assert.Equal(t, lab.Result{Stdout: "65534\nCapEff:\t0000000000000000\n"}, result)

	command.Capabilities = []uintptr{capSysAdmin}
	result, err = m.RunCommand(bounded(t), command)
	require.NoError(t, err)
	assert.Equal(t, lab.Result{Stdout: "65534\nCapEff:\t0000000000200000\n"}, result)
}

func testBigOutputs(t *testing.T, m *lab.Machine) {
	const size = 4 << 20
	out, err := m.Output(bounded(t), "dd", "if=/dev/zero", "bs=1M", "count=4", "status=none")
	require.NoError(t, err)
	assert.Len(t, out, size)
	assert.Equal(t, size, strings.Count(out, "\x00"))

	// Too much output is an error, and the connection stays usable.
	_, err = m.Run(bounded(t), "dd", "if=/dev/zero", "bs=1M", "count=9", "status=none")
	require.ErrorIs(t, err, syscall.EMSGSIZE)
	_, err = m.ReadFile(bounded(t), disk(t, m, plain).Node())
	require.ErrorIs(t, err, syscall.EMSGSIZE)
	_, err = m.Output(bounded(t), "true")
	require.NoError(t, err)
}

func testKilled(t *testing.T, m *lab.Machine) {
	_, err := m.Output(bounded(t), "mkfifo", "/tmp/held")
	require.NoError(t, err)
	reader, err := m.StartProcess(bounded(t), "cat", "/tmp/held")
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(bounded(t))
	ended := make(chan error, 1)
	go func() {
		_, err := m.Run(ctx, "sh", "-c", "exec 3>/tmp/held; echo started >&3; sleep 1000 & wait")
		ended <- err
	}()
	_, err = reader.AwaitLine(bounded(t), "started")
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	// The reader ends when neither the program nor its child holds the other end any more.
	_, err = reader.Wait(bounded(t))
	require.NoError(t, err)
}

func testProcesses(t *testing.T, m *lab.Machine) {
	p, err := m.StartProcess(bounded(t), "sh", "-c", `trap "echo bye; exit 7" TERM
		echo "ready on port 80"; while :; do read -t 1 line </dev/zero; done`)
	require.NoError(t, err)
	line, err := p.AwaitLine(bounded(t), "ready")
	require.NoError(t, err)
	assert.Equal(t, "ready on port 80", line)
	out, err := p.Output(bounded(t))
	require.NoError(t, err)
	assert.Equal(t, lab.Result{Stdout: "ready on port 80\n"}, out)
	comm, err := m.ReadFile(bounded(t), fmt.Sprintf("/proc/%d/comm", p.PID))
	require.NoError(t, err)
	assert.Equal(t, "sh\n", string(comm))

	require.NoError(t, p.Signal(bounded(t), syscall.SIGTERM))
	ended, err := p.Wait(bounded(t))
	require.NoError(t, err)
	assert.Equal(t, lab.Result{Stdout: "ready on port 80\nbye\n", ExitCode: 7}, ended)
	require.ErrorIs(t, p.Signal(bounded(t), syscall.SIGTERM), syscall.ESRCH)
	_, err = p.AwaitLine(bounded(t), "never")
	require.ErrorContains(t, err, `ended with exit code 7 before it wrote "never"`)

	_, err = m.StartProcess(bounded(t), "no-such-program")
	require.Error(t, err)
}

func testFiles(t *testing.T, m *lab.Machine) {
	require.NoError(t, m.WriteFile(bounded(t), "/tmp/script", []byte("#!/bin/sh\necho run\n"), 0o755))
	out, err := m.Output(bounded(t), "/tmp/script")
	require.NoError(t, err)
	assert.Equal(t, "run\n", out)
	content, err := m.ReadFile(bounded(t), "/tmp/script")
	require.NoError(t, err)
	assert.Equal(t, "#!/bin/sh\necho run\n", string(content))
	_, err = m.ReadFile(bounded(t), "/tmp/missing")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorIs(t, m.WriteFile(bounded(t), "/missing/file", nil, 0o644), os.ErrNotExist)
	paths, err := m.Glob(bounded(t), "/tmp/scr*")
	require.NoError(t, err)
	assert.Equal(t, []string{"/tmp/script"}, paths)
}

func testOptions(t *testing.T, m *lab.Machine) {
	out, err := m.Output(bounded(t), "hello", "the guest")
	require.NoError(t, err)
	assert.Equal(t, "hello from the guest\n", out)
	out, err = m.Output(bounded(t), "lsblk", "--noheadings", "--nodeps", "--output", "NAME", "/dev/nullb0")
	require.NoError(t, err, "a program with shared libraries shows a device of a module")
	assert.Equal(t, "nullb0\n", out)
	cmdline, err := m.ReadFile(bounded(t), "/proc/cmdline")
	require.NoError(t, err)
	assert.Contains(t, string(cmdline), " lab.test=1\n")
	release, err := m.Output(bounded(t), "uname", "-r")
	require.NoError(t, err)
	assert.Equal(t, m.Kernel()+"\n", release)
}

func testForwardedPort(t *testing.T, m *lab.Machine) {
	m.RestoreAfter(t)
	_, err := m.StartProcess(bounded(t), "nc", "-ll", "-p", fmt.Sprint(servedPort), "-e", "/usr/local/bin/hello", "port")
	require.NoError(t, err)
	require.Eventually(t, func() bool { // nc does not report when it listens
		conn, err := net.Dial("tcp", m.Addr(servedPort))
		if err != nil {
			return false
		}
		defer conn.Close()
		if conn.SetDeadline(time.Now().Add(bound)) != nil {
			return false
		}
		answer, err := io.ReadAll(conn)
		return err == nil && string(answer) == "hello from port\n"
	}, bound, 50*time.Millisecond)
	assert.Panics(t, func() { m.Addr(servedPort + 1) })
}

func testNUMA(t *testing.T, m *lab.Machine) {
	nodes, err := m.Glob(bounded(t), "/sys/devices/system/node/node*")
	require.NoError(t, err)
	assert.Len(t, nodes, 2)
	for cpu, node := range []string{"node0", "node1"} {
		paths, err := m.Glob(bounded(t), fmt.Sprintf("/sys/devices/system/cpu/cpu%d/node*", cpu))
		require.NoError(t, err)
		assert.Equal(t, []string{fmt.Sprintf("/sys/devices/system/cpu/cpu%d/%s", cpu, node)}, paths)
	}
	for id, node := range map[string]string{plain: "0\n", remote: "1\n"} {
		content, err := m.ReadFile(bounded(t), "/sys/class/nvme/"+disk(t, m, id).Controllers[0]+"/device/numa_node")
		require.NoError(t, err)
		assert.Equal(t, node, string(content), id)
	}
}

func testControllers(t *testing.T, m *lab.Machine) {
	two := disk(t, m, dual)
	assert.Len(t, two.Controllers, 2)
	assert.Len(t, two.Namespaces, 1, "with multipath there is one namespace for both")
	for _, controller := range two.Controllers {
		var identity struct {
			Serial string `json:"sn"`
			CMIC   int    `json:"cmic"`
		}
		nvme(t, m, &identity, "id-ctrl", "/dev/"+controller)
		assert.Equal(t, "TWOPORTS", strings.TrimSpace(identity.Serial))
		assert.Equal(t, 2, identity.CMIC&2, "the subsystem has several controllers")
	}
	block := "/sys/block/" + disk(t, m, remote).Namespaces[0]
	for file, want := range map[string]string{"queue/logical_block_size": "4096\n", "wwid": "eui.5254000000000001\n"} {
		content, err := m.ReadFile(bounded(t), filepath.Join(block, file))
		require.NoError(t, err)
		assert.Equal(t, want, string(content))
	}
}

func testWritten(t *testing.T, m *lab.Machine) {
	const zeros = "dd bs=1M count=16 status=none if=%s | tr -d '\\0' | wc -c"
	out, err := m.Output(bounded(t), "sh", "-c", fmt.Sprintf(zeros, disk(t, m, remote).Node()))
	require.NoError(t, err)
	assert.Equal(t, "0\n", out, "bytes of a sparse drive that are not zero")

	out, err = m.Output(bounded(t), "sh", "-c",
		"dd bs=4096 count=1 status=none iflag=direct if="+disk(t, m, plain).Node()+" | gzip | wc -c")
	require.NoError(t, err)
	var compressed int
	_, err = fmt.Sscan(out, &compressed)
	require.NoError(t, err)
	assert.Greater(t, compressed, 4096, "random bytes do not compress")
}

func testInterrupts(t *testing.T, m *lab.Machine) {
	controller := disk(t, m, plain).Controllers[0]
	before := interrupts(t, m, controller)
	assert.Len(t, before, 3, "an admin queue, and one for each processor")
	const reads = 200
	_, err := m.Output(bounded(t), "taskset", "1", "fio", "--name=reads", "--filename="+disk(t, m, plain).Node(), "--readonly",
		"--rw=randread", "--bs=4k", "--direct=1", "--ioengine=psync", fmt.Sprintf("--number_ios=%d", reads))
	require.NoError(t, err)
	after := interrupts(t, m, controller)
	assert.GreaterOrEqual(t, after[controller+"q1"]-before[controller+"q1"], reads, "each read alone has its interrupt")
}

// interrupts counts the interrupts of each queue of the controller, summed over all processors.
func interrupts(t *testing.T, m *lab.Machine, controller string) map[string]int {
	t.Helper()
	table, err := m.ReadFile(bounded(t), "/proc/interrupts")
	require.NoError(t, err)
	counts := map[string]int{}
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		name := fields[len(fields)-1]
		if !strings.HasPrefix(name, controller+"q") {
			continue
		}
		for _, field := range fields[1:3] {
			var n int
			_, err := fmt.Sscan(field, &n)
			require.NoError(t, err)
			counts[name] += n
		}
	}
	return counts
}

func testThrottle(t *testing.T, m *lab.Machine) {
	m.RestoreAfter(t)
	// Far below what the machine achieves even on a shared host.
	const limit, seconds = 4, 3
	// A burst of a tenth of a second, and the I/O in flight at the end, come on top of the limit.
	const most = limit*seconds + limit
	assert.Greater(t, completedReads(t, m, seconds), 2*most)
	require.NoError(t, m.Throttle(bounded(t), plain, limit))
	assert.LessOrEqual(t, completedReads(t, m, seconds), most)
	require.NoError(t, m.Throttle(bounded(t), plain, 0))
	assert.Greater(t, completedReads(t, m, seconds), 2*most)
}

// completedReads counts the reads of fio in the given number of seconds, by fio's clock.
func completedReads(t *testing.T, m *lab.Machine, seconds int) int {
	t.Helper()
	out, err := m.Output(bounded(t), "fio", "--name=reads", "--filename="+disk(t, m, plain).Node(), "--readonly",
		"--rw=randread", "--bs=4k", "--direct=1", "--ioengine=psync", "--time_based", "--output-format=json",
		fmt.Sprintf("--runtime=%d", seconds))
	require.NoError(t, err)
	var report struct {
		Jobs []struct {
			Read struct {
				TotalIOs int `json:"total_ios"`
			} `json:"read"`
		} `json:"jobs"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report), out)
	require.Len(t, report.Jobs, 1)
	return report.Jobs[0].Read.TotalIOs
}

func testCriticalWarning(t *testing.T, m *lab.Machine) {
	m.RestoreAfter(t)
	assert.Zero(t, criticalWarning(t, m, plain))
	require.NoError(t, m.SetCriticalWarning(bounded(t), plain, 4))
	assert.Equal(t, 4, criticalWarning(t, m, plain))
	require.ErrorIs(t, m.SetCriticalWarning(bounded(t), "unknown", 4), os.ErrNotExist)
}

func testThrottling(t *testing.T, m *lab.Machine) {
	for id, want := range map[string]int{plain: 1, remote: 0} {
		var page struct{ HCTMA int }
		nvme(t, m, &page, "id-ctrl", "/dev/"+disk(t, m, id).Controllers[0])
		assert.Equal(t, want, page.HCTMA, id)
	}
}

func criticalWarning(t *testing.T, m *lab.Machine, id string) int {
	t.Helper()
	var page struct {
		CriticalWarning int `json:"critical_warning"`
	}
	nvme(t, m, &page, "smart-log", "/dev/"+disk(t, m, id).Controllers[0])
	return page.CriticalWarning
}

func testMediaError(t *testing.T, m *lab.Machine) {
	m.RestoreAfter(t)
	access := func(verb string) lab.Result {
		t.Helper()
		args := map[string]string{
			"read":  "dd if=%s of=/dev/null bs=4096 count=1 skip=%d iflag=direct",
			"write": "dd if=/dev/urandom of=%s bs=4096 count=1 seek=%d oflag=direct",
		}
		result, err := m.Run(bounded(t), "sh", "-c", fmt.Sprintf(args[verb], disk(t, m, plain).Node(), faultyByte/4096))
		require.NoError(t, err)
		return result
	}
	assert.Zero(t, access("read").ExitCode)
	require.NoError(t, m.SetFaults(bounded(t), plain, lab.Fault{Sector: faultyByte/512 + 1}))
	result := access("read")
	assert.Equal(t, 1, result.ExitCode)
	assert.Contains(t, result.Stderr, "No data available") // ENODATA
	assert.Zero(t, access("write").ExitCode, "only reads fail")
	require.NoError(t, m.SetFaults(bounded(t), plain, lab.Fault{Sector: faultyByte / 512, Write: true}))
	assert.Zero(t, access("read").ExitCode)
	result = access("write")
	assert.Equal(t, 1, result.ExitCode)
	require.NoError(t, m.SetFaults(bounded(t), plain))
	assert.Zero(t, access("write").ExitCode)
}

func testUnplug(t *testing.T, m *lab.Machine) {
	for _, id := range []string{plain, remote, dual} {
		before := disk(t, m, id)
		require.NoError(t, m.Unplug(bounded(t), id))
		for _, name := range append(before.Controllers, before.Namespaces...) {
			paths, err := m.Glob(bounded(t), "/dev/"+name)
			require.NoError(t, err)
			assert.Empty(t, paths)
		}
		require.ErrorIs(t, m.Unplug(bounded(t), id), os.ErrNotExist)
		after, err := m.Plug(bounded(t), id)
		require.NoError(t, err)
		assert.Equal(t, after, disk(t, m, id))
		_, err = m.Output(bounded(t), "dd", "bs=4096", "count=1", "iflag=direct", "of=/dev/null", "if="+after.Node())
		require.NoError(t, err)
		_, err = m.Plug(bounded(t), id)
		require.ErrorIs(t, err, os.ErrExist)
	}
}

func testRestored(t *testing.T, m *lab.Machine) {
	var left *lab.Process
	t.Run("leaves a mess", func(t *testing.T) {
		m.RestoreAfter(t)
		var err error
		left, err = m.StartProcess(bounded(t), "tail", "-f", "/dev/null")
		require.NoError(t, err)
		require.NoError(t, m.Throttle(bounded(t), plain, 1))
		require.NoError(t, m.SetFaults(bounded(t), plain, lab.Fault{Sector: 0}))
		require.NoError(t, m.SetCriticalWarning(bounded(t), remote, 1))
		require.NoError(t, m.Unplug(bounded(t), dual))
		added, err := m.Plug(bounded(t), spare)
		require.NoError(t, err)
		assert.Equal(t, added, disk(t, m, spare))
	})
	result, err := left.Wait(bounded(t))
	require.NoError(t, err)
	assert.Equal(t, 128+int(syscall.SIGKILL), result.ExitCode)
	assert.Zero(t, criticalWarning(t, m, remote))
	assert.Len(t, disk(t, m, dual).Controllers, 2)
	_, err = m.Output(bounded(t), "dd", "bs=4096", "count=100", "iflag=direct", "of=/dev/null", "if="+disk(t, m, plain).Node())
	require.NoError(t, err)
	require.ErrorIs(t, m.Unplug(bounded(t), spare), os.ErrNotExist)
}

func testReset(t *testing.T, m *lab.Machine) {
	_, err := m.Output(bounded(t), "sh", "-c", "echo kept | dd oflag=direct conv=sync bs=4096 of="+disk(t, m, plain).Node())
	require.NoError(t, err)
	running, err := m.StartProcess(bounded(t), "tail", "-f", "/dev/null")
	require.NoError(t, err)
	bootID, err := m.ReadFile(bounded(t), "/proc/sys/kernel/random/boot_id")
	require.NoError(t, err)

	require.NoError(t, m.Reset(bounded(t)))
	newBootID, err := m.ReadFile(bounded(t), "/proc/sys/kernel/random/boot_id")
	require.NoError(t, err)
	assert.NotEqual(t, string(bootID), string(newBootID))
	out, err := m.Output(bounded(t), "head", "-c", "5", disk(t, m, plain).Node())
	require.NoError(t, err)
	assert.Equal(t, "kept\n", out)
	_, err = running.Wait(bounded(t))
	require.ErrorIs(t, err, lab.ErrReset)
}

func testSwitchedOff(t *testing.T, m *lab.Machine) {
	_, err := m.Run(bounded(t), "poweroff", "-f")
	require.ErrorContains(t, err, "machine was switched off")
	_, err = m.Run(bounded(t), "true")
	require.ErrorContains(t, err, "machine was switched off")
	require.ErrorContains(t, m.Throttle(bounded(t), plain, 1), "machine was switched off")
	assert.Contains(t, m.Console(), "reboot: Power down")
}

// bound is far more than any step takes, even on a busy machine.
const bound = 5 * time.Minute

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	t.Cleanup(cancel)
	return ctx
}

func disk(t *testing.T, m *lab.Machine, id string) lab.Disk {
	t.Helper()
	d, err := m.Disk(bounded(t), id)
	require.NoError(t, err)
	return d
}

// nvme runs nvme-cli and decodes its output.
func nvme(t *testing.T, m *lab.Machine, into any, args ...string) {
	t.Helper()
	out, err := m.Output(bounded(t), append(append([]string{"nvme"}, args...), "--output-format=json")...)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(out), into), out)
}
