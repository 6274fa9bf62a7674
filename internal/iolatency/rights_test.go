package iolatency

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, tell)) }

// tell is a program that follows the devices with the given numbers, and prints how many of their I/Os it saw
// until it is killed. The second device has no request queue.
func tell(arguments []string, stdout, stderr io.Writer) int {
	tracer, err := Start()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	wanted := map[string]Device{}
	for i, number := range arguments {
		wanted[number] = Device{Requests: i == 0}
	}
	if err := errors.Join(DropRights(), tracer.Follow(wanted)); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	for _, p := range tracer.kernel.all() {
		info, err := p.Info()
		if err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		id, _ := info.ID()
		fmt.Fprintln(stdout, "program", id)
	}
	fmt.Fprintln(stdout, "ready")
	for before := uint64(0); ; {
		<-time.After(10 * time.Millisecond)
		n := uint64(0)
		for _, number := range arguments {
			for _, h := range tracer.Of(number).Histograms {
				if h.Stage == record.StageDevice {
					n += h.Count()
				}
			}
		}
		if n != before {
			fmt.Fprintln(stdout, "seen", n)
		}
		before = n
	}
}

// with returns the program, to be run as root with only these capabilities.
func with(t *testing.T, capabilities string, numbers ...string) *testenv.Program {
	t.Helper()
	testenv.Root(t)
	c := testenv.Command(t, nil, numbers...)
	c.Args = append([]string{"setpriv", "--bounding-set=-all" + capabilities, "--inh-caps=-all"}, c.Args...)
	c.Path = testenv.Installed(t, "setpriv")
	return testenv.StartCommand(t, c)
}

// Once the programs are loaded, no thread needs capabilities, and nothing stays in the kernel when the process
// is killed.
func TestRights(t *testing.T) {
	device := testenv.LoopDevice(t, 16<<20, testenv.Options{Dir: testenv.OnDisk(t)})
	bios := testenv.Zram(t)
	p := with(t, ",+bpf,+perfmon", device.Number, testenv.DeviceNumber(t, bios))
	p.Stdout.Find(t, "ready")
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.Cmd.Process.Pid))
	require.NoError(t, err)
	require.Greater(t, len(threads), 2)
	for _, thread := range threads {
		status, err := os.ReadFile(thread)
		require.NoError(t, err)
		for _, set := range []string{"CapEff", "CapPrm", "CapInh", "CapAmb"} {
			assert.Contains(t, string(status), set+":\t0000000000000000", thread)
		}
	}

	for i, path := range []string{device.Path, bios} {
		out, err := exec.CommandContext(t.Context(), "dd", "if="+path, "of=/dev/null", "bs=4096", "count=8", "iflag=direct").CombinedOutput()
		require.NoError(t, err, "%s", out)
		p.Stdout.Find(t, fmt.Sprintf("seen %d", 8*(i+1)))
	}

	var ids []ebpf.ProgramID
	for line := range strings.Lines(p.Stdout.Text()) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "program "); ok {
			n, err := strconv.ParseUint(id, 10, 32)
			require.NoError(t, err)
			ids = append(ids, ebpf.ProgramID(n))
		}
	}
	require.Len(t, ids, 7)
	p.Signal(t, unix.SIGKILL)
	p.Wait(t)
	testenv.Eventually(t, "the programs are gone", func() bool {
		for _, id := range ids {
			if program, err := ebpf.NewProgramFromID(id); !errors.Is(err, os.ErrNotExist) {
				require.NoError(t, errors.Join(err, program.Close()))
				return false
			}
		}
		return true
	})
}

func TestWithoutRights(t *testing.T) {
	p := with(t, "", "7:0")
	assert.Equal(t, 1, p.Wait(t))
	assert.Contains(t, p.Stderr.Text(), "they need the capabilities CAP_BPF and CAP_PERFMON")
}
