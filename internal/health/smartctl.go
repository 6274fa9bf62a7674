package health

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// ErrNotInstalled says that there is no smartctl here.
var ErrNotInstalled = errors.New("smartctl is not installed (package smartmontools)")

const (
	// asleepStatus is what smartctl is told to exit with when the drive sleeps. As a set of
	// bits it would be a wrong command line and a failed open at once, which never happens.
	asleepStatus = 3
	// answerLimit is the most bytes that smartctl may say; real answers are 10 KiB.
	answerLimit = 1 << 20
	// drain is how long the pipes of a smartctl that was killed are waited for.
	drain = 2 * time.Second
)

// FindSmartctl returns the path of smartctl, or ErrNotInstalled. Services often have no
// sbin in their PATH, so that is looked at too.
func FindSmartctl() (string, error) {
	for _, name := range []string{"smartctl", "/usr/sbin/smartctl", "/usr/local/sbin/smartctl"} {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", ErrNotInstalled
}

// Drive reads the health of one SATA or SAS drive through smartctl, again and again. One
// goroutine may use it.
type Drive struct {
	smartctl string
	args     []string
	name     string
	guard    guard.Guard
}

// NewDrive returns the reader of the drive whose node is at path; smartctl is the path of
// the program.
func NewDrive(files sysfs.FS, smartctl string, d record.Device, node string) *Drive {
	// With its type given, smartctl need not try commands that might wake the drive. A
	// SATA drive behind a SAS adapter says that it is one by its vendor.
	kind := "scsi"
	if vendor, err := files.Text("/sys/block/" + d.Name + "/device/vendor"); d.Transport == "sata" || err == nil && vendor == "ATA" {
		kind = "sat"
	}
	return &Drive{
		smartctl: smartctl, name: d.Name,
		args: []string{
			"--json", "--nocheck", fmt.Sprintf("standby,%d", asleepStatus), "--device", kind,
			"--info", "--health", "--attributes", node,
		},
	}
}

// Read asks the drive once, unless it sleeps, and waits at most for timeout. Errors:
// *guard.HungError when an earlier smartctl has still not ended; what smartctl says
// when it cannot read the drive, fs.ErrPermission among it.
func (d *Drive) Read(ctx context.Context, timeout time.Duration) (record.DiskHealth, error) {
	h, err := guard.Do(ctx, &d.guard, timeout, d.ask)
	if err != nil {
		err = fmt.Errorf("health of %s: %w", d.name, err)
	}
	return h, err
}

func (d *Drive) ask(ctx context.Context) (record.DiskHealth, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out, errs := limited{stop: stop}, limited{stop: stop}
	c := exec.CommandContext(ctx, d.smartctl, d.args...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.Stdout, c.Stderr = &out, &errs
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error {
		if err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return os.ErrProcessDone
	}
	c.WaitDelay = drain
	now := time.Now()
	err := c.Run()
	var exited *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return record.DiskHealth{}, fmt.Errorf("smartctl: %w", context.Cause(ctx))
	case err != nil && !errors.As(err, &exited):
		return record.DiskHealth{}, fmt.Errorf("smartctl: %w", err)
	}
	h, err := parseSmartctl(out.text.Bytes())
	if said := bytes.TrimSpace(errs.text.Bytes()); err != nil && len(said) > 0 {
		err = fmt.Errorf("%w: %s", err, said)
	}
	h.Time = now
	return h, err
}

// limited gathers output up to answerLimit; a program that says more is stopped. It
// embeds no buffer, whose ReadFrom would go around the limit.
type limited struct {
	text bytes.Buffer
	stop context.CancelCauseFunc
}

func (l *limited) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > answerLimit {
		err := fmt.Errorf("it says more than %d bytes", answerLimit)
		l.stop(err)
		return 0, err
	}
	return l.text.Write(p)
}
