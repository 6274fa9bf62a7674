package iolatency

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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

// tell is a program that follows the device of a number, and tells how many I/Os it saw of it until it is killed.
func tell(arguments []string, stdout, stderr io.Writer) int {
	tracer, err := Start()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if err := errors.Join(DropRights(), tracer.Follow(map[string]Device{arguments[0]: {Requests: true}})); err != nil {
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
		for _, h := range tracer.Of(arguments[0]).Histograms {
			if h.Stage == record.StageDevice {
				n += h.Count()
			}
		}
		if n != before {
			fmt.Fprintln(stdout, "seen", n)
		}
		before = n
	}
}

// with returns the program as root with these capabilities alone.
func with(t *testing.T, capabilities, number string) *testenv.Program {
	t.Helper()
	testenv.Root(t)
	c := testenv.Command(t, nil, number)
	c.Args = append([]string{"setpriv", "--bounding-set=-all" + capabilities, "--inh-caps=-all"}, c.Args...)
	c.Path = testenv.Installed(t, "setpriv")
	return testenv.StartCommand(t, c)
}

// Once the programs are loaded, nothing needs rights; and nothing stays when the process is killed.
func TestRights(t *testing.T) {
	device := testenv.LoopDevice(t, 16<<20, testenv.Options{Dir: testenv.OnDisk(t)})
	p := with(t, ",+bpf,+perfmon", device.Number)
	p.Stdout.Find(t, "ready")
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	require.NoError(t, err)
	assert.Contains(t, string(status), "CapEff:\t0000000000000000")
	assert.Contains(t, string(status), "CapPrm:\t0000000000000000")

	out, err := exec.CommandContext(t.Context(), "dd", "if="+device.Path, "of=/dev/null", "bs=4096", "count=8", "iflag=direct").CombinedOutput()
	require.NoError(t, err, "%s", out)
	p.Stdout.Find(t, "seen 8")

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
