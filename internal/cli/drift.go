package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/daemon"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// daemonTimeout is how long a daemon may take to answer; it answers from memory.
const daemonTimeout = 5 * time.Second

// maxAnswer bounds what is read of a daemon's answer.
const maxAnswer = 64 << 20

func (a *app) driftCommand() *cobra.Command {
	var form output
	var address string
	c := &cobra.Command{
		Use:   "drift",
		Short: "Show how each target compares with its baseline",
		Long: `Asks the running daemon. When none answers, shows what was last stored in the
state directory, and says so.`,
		Example: `  ssdprobe drift
  ssdprobe drift --url http://stor-07:10040 --output json
  ssdprobe drift explain nvme0n1
  ssdprobe drift accept nvme0n1 --note "slower since the new firmware; the vendor says so"
  ssdprobe drift replay history.csv`,
		SuggestionsMinimumDistance: 2,
		Args:                       noSubcommand,
		RunE:                       func(c *cobra.Command, _ []string) error { return a.drift(c.Context(), address, form) },
	}
	c.Flags().StringVar(&address, "url", "", "`URL` of the daemon; by default where the configuration listens")
	addOutput(c, &form)
	c.AddCommand(a.driftExplain(), a.driftAccept(), a.driftReplay())
	return c
}

func (a *app) drift(ctx context.Context, address string, form output) error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	var s record.Snapshot
	if address != "" {
		s, err = askDaemon(ctx, address)
	} else if s, err = askDaemon(ctx, daemonAddress(c)); errors.Is(err, unix.ECONNREFUSED) {
		s, err = a.stored(c)
	}
	if err != nil && len(s.Targets) == 0 {
		return err
	}
	if form == outputJSON {
		return errors.Join(err, report.JSON(a.stdout, s))
	}
	return errors.Join(err, report.Drift(a.stdout, s))
}

func (a *app) stored(c config.Config) (record.Snapshot, error) {
	if _, err := os.Stat(c.StateDir); errors.Is(err, fs.ErrNotExist) {
		return record.Snapshot{}, fmt.Errorf("no daemon answers at %s, and nothing is stored in %s; start one with ssdprobe daemon", c.Listen[0], c.StateDir)
	}
	state, err := store.Open(c.StateDir)
	if err != nil {
		return record.Snapshot{}, err
	}
	s, err := daemon.Stored(state, c, time.Now())
	if err == nil {
		_, err = fmt.Fprintf(a.stderr, "no daemon answers at %s; this is what was last stored in %s\n", c.Listen[0], c.StateDir)
	}
	return s, err
}

// daemonAddress is where the daemon of the state directory said that it answers, else
// where the configuration listens.
func daemonAddress(c config.Config) string {
	if _, err := os.Stat(c.StateDir); err == nil {
		if state, err := store.Open(c.StateDir); err == nil {
			if urls, err := daemon.Announced(state); err == nil && len(urls) > 0 {
				return urls[0]
			}
		}
	}
	return "http://" + localAddress(c.Listen[0])
}

// localAddress is where a program on this machine reaches a listen address.
func localAddress(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen // the configuration was checked: there is nothing better
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// askDaemon returns a daemon's snapshot.
func askDaemon(ctx context.Context, address string) (record.Snapshot, error) {
	var s record.Snapshot
	err := ask(ctx, &s, address, "/api/v1/snapshot")
	return s, err
}

// ask decodes what a daemon answers below its address.
func ask(ctx context.Context, answer any, address string, path ...string) error {
	at, err := url.JoinPath(address, path...)
	if err != nil {
		return usage(fmt.Errorf("--url %s: %w", address, err))
	}
	ctx, cancel := context.WithTimeout(ctx, daemonTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return usage(fmt.Errorf("--url %s: %w", address, err))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask the daemon: %w", err)
	}
	defer response.Body.Close() // only read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("ask the daemon at %s: it answers %s", at, response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(answer); err != nil {
		return fmt.Errorf("ask the daemon at %s: not an answer of ssdprobe: %w", at, err)
	}
	return nil
}
