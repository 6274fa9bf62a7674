package health

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/tool"
)

// ErrNotInstalled says that smartctl was not found.
var ErrNotInstalled = errors.New("smartctl is not installed (package smartmontools)")

// asleepStatus is the exit status that smartctl is told to use when the drive sleeps. As a set
// of bits it would mean a wrong command line and a failed open at once, which never happens.
const asleepStatus = 3

// FindSmartctl returns the path of smartctl, or ErrNotInstalled.
func FindSmartctl() (string, error) {
	path, err := tool.Find("smartctl")
	if errors.Is(err, exec.ErrNotFound) {
		err = ErrNotInstalled
	}
	return path, err
}

// Drive reads the health of one SATA or SAS drive through smartctl, repeatedly. It is
// not safe for concurrent use.
type Drive struct {
	smartctl string
	args     []string
	name     string
	guard    guard.Guard
}

// NewDrive returns the reader of the drive d. node is the path of its device node,
// smartctl that of the program.
func NewDrive(files sysfs.FS, smartctl string, d record.Device, node string) *Drive {
	// With the type given, smartctl does not try commands that might wake the drive. A
	// SATA drive behind a SAS adapter is recognised by its vendor, ATA.
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

// Read asks the drive once, unless it sleeps, and waits at most for timeout. The error
// matches *guard.HungError if smartctl, or an earlier one, has not ended in time.
// Otherwise it is what smartctl reports; it matches fs.ErrPermission if access is denied.
func (d *Drive) Read(ctx context.Context, timeout time.Duration) (record.DiskHealth, error) {
	h, err := guard.Do(ctx, &d.guard, timeout, d.ask)
	if err != nil {
		err = fmt.Errorf("health of %s: %w", d.name, err)
	}
	return h, err
}

func (d *Drive) ask(ctx context.Context) (record.DiskHealth, error) {
	now := time.Now()
	answer, err := tool.Ask(ctx, d.smartctl, d.args)
	if err != nil {
		return record.DiskHealth{}, err
	}
	h, err := parseSmartctl(answer.Stdout)
	if said := bytes.TrimSpace(answer.Stderr); err != nil && len(said) > 0 {
		err = fmt.Errorf("%w: %s", err, said)
	}
	h.Time = now
	return h, err
}
