package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

func (a *app) readyCommand() *cobra.Command {
	var of daemonOf
	var wait string
	c := &cobra.Command{
		Use:   "ready",
		Short: "Ask a running daemon whether it is ready",
		Long: `Asks /-/ready, which needs no password, and prints the answer. The exit code is 0 if the
daemon is ready. It is 1 if the daemon is not ready, or does not answer, within the time
of --wait.`,
		Example: `  ssdprobe ready
  ssdprobe ready --wait 1m
  ssdprobe ready --url https://stor-07:10040 --ca-file /etc/ssdprobe/ca.crt`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return a.ready(c.Context(), of, wait) },
	}
	of.add(c.Flags())
	c.Flags().StringVar(&wait, "wait", "0s", "repeat the question for up to this `DURATION`, until the daemon is ready")
	return c
}

// readyAgain is the time between two requests to a daemon that is not ready.
const readyAgain = 500 * time.Millisecond

func (a *app) ready(ctx context.Context, of daemonOf, wait string) error {
	patience, err := config.ParseDuration(wait)
	if err != nil {
		return usage(fmt.Errorf("--wait: %w", err))
	}
	var c config.Config
	if of.url == "" { // otherwise nothing of this machine is needed, such as a home directory for the state
		if c, err = a.settings(); err != nil {
			return err
		}
	}
	again, enough := time.Tick(readyAgain), time.After(patience)
	for {
		// The address is looked up each time, because a daemon that is just starting has not announced it yet.
		address, err := of.address(c)
		if err != nil {
			return err
		}
		says, err := of.ready(ctx, address)
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "%s: %s\n", address, says)
			return err
		}
		var wrong *exitError
		if patience == 0 || errors.As(err, &wrong) { // waiting does not correct a wrong flag
			return err
		}
		select {
		case <-again:
		case <-enough:
			return fmt.Errorf("%w; waited for %s", err, wait)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ready returns the answer of a daemon that is ready.
func (o daemonOf) ready(ctx context.Context, address string) (says string, err error) {
	err = o.get(ctx, address, []string{"/-/ready"}, func(at string, response *http.Response) error {
		if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusServiceUnavailable {
			return refusedAnswer(at, response)
		}
		text, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
		if err != nil {
			return fmt.Errorf("ask the daemon at %s: %w", at, err)
		}
		says = strings.TrimSpace(string(text))
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("the daemon at %s is not ready: %s", address, says)
		}
		return nil
	})
	return says, err
}
