package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/daemon"
	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/internal/web"
)

// daemonOptions are the flags of daemon.
type daemonOptions struct {
	listen        []string
	systemdSocket bool
	webConfigFile string
	logLevel      string
	logFormat     string
}

func (a *app) daemonCommand() *cobra.Command {
	var o daemonOptions
	c := &cobra.Command{
		Use:   "daemon",
		Short: "Probe drives continuously and publish Prometheus metrics",
		Long: `Probes every drive that the configuration selects: by default every readable disk except
hard disks. If there is none, it probes a 1 GiB file that it creates, unless
fallback_file is false. It serves /metrics, a status page and a read-only JSON API.

SIGHUP reloads the configuration. If the file is bad, the old configuration stays in
force. If the file was edited but not reloaded, the log and the status page say so.
SIGINT and SIGTERM stop the daemon. The state directory keeps what was learned.`,
		Example: `  ssdprobe daemon
  ssdprobe daemon --config /etc/ssdprobe/ssdprobe.yaml \
    --web.listen-address 127.0.0.1:10040`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return a.daemon(c.Context(), o) },
	}
	f := c.Flags()
	f.StringArrayVar(&o.listen, "web.listen-address", nil, "`ADDRESS` of the HTTP server, host:port or :port; may be repeated; overrides listen of the configuration")
	f.BoolVar(&o.systemdSocket, "web.systemd-socket", false, "listen on the sockets that systemd passes, instead of on addresses")
	f.StringVar(&o.webConfigFile, "web.config.file", "", "`FILE` that turns on TLS or basic authentication, in the format of Prometheus exporters")
	f.StringVar(&o.logLevel, "log.level", "info", "lowest `LEVEL` to log: debug, info, warn or error")
	f.StringVar(&o.logFormat, "log.format", "text", "`FORMAT` of the log: text or json")
	return c
}

// newLog returns the log as configured by the flags.
func (o daemonOptions) newLog(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
		return nil, usage(fmt.Errorf("--log.level: %q is unknown; want debug, info, warn or error", o.logLevel))
	}
	options := &slog.HandlerOptions{Level: level}
	switch o.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil // it quotes unprintable characters itself
	case "json":
		return slog.New(slog.NewJSONHandler(jsonWriter{w}, options)), nil
	}
	return nil, usage(fmt.Errorf("--log.format: %q is unknown; want text or json", o.logFormat))
}

// jsonWriter escapes unprintable characters that the JSON encoder of the log leaves as they are.
type jsonWriter struct{ w io.Writer }

// Write writes one log record.
func (j jsonWriter) Write(record []byte) (int, error) {
	if _, err := j.w.Write(printable.JSON(record)); err != nil {
		return 0, err
	}
	return len(record), nil
}

// daemonSettings returns the settings, overridden by the flags of daemon.
func (a *app) daemonSettings(o daemonOptions, source config.Source) (config.Config, error) {
	c, err := a.settingsFrom(source)
	if err != nil || len(o.listen) == 0 {
		return c, err
	}
	c.Listen = o.listen
	if err := c.Validate(); err != nil {
		return c, usage(ofListenFlag(err))
	}
	return c, nil
}

// ofListenFlag rewrites problems of the configuration key listen to name the flag that overrides it.
func ofListenFlag(err error) error {
	const flag = "--web.listen-address"
	var problems config.Problems
	if !errors.As(err, &problems) {
		return fmt.Errorf("%s: %w", flag, err)
	}
	key := regexp.MustCompile(`\blisten\[\d+\]`)
	for i, p := range problems {
		problems[i].Field = key.ReplaceAllString(p.Field, flag)
		problems[i].Wrong = key.ReplaceAllString(p.Wrong, "another one")
	}
	return problems
}

func (a *app) daemon(ctx context.Context, o daemonOptions) error {
	log, err := o.newLog(a.stderr)
	if err != nil {
		return err
	}
	source, err := a.source()
	if err != nil {
		return err
	}
	c, err := a.daemonSettings(o, source)
	if err != nil {
		return err
	}
	limitMemory(log)
	if o.systemdSocket && len(o.listen) > 0 {
		return usage(errors.New("--web.listen-address: cannot be given with --web.systemd-socket: systemd chooses the addresses"))
	}
	for _, warning := range warnings(c) {
		log.Warn("configuration", "warning", warning)
	}
	server, err := web.Listen(ctx, web.Config{
		Listen: c.Listen, SystemdSocket: o.systemdSocket, WebConfigFile: o.webConfigFile, Log: log,
	})
	if bad := new(web.ConfigError); errors.As(err, &bad) {
		return usage(err)
	} else if err != nil {
		return err
	}
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, unix.SIGHUP)
	defer signal.Stop(reload)
	latencies := export.NewLatencies()
	var d *daemon.Daemon
	registry, err := export.NewRegistry(func() record.Snapshot { return d.Snapshot() }, latencies, build())
	if err != nil {
		return errors.Join(err, server.Close())
	}
	d, err = daemon.New(daemon.Options{
		Config: c, Log: log, Generator: generator(), Latencies: latencies,
		Restorer: settings.Self(), Source: source, Reload: reload, Parse: func(s config.Source) (config.Config, error) { return a.daemonSettings(o, s) },
		Warnings: warnings,
		Serve: func(ctx context.Context) error {
			return server.Serve(ctx, web.Handler(web.Options{
				Snapshot: d.Snapshot, Explain: d.Explain, History: d.History, Recording: d.Recording, Ready: d.Ready, Missing: d.Missing, Metrics: registry, Version: build().Version, Log: log,
			}))
		},
	})
	if err != nil {
		return errors.Join(err, server.Close())
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return d.Run(ctx) })
	group.Go(func() error {
		select {
		case <-ctx.Done():
			return nil
		case <-d.Discovered():
			d.Announce(server.URLs())
			return a.started(o, log, d.Snapshot(), server.URLs())
		}
	})
	return group.Wait()
}

// started tells the user what the daemon does and where to look. With a JSON log this is a record in the log
// instead of the banner, because the log of a container also contains standard output.
func (a *app) started(o daemonOptions, log *slog.Logger, s record.Snapshot, urls []string) error {
	if o.logFormat != "json" {
		return a.banner(s, urls)
	}
	watches := make([]string, 0, len(s.Targets))
	for _, t := range s.Targets {
		watches = append(watches, describe(t))
	}
	log.Info("started", "version", build().Version, "node", s.Node, "watches", watches, "ignores", report.LeftOut(s.Ignored), "status", urls)
	return nil
}

// banner tells the user who started the daemon what it does and where to look.
func (a *app) banner(s record.Snapshot, urls []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "ssdprobe %s on %s\n\n", build().Version, s.Node)
	for _, t := range s.Targets {
		fmt.Fprintf(&b, "watches   %s\n", describe(t))
	}
	if len(s.Targets) == 0 {
		b.WriteString("watches   nothing: no device is selected; see ssdprobe devices\n")
	}
	for _, line := range report.LeftOut(s.Ignored) {
		fmt.Fprintf(&b, "ignores   %s\n", line)
	}
	for _, u := range urls {
		fmt.Fprintf(&b, "metrics   %smetrics\nstatus    %s\n", u, u)
	}
	b.WriteString("\nCtrl-C stops it; what it learned is kept.\n")
	return tell(a.stdout, "%s", b.String())
}

func describe(t record.TargetStatus) string {
	text := t.Path
	if t.File {
		text = "a probe file in " + t.Path
		if t.Device.Name != "" {
			text += ", on " + t.Device.Name
		}
	}
	if t.Device.SizeBytes > 0 {
		model := t.Device.Model
		if model != "" {
			model += ", "
		}
		text += fmt.Sprintf(" (%s%s)", model, units.DriveSize(t.Device.SizeBytes))
	}
	return text
}
