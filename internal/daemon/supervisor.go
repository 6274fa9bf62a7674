package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"
)

// readyPatience is how long systemd waits for the first discovery at most: a drive that hangs must not keep the boot
// waiting, nor have the daemon ended for being late.
const readyPatience = 30 * time.Second

// supervisor is what started the daemon and wants to be told what it does: systemd, by $NOTIFY_SOCKET. Without one nobody
// is told.
type supervisor struct{ log *slog.Logger }

// tell sends a state: sd_notify(3).
func (s supervisor) tell(state string) {
	if _, err := sd.SdNotify(false, state); err != nil {
		s.log.Warn("cannot tell systemd what the daemon does", "state", state, "err", err)
	}
}

func (s supervisor) reloading() {
	s.tell(sd.SdNotifyReloading + "\n" + sd.SdNotifyMonotonicUsec())
}

func (s supervisor) ready() { s.tell(sd.SdNotifyReady) }

// supervise tells the supervisor when the daemon is ready, that it lives, and that it stops. It lives as long as all that
// is known can be shown: that waits for no drive, but for every lock.
func (d *Daemon) supervise(ctx context.Context) error {
	s := d.supervisor
	patience := time.NewTimer(readyPatience)
	defer patience.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-d.Discovered():
	case <-patience.C:
	}
	s.ready()
	defer s.tell(sd.SdNotifyStopping)
	within, err := sd.SdWatchdogEnabled(false)
	if err != nil {
		return fmt.Errorf("read how often systemd wants to hear of the daemon: %w", err)
	}
	if within == 0 {
		<-ctx.Done()
		return nil
	}
	ticker := time.NewTicker(within / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		d.Snapshot()
		s.tell(sd.SdNotifyWatchdog)
	}
}
