package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) readyCommand() *cobra.Command {
	var of daemonOf
	c := &cobra.Command{
		Use:   "ready",
		Short: "Ask a running daemon whether it is ready",
		Long: `Asks /-/ready, which needs no password, and prints the answer. Exit code 0 when it is
ready, 1 when it is not or when nobody answers.`,
		Example: `  ssdprobe ready
  ssdprobe ready --url https://stor-07:10040 --ca-file /etc/ssdprobe/ca.crt`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return a.ready(c.Context(), of) },
	}
	of.add(c.Flags())
	return c
}

func (a *app) ready(ctx context.Context, of daemonOf) error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	address, err := of.address(c)
	if err != nil {
		return err
	}
	return of.get(ctx, address, []string{"/-/ready"}, func(at string, response *http.Response) error {
		if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusServiceUnavailable {
			return refusedAnswer(at, response)
		}
		says, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
		if err != nil {
			return fmt.Errorf("ask the daemon at %s: %w", at, err)
		}
		text := strings.TrimSpace(string(says))
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("the daemon at %s is not ready: %s", address, text)
		}
		_, err = fmt.Fprintf(a.stdout, "%s: %s\n", address, text)
		return err
	})
}
