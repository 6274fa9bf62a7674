package testenv

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Hung is a mounted FUSE filesystem whose server does not answer: a lookup on it waits in the
// kernel, as on NFS when the server is gone.
type Hung struct {
	dir    string
	server *os.File // nil when the server has died
}

// HungFilesystem mounts a hanging filesystem at dir. It is unmounted when the test ends.
func HungFilesystem(t testing.TB, dir string) *Hung {
	t.Helper()
	Root(t)
	server, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		missing(t, "the kernel's FUSE: "+err.Error())
	}
	h := &Hung{dir: dir, server: server}
	// The server's first request is never read, so that no request is ever answered.
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", server.Fd())
	if err := unix.Mount("ssdprobe-test", dir, "fuse", unix.MS_NODEV|unix.MS_NOSUID, options); err != nil {
		t.Fatalf("mount a FUSE filesystem at %s: %v", dir, err)
	}
	t.Cleanup(func() { h.End(t) })
	return h
}

// End lets the server die and unmounts the filesystem: everything that waited fails.
func (h *Hung) End(t testing.TB) {
	t.Helper()
	if h.server == nil {
		return
	}
	if err := h.server.Close(); err != nil {
		t.Errorf("close /dev/fuse: %v", err)
	}
	h.server = nil
	if err := unix.Unmount(h.dir, unix.MNT_DETACH); err != nil {
		t.Errorf("unmount %s: %v", h.dir, err)
	}
}
