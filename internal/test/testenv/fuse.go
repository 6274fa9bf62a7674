package testenv

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Remote is a mounted FUSE filesystem with one entry, whose server can stop answering, like an NFS server that is gone.
type Remote struct {
	// Path is the path of the entry.
	Path    string
	silent  atomic.Bool
	asked   atomic.Bool
	full    atomic.Bool
	failing atomic.Int32 // errno of reads
	holders []*exec.Cmd
	reads   reads
}

// reads counts down to the read whose answer is held back.
type reads struct {
	mu   sync.Mutex
	left int            // reads that are still answered
	held chan struct{}  // closed when all are answered again; nil while they are
	came chan time.Time // is told when the first of those that wait came
}

// RemoteFile mounts a filesystem with one regular file. It is unmounted when the test ends, and
// everything that waits for it fails.
func RemoteFile(t testing.TB) *Remote { return mountRemote(t, unix.S_IFREG|0o600, 0) }

// RemoteNode is like RemoteFile, with the node of a block device instead of a file.
func RemoteNode(t testing.TB, device Loop) *Remote {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(device.Path, &st); err != nil {
		t.Fatalf("stat %s: %v", device.Path, err)
	}
	return mountRemote(t, unix.S_IFBLK|0o600, uint32(st.Rdev)) // Linux's old encoding, the same for small numbers
}

// KeepOpen starts a process that keeps the entry open for reading and writing until the test ends. It is a
// separate process because closing the entry asks the server, and a child of this process would close it, too.
func (r *Remote) KeepOpen(t testing.TB) {
	t.Helper()
	holder := exec.CommandContext(context.WithoutCancel(t.Context()), "sh", "-c", `exec 3<>"$0"; echo ready; read line`, r.Path)
	if _, err := holder.StdinPipe(); err != nil { // the holder waits for its end
		t.Fatal(err)
	}
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	r.holders = append(r.holders, holder)
	if _, err := stdout.Read(make([]byte, 6)); err != nil {
		t.Fatalf("open %s: %v", r.Path, err)
	}
}

// FallSilent makes the server stop answering and even reading requests from now on.
func (r *Remote) FallSilent() { r.silent.Store(true) }

// FailCloses makes each close of the file return EDQUOT from now on, like an NFS server that has no space for what was
// written. Call it before the first close.
func (r *Remote) FailCloses() { r.full.Store(true) }

// FailReads makes each read fail from now on.
func (r *Remote) FailReads(errno unix.Errno) { r.failing.Store(int32(errno)) }

// HoldReads lets n more reads through and makes the next one wait, like a drive that hangs, until release is called. It
// tells when that read came.
func (r *Remote) HoldReads(t testing.TB, n int) (came <-chan time.Time, release func()) {
	t.Helper()
	held, first := make(chan struct{}), make(chan time.Time, 1)
	r.reads.mu.Lock()
	r.reads.left, r.reads.held, r.reads.came = n, held, first
	r.reads.mu.Unlock()
	release = sync.OnceFunc(func() {
		r.reads.mu.Lock()
		r.reads.held = nil
		r.reads.mu.Unlock()
		close(held)
	})
	t.Cleanup(release)
	return first, release
}

// wait returns when a read may be answered.
func (r *reads) wait() {
	r.mu.Lock()
	held := r.held
	r.left--
	through := held == nil || r.left >= 0
	if !through && r.left == -1 {
		r.came <- time.Now()
	}
	r.mu.Unlock()
	if !through {
		<-held
	}
}

// Asked reports whether a request waits for an answer that will not come.
func (r *Remote) Asked() bool { return r.asked.Load() }

func mountRemote(t testing.TB, mode, rdev uint32) *Remote {
	t.Helper()
	Root(t)
	server, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		missing(t, "the kernel's FUSE: "+err.Error())
	}
	dir := t.TempDir()
	r := &Remote{Path: filepath.Join(dir, "entry")}
	fd := int(server.Fd()) // which makes it blocking
	if err := unix.Mount("ssdprobe-test", dir, "fuse", unix.MS_NOSUID, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd)); err != nil {
		t.Fatalf("mount a FUSE filesystem at %s: %v", dir, err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		r.serve(fd, mode, rdev)
	}()
	t.Cleanup(func() {
		// Force the unmount, so that the kernel ends the connection and with it the server's read.
		if err := unix.Unmount(dir, unix.MNT_FORCE|unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
		<-served
		for _, holder := range r.holders {
			_ = holder.Process.Kill() // it may have ended
			_ = holder.Wait()         // killed
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := os.Stat(r.Path); err != nil { // later requests come from others
		t.Fatal(err)
	}
	return r
}

// The requests of linux/fuse.h that are answered; all others get ENOSYS.
const (
	fuseLookup  = 1
	fuseGetattr = 3
	fuseOpen    = 14
	fuseRead    = 15
	fuseFlush   = 25
	fuseInit    = 26
	fuseOpendir = 27
)

// serve answers requests until the filesystem is unmounted.
func (r *Remote) serve(fd int, mode, rdev uint32) {
	const headerBytes, entry = 40, 2
	order := binary.NativeEndian
	attributes := func(node uint64) []byte { // struct fuse_attr
		m, device := uint32(unix.S_IFDIR|0o700), uint32(0)
		if node == entry {
			m, device = mode, rdev
		}
		b := order.AppendUint64(nil, node)
		b = order.AppendUint64(b, 1<<20) // size
		b = append(b, make([]byte, 4*8+3*4)...)
		for _, field := range []uint32{m, 1, 0, 0, device, 4096, 0} { // mode, nlink, uid, gid, rdev, blksize, flags
			b = order.AppendUint32(b, field)
		}
		return b
	}
	for request := make([]byte, 1<<20); ; {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if r.asked.Load() { // a waiting process can be killed as long as its request was not read
			poll[0].Events = 0
		}
		if _, err := unix.Poll(poll, -1); err == unix.EINTR {
			continue
		}
		if r.silent.Load() && poll[0].Revents == unix.POLLIN {
			r.asked.Store(true)
			continue
		}
		n, err := unix.Read(fd, request)
		if err == unix.EINTR || err == unix.ENOENT { // ENOENT: the request was withdrawn
			continue
		} else if err != nil || n < headerBytes {
			return
		}
		opcode, unique, node := order.Uint32(request[4:]), request[8:16], order.Uint64(request[16:])
		var answer []byte
		var errno unix.Errno
		switch opcode {
		case fuseInit: // struct fuse_init_out, of version 7.31
			answer = make([]byte, 64)
			order.PutUint32(answer, 7)
			order.PutUint32(answer[4:], 31)
			order.PutUint32(answer[20:], 1<<16) // max_write
		case fuseLookup: // struct fuse_entry_out, not to be cached
			answer = append(order.AppendUint64(nil, entry), make([]byte, 32)...)
			answer = append(answer, attributes(entry)...)
		case fuseGetattr: // struct fuse_attr_out, not to be cached
			answer = append(make([]byte, 16), attributes(node)...)
		case fuseOpen, fuseOpendir: // struct fuse_open_out; FOPEN_DIRECT_IO, so that each read asks the server
			answer = make([]byte, 16)
			order.PutUint32(answer[8:], 1)
		case fuseRead: // struct fuse_read_in: the size after handle and offset
			r.reads.wait()
			if errno = unix.Errno(r.failing.Load()); errno != 0 {
				break
			}
			answer = make([]byte, order.Uint32(request[headerBytes+16:]))
			_, _ = rand.Read(answer) // never fails
		case fuseFlush:
			if errno = unix.ENOSYS; r.full.Load() {
				errno = unix.EDQUOT
			}
		default:
			errno = unix.ENOSYS
		}
		out := order.AppendUint32(nil, uint32(16+len(answer)))
		out = order.AppendUint32(out, uint32(-int32(errno)))
		out = append(append(out, unique...), answer...)
		_, _ = unix.Write(fd, out) // the requester may have given up
	}
}
