package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/fleetview"
	"github.com/ssdprobe/ssdprobe/internal/promapi"
)

const examplePrometheus = "http://prometheus:9090"

// checkPrometheus checks the value of --prometheus.
func checkPrometheus(address string) error {
	return checkURL("--prometheus", address, "server", examplePrometheus)
}

// fleetTimeout is how long a server may take to answer all queries.
const fleetTimeout = time.Minute

type fleetOptions struct {
	prometheus, model, since, at string
	all                          bool
	server                       clientOptions
	form                         output
}

func (a *app) fleetCommand() *cobra.Command {
	var o fleetOptions
	c := &cobra.Command{
		Use:   "fleet --prometheus URL",
		Short: "Show the drives of all nodes, the worst first, through Prometheus",
		Long: `Shows the verdict on each drive of all nodes, the worst first, then hosts and models. It asks
the Prometheus server, Thanos or Mimir that scrapes the daemons, and no daemon itself.

The verdict is that of the drive's node. If only the comparison of all nodes shows that a drive
is far slower than its peers, the drive is on watch, by "fleet", and degraded once its alert
fires. That needs the rules that ship with ssdprobe, and four drives of one model. Healthy
drives are only counted, unless --all is given.

--http.config.file has credentials, TLS settings and headers, such as X-Scope-OrgID of Mimir:
  http_headers: {X-Scope-OrgID: {values: [storage]}}`,
		Example: `  ssdprobe fleet --prometheus http://prometheus:9090
  ssdprobe fleet --prometheus http://prometheus:9090 --all \
    --model "SAMSUNG MZQL23T8HCLS-00A07"
  ssdprobe fleet --prometheus https://mimir/prometheus --since 1d --output csv \
    --http.config.file client.yml`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return a.fleet(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.prometheus, "prometheus", "", "`URL` of the server, with its path prefix if it has one; required")
	f.StringVar(&o.model, "model", "", "only drives of this `MODEL`")
	f.StringVar(&o.since, "since", "", "only drives that got slow within this `DURATION`, such as 1d")
	f.StringVar(&o.at, "at", "now", "the fleet at this `TIME`: RFC 3339, unix seconds, or how long ago")
	f.BoolVar(&o.all, "all", false, "list healthy drives and hosts, too")
	o.server.add(f)
	addOutput(c, &o.form, outputCSV)
	return c
}

func (a *app) fleet(ctx context.Context, o fleetOptions) error {
	if o.prometheus == "" {
		return usage(errors.New("--prometheus: is missing; want the URL of the server that scrapes ssdprobe, such as " + examplePrometheus))
	}
	if err := checkPrometheus(o.prometheus); err != nil {
		return usage(err)
	}
	at, err := moment("--at", o.at, time.Now())
	if err != nil {
		return usage(err)
	}
	var within time.Duration
	if o.since != "" {
		within, err = config.ParseDuration(o.since)
		if err == nil && within == 0 {
			err = fmt.Errorf("%q is too short; want more, e.g. 1d", o.since)
		}
		if err != nil {
			return usage(fmt.Errorf("--since: %w", err))
		}
	}
	client, err := o.server.client()
	if err != nil {
		return err
	}
	server, err := promapi.New(o.prometheus, client)
	if err != nil {
		return usage(fmt.Errorf("--prometheus: %w", err))
	}
	ctx, cancel := context.WithTimeout(ctx, fleetTimeout)
	defer cancel()
	f, err := fleetview.Ask(ctx, server, at)
	if err != nil {
		return cured("--prometheus", err)
	}
	if o.model != "" || within > 0 {
		f = f.Only(func(d fleetview.Drive) bool {
			return (o.model == "" || d.Model == o.model) && (within == 0 || !d.Since.IsZero() && at.Sub(d.Since) <= within)
		})
	}
	if o.form == outputCSV {
		return errors.Join(f.CSV(a.stdout), a.tellDoubts(f.Problems), a.tellSilent(f.Silent)) // the table has no place for them
	}
	return a.show(o.form, f, func(w io.Writer) error { return f.Text(w, o.all) })
}

// tellDoubts tells the warnings of a server about what was printed.
func (a *app) tellDoubts(warnings []string) error {
	var errs []error
	for _, w := range warnings {
		errs = append(errs, tell(a.stderr, "the answer may be incomplete: %s\n", w))
	}
	return errors.Join(errs...)
}

// tellSilent tells of which nodes nothing was printed.
func (a *app) tellSilent(nodes []string) error {
	if len(nodes) == 0 {
		return nil
	}
	return tell(a.stderr, "%s%s\n", fleetview.SilentNodes, strings.Join(nodes, ", "))
}
