package daemon

import (
	"context"

	"github.com/ssdprobe/ssdprobe/internal/store"
)

// kindDaemon is where the state directory keeps what is known of the daemon itself.
const kindDaemon = "daemon"

// Announce notes in the state directory where the daemon answers, so that commands
// that are given the directory find it. A directory that is full or broken is no
// reason to watch nothing: commands then need its URL.
func (d *Daemon) Announce(urls []string) {
	if err := d.shared.save(context.Background(), saveTimeout, kindDaemon, "address", urls); err != nil {
		d.shared.log.Error("cannot note where this daemon answers; give commands its --url", "err", err)
	}
}

// Announced returns where the daemon of a state directory answers, or last answered;
// empty when that is not known.
func Announced(s *store.Store) ([]string, error) {
	var urls []string
	if found, err := s.Load(kindDaemon, "address", &urls); err != nil || !found {
		return nil, err
	}
	return urls, nil
}
