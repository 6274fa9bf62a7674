package lab

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestArchiveIsUnpackedByBusybox(t *testing.T) {
	host := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(host, bytes.Repeat([]byte("x"), 1001), 0o750))
	var out bytes.Buffer
	a := newArchive(&out)
	require.NoError(t, a.copyFile("/usr/bin/program", host))
	require.NoError(t, a.text("/etc/name", "lab\n"))
	require.NoError(t, a.link("/bin", "usr/bin"))
	require.ErrorContains(t, a.text("/etc/name", "again"), "twice")
	require.Error(t, a.copyFile("/folder", t.TempDir()))
	require.NoError(t, a.close())
	assert.Zero(t, out.Len()%endOfBlock)

	dir := t.TempDir()
	cmd := exec.Command("busybox", "cpio", "-i")
	cmd.Dir, cmd.Stdin = dir, &out
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
	program, err := os.Stat(filepath.Join(dir, "bin/program")) // through the link
	require.NoError(t, err)
	assert.Equal(t, int64(1001), program.Size())
	assert.Equal(t, os.FileMode(0o750), program.Mode())
	name, err := os.ReadFile(filepath.Join(dir, "etc/name"))
	require.NoError(t, err)
	assert.Equal(t, "lab\n", string(name))
}

func TestLoadOrder(t *testing.T) {
	tree := &moduleTree{builtin: map[string]bool{}, path: map[string]string{}, depends: map[string][]string{}}
	require.NoError(t, tree.scanBuiltin(strings.NewReader("kernel/drivers/nvme/host/nvme.ko\n")))
	require.NoError(t, tree.scanDependencies(strings.NewReader(`a/virtio.ko:
a/virtio_ring.ko: a/virtio.ko
a/virtio_pci.ko.xz: a/virtio_ring.ko a/virtio.ko
`)))
	order, err := tree.loadOrder([]string{"virtio_pci", "nvme", "virtio-ring"})
	require.NoError(t, err)
	assert.Equal(t, []string{"a/virtio.ko", "a/virtio_ring.ko", "a/virtio_pci.ko.xz"}, order)
	_, err = tree.loadOrder([]string{"xfs"})
	require.EqualError(t, err, "the laboratory's kernel has no module xfs")
	require.Error(t, tree.scanDependencies(strings.NewReader("no colon\n")))
}

func TestImageHasWrittenStretches(t *testing.T) {
	file, err := Drive{ID: "nv0", SizeBytes: 4<<20 + 512, WrittenRatio: 0.5}.image()
	require.NoError(t, err)
	defer file.Close()
	content, err := io.ReadAll(file)
	require.NoError(t, err)
	require.Len(t, content, 4<<20+512)
	var written []bool
	for stretch := range 5 {
		at := stretch * stretchBytes
		zeros := bytes.Count(content[at:min(at+stretchBytes, len(content))], []byte{0})
		written = append(written, zeros < min(stretchBytes, len(content)-at)/2)
	}
	assert.Equal(t, []bool{false, true, false, true, false}, written)
	var stat unix.Stat_t
	require.NoError(t, unix.Fstat(int(file.Fd()), &stat))
	assert.Less(t, stat.Blocks*512, int64(3<<20), "the rest are holes")
	assert.Zero(t, stat.Nlink)
}

func TestOptionsThatMakeNoMachine(t *testing.T) {
	_, err := Options{
		CPUs: 1, NUMANodes: 2,
		Drives: []Drive{
			{ID: "a", NUMANode: 2},
			{ID: "a", WrittenRatio: 2},
			{ID: "b", Controllers: 16, Unplugged: true, Throttles: true},
		},
	}.withDefaults()
	require.Error(t, err)
	assert.Equal(t, []string{
		"2 NUMA nodes need as many processors, not 1",
		"drive a: no NUMA node 2",
		"drive a: written ratio 2 is not in 0 to 1",
		"two drives are called a",
		"18 controllers are more than 16",
		"drive b: only one controller that is there at boot, with a serial of its own, can say that it throttles",
		"drive b: with several controllers, an EUI64 or another's serial it has to be there at boot",
	}, strings.Split(err.Error(), "\n"))
}

func TestNodesShareEverything(t *testing.T) {
	assert.Equal(t, []int{342, 341, 341}, []int{share(1024, 3, 0), share(1024, 3, 1), share(1024, 3, 2)})
}

func FuzzForwardedPorts(f *testing.F) {
	f.Add(`Hub -1 (net):
  Protocol[State]    FD  Source Address  Port   Dest. Address  Port RecvQ SendQ
  TCP[HOST_FORWARD]  13       127.0.0.1 34567       10.0.2.15  9000     0     0
`)
	f.Fuzz(func(t *testing.T, table string) {
		addresses, err := parseForwardedPorts(table)
		if err != nil {
			return
		}
		for port, address := range addresses {
			assert.Contains(t, table, fmt.Sprint(port))
			assert.Contains(t, address, ":")
		}
	})
}

func TestForwardedPorts(t *testing.T) {
	addresses, err := parseForwardedPorts("  TCP[HOST_FORWARD]  13  127.0.0.1 34567  10.0.2.15  9000  0  0\r\n" +
		"  TCP[ESTABLISHED]  14  127.0.0.1 34567  10.0.2.15  9000  0  0\r\n")
	require.NoError(t, err)
	assert.Equal(t, map[int]string{9000: "127.0.0.1:34567"}, addresses)
	_, err = parseForwardedPorts("TCP[HOST_FORWARD]  13  127.0.0.1 34567  10.0.2.15  http  0  0")
	require.Error(t, err)
}

// TestBootIsBounded uses a machine that never gets as far as its agent.
func TestBootIsBounded(t *testing.T) {
	_, err := boot(t.Context(), Options{BootTimeout: time.Nanosecond})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "machine is not up after 1ns")
}

func TestQEMUsRefusalIsInTheError(t *testing.T) {
	_, err := boot(t.Context(), Options{Drives: []Drive{{Properties: map[string]any{"no-such-property": 1}}}})
	require.ErrorContains(t, err, "machine has ended")
	require.ErrorContains(t, err, "no-such-property")
}

// TestHypervisorDiesWithTheTest kills a process that has started a hypervisor, and waits for the hypervisor to end.
func TestHypervisorDiesWithTheTest(t *testing.T) {
	if os.Getenv("LAB_TEST_PARENT") != "" {
		h, err := startHypervisor("sleep", []string{"1000"}, nil, nil, io.Discard, io.Discard)
		require.NoError(t, err)
		fmt.Fprintf(os.Stderr, "child %d\n", h.process.Pid)
		<-h.done
		return
	}
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHypervisorDiesWithTheTest$")
	parent.Env = append(os.Environ(), "LAB_TEST_PARENT=1")
	said, err := parent.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	var pid int
	_, err = fmt.Sscanf(line, "child %d\n", &pid)
	require.NoError(t, err)
	child, err := unix.PidfdOpen(pid, 0)
	require.NoError(t, err)
	defer unix.Close(child)

	require.NoError(t, parent.Process.Signal(syscall.SIGKILL))
	require.Error(t, parent.Wait())
	fds := []unix.PollFd{{Fd: int32(child), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, int(time.Minute.Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		require.NoError(t, err)
		require.Equal(t, 1, n, "the child has not ended")
		return
	}
}

// TestShell types at the shell's prompt.
func TestShell(t *testing.T) {
	in, keyboard, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	defer keyboard.Close()
	screen, out, err := os.Pipe()
	require.NoError(t, err)
	defer screen.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- Shell(ctx, Options{}, Terminal{In: in, Out: out, Rows: 30, Columns: 100})
		out.Close()
	}()
	var seen bytes.Buffer
	typed := false
	for chunk := make([]byte, 1024); ; {
		n, err := screen.Read(chunk)
		seen.Write(chunk[:n])
		if !typed && strings.Contains(seen.String(), "lab:~# ") {
			typed = true
			_, err := io.WriteString(keyboard, "stty size; tty; exit\n")
			require.NoError(t, err)
		}
		if err != nil {
			break
		}
	}
	require.NoError(t, <-ended, seen.String())
	assert.Contains(t, seen.String(), "30 100\r\n/dev/ttyS0\r\n")
}
