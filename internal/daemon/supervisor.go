package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"

	"github.com/ssdprobe/ssdprobe/internal/schedule"
)

// readyPatience is the longest time that systemd waits for the first discovery. A drive that hangs must not delay the
// boot, nor cause systemd to stop the daemon for being late.
const readyPatience = 30 * time.Second

// supervisor is what started the daemon and wants to be notified of its state: systemd, through $NOTIFY_SOCKET.
// Without that variable, notifications do nothing.
type supervisor struct{ log *slog.Logger }

// tell sends a state with sd_notify(3).
func (s supervisor) tell(state string) {
	if _, err := sd.SdNotify(false, state); err != nil {
		s.log.Warn("cannot report the state of the daemon to systemd", "state", state, "err", err)
	}
}

func (s supervisor) reloading() {
	s.tell(sd.SdNotifyReloading + "\n" + sd.SdNotifyMonotonicUsec())
}

func (s supervisor) ready() { s.tell(sd.SdNotifyReady) }

// supervise notifies the supervisor when the daemon is ready, that it is alive, and when it stops. The daemon is
// alive as long as it can create a snapshot, which does not wait for any drive, but takes every lock.
func (d *Daemon) supervise(ctx context.Context) error {
	s := d.supervisor
	select {
	case <-ctx.Done():
		return nil
	case <-d.Discovered():
	case <-time.After(readyPatience):
	}
	s.ready()
	defer s.tell(sd.SdNotifyStopping)
	within, err := sd.SdWatchdogEnabled(false)
	if err != nil {
		return fmt.Errorf("read the watchdog interval of systemd: %w", err)
	}
	if within == 0 {
		<-ctx.Done()
		return nil
	}
	for schedule.Pause(ctx, within/3) {
		d.Snapshot()
		s.tell(sd.SdNotifyWatchdog)
	}
	return nil
}
