package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/recorder"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

func (a *app) recordCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "record",
		Short: "Show what the flight recorder kept of stalls and verdicts",
		Long: `The daemon keeps the last ten minutes of all watched devices and of the host in memory, a
second at a time. When a device stalls, or a drive or the host is found slow, it writes the
minute before and the minute after to its state directory. Such a recording has the I/O of
each device with its mean latency, what was in flight, pressure and CPU time of the host,
temperatures and links, and the slowest I/Os where eBPF programs time them. Who submitted
those is recorded only with recorder.names in the configuration.`,
		Example: "  ssdprobe record list\n  ssdprobe record show 20261122T101502Z-nvme0n1",
		Args:    noSubcommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.recordList(), a.recordShow(), a.recordExport(), a.recordNow())
	return c
}

func (a *app) recordList() *cobra.Command {
	var form output
	var from daemonOf
	c := &cobra.Command{
		Use:   "list",
		Short: "List the recordings, the newest first",
		Long: `Lists the recordings in the state directory, the newest first, and those that the running
daemon is making. With --url it asks the daemon there.`,
		Example: "  ssdprobe record list\n  ssdprobe record list --url http://stor-07:10040 --output json",
		Args:    arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := a.recordings(c.Context(), from)
			if err != nil && len(list.Recordings) == 0 {
				return err
			}
			return errors.Join(err, a.show(form, list, func(w io.Writer) error { return report.Recordings(w, list, time.Now()) }))
		},
	}
	from.add(c.Flags())
	addOutput(c, &form)
	return c
}

func (a *app) recordShow() *cobra.Command {
	var form output
	var from daemonOf
	c := &cobra.Command{
		Use:   "show RECORDING",
		Short: "Show a recording with plots",
		Long: `Shows what happened, when, and plots of the devices that triggered the recording. The table
has the seconds around each event; --output json has all of them. A recording is named by its id,
or by the file that "record export" wrote: its name ends in .gz, or is "-" for standard input.`,
		Example: "  ssdprobe record show 20261122T101502Z-nvme0n1\n  ssdprobe record show stall.jsonl.gz --output html > stall.html",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			rec, err := a.recording(c.Context(), c.InOrStdin(), args[0], from)
			if err != nil {
				return err
			}
			if form == outputHTML {
				return report.RecordingHTML(a.stdout, rec)
			}
			return a.show(form, rec, func(w io.Writer) error { return report.Recording(w, rec) })
		},
	}
	from.add(c.Flags())
	addOutput(c, &form, outputHTML)
	return c
}

func (a *app) recordExport() *cobra.Command {
	var from daemonOf
	var file string
	var names bool
	c := &cobra.Command{
		Use:   "export RECORDING",
		Short: "Write a recording as one file, to send to others",
		Long: `Writes a recording as gzip of JSON lines. The first line says what was recorded and which
devices there are, with their serial numbers. Each further line is a second of the host or of
a device, a reading of a device, or one of its slowest I/Os. "record show" reads the file
again, on any machine. Names of processes and control groups are left out, unless --names is given.`,
		Example: "  ssdprobe record export 20261122T101502Z-nvme0n1\n  ssdprobe record export 20261122T101502Z-nvme0n1 --to - | zcat",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			rec, err := a.recording(c.Context(), c.InOrStdin(), args[0], from)
			if err != nil {
				return err
			}
			if !names {
				rec = rec.WithoutNames()
			}
			lines, err := recorder.Encode(rec)
			if err != nil {
				return err
			}
			return a.export(rec.ID, file, lines)
		},
	}
	from.add(c.Flags())
	c.Flags().StringVar(&file, "to", "", "`FILE` to write, - for standard output; default: the id and .jsonl.gz, in this directory")
	c.Flags().BoolVar(&names, "names", false, "keep which process and control group submitted the slowest I/Os, if that was recorded")
	return c
}

func (a *app) recordNow() *cobra.Command {
	return &cobra.Command{
		Use:   "now [TARGET]",
		Short: "Record the minute before and the minute after this moment",
		Long: `Asks the running daemon to keep the minute before and the minute after this moment, for
example while an application is slow. A target is named by its id, its path or its device name; it is
then shown in detail. The recording is listed when the minute after is over.`,
		Example: "  ssdprobe record now\n  ssdprobe record now nvme0n1",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE:    func(c *cobra.Command, args []string) error { return a.askToRecord(c.Context(), args, time.Now()) },
	}
}

// recordedAfter is about when a requested recording is listed: once the minute after the request is over.
const recordedAfter = 75 * time.Second

func (a *app) askToRecord(ctx context.Context, args []string, now time.Time) error {
	dir, targets, err := a.targets(args)
	id := "" // empty for the node
	switch {
	case errors.Is(err, errNothingKnown):
		t, watched := unsaved(ctx, dir, args[0], "")
		if !watched {
			return err
		}
		id = t.ID
	case err != nil:
		return err
	case len(args) > 0:
		id = targets[0].ID
	}
	name, err := dir.AskToRecord(id, now)
	if err != nil {
		return fmt.Errorf("%w: %s", err, dir.Dir())
	}
	return a.await(ctx, dir, []left{{asked{done: "the daemon records; see ssdprobe record list in about " + units.Span(recordedAfter)}, name}})
}

// export writes a recording to a file. It never overwrites an existing file.
func (a *app) export(id, file string, lines []byte) error {
	if file == "-" {
		_, err := a.stdout.Write(lines)
		return err
	}
	if file == "" {
		file = filepath.Base(id) + ".jsonl.gz" // the id may come from a daemon elsewhere
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return usage(fmt.Errorf("%s is there already; want another file by --to", file))
	} else if err != nil {
		return fmt.Errorf("%w; want another file by --to, or - for standard output", err)
	}
	_, err = f.Write(lines)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return tell(a.stderr, "written to %s\n", file)
}

// recordings returns the recordings: from the daemon of --url, or else those of the state directory, with those that its
// daemon is making.
func (a *app) recordings(ctx context.Context, from daemonOf) (report.RecordingList, error) {
	list := report.RecordingList{Recordings: []record.RecordingHead{}, Unfinished: []record.RecordingHead{}}
	c, err := a.settings()
	if err != nil {
		return list, err
	}
	if from.url != "" || !readable(filepath.Join(c.StateDir, "recordings")) {
		answer := list
		if err := from.askFor(ctx, c, &answer, "/api/v1/recordings"); err != nil {
			return list, err
		}
		if err := checkHeads(slices.Concat(answer.Recordings, answer.Unfinished)...); err != nil {
			return list, err
		}
		return answer, nil
	}
	dir, err := openExisting(c.StateDir)
	if err != nil {
		return list, err
	}
	unfinished, unheard := from.unfinished(ctx, dir) // first, or one that ends meanwhile would be in neither
	stored, err := dir.Recordings()
	for _, r := range stored {
		list.Recordings = append(list.Recordings, r.RecordingHead)
		unfinished = slices.DeleteFunc(unfinished, func(h record.RecordingHead) bool { return h.ID == r.ID })
	}
	list.Unfinished = append(list.Unfinished, unfinished...)
	if unheard != nil {
		err = errors.Join(err, tell(a.stderr, "recordings that are being made are left out: %v\n", unheard))
	}
	return list, err
}

// unfinished returns the recordings that the daemon of a state directory is making; none if no daemon runs.
func (o daemonOf) unfinished(ctx context.Context, dir state.Dir) ([]record.RecordingHead, error) {
	urls, err := dir.Announced()
	if err != nil || len(urls) == 0 {
		return nil, err
	}
	var list report.RecordingList
	if err = o.ask(ctx, &list, urls[0], "/api/v1/recordings"); errors.Is(err, unix.ECONNREFUSED) {
		return nil, nil
	}
	if err == nil {
		err = checkHeads(list.Unfinished...)
	}
	if err != nil {
		return nil, err
	}
	return list.Unfinished, nil
}

// checkHeads returns an error if one of the heads in an answer is none: what has answered is not a daemon of ssdprobe.
func checkHeads(heads ...record.RecordingHead) error {
	for _, h := range heads {
		if err := h.Check(); err != nil {
			return fmt.Errorf("not an answer of ssdprobe: %w", err)
		}
	}
	return nil
}

// recording returns the recording with an id, or the one in a file.
func (a *app) recording(ctx context.Context, stdin io.Reader, which string, from daemonOf) (rec record.Recording, err error) {
	if which == "-" || strings.HasSuffix(which, ".gz") || strings.ContainsRune(which, filepath.Separator) {
		rec, err = readFrom(stdin, which, recorder.Decode)
		if err != nil {
			return rec, usage(fmt.Errorf("read %s: %w", which, err))
		}
		return rec, nil
	}
	c, err := a.settings()
	if err != nil {
		return rec, err
	}
	if from.url != "" || !readable(filepath.Join(c.StateDir, "recordings")) {
		if err = from.askFor(ctx, c, &rec, "/api/v1/recordings", which); err == nil {
			err = checkHeads(rec.RecordingHead)
		}
		return rec, err
	}
	dir, err := openExisting(c.StateDir)
	if err != nil {
		return rec, err
	}
	stored, err := dir.Recording(which)
	if errors.Is(err, state.ErrNoRecording) {
		making, _ := from.unfinished(ctx, dir) // that it cannot be asked is not why there is no such recording
		if text := report.NotFinished(making, which); text != "" {
			return rec, errors.New(text)
		}
		return rec, usage(fmt.Errorf("%w in %s; see ssdprobe record list", err, dir.Dir()))
	} else if err != nil {
		return rec, err
	}
	rec, err = recorder.Decode(bytes.NewReader(stored.Lines))
	rec.Bytes = stored.Bytes
	return rec, err
}

// askFor asks the daemon that the flags or the configuration name.
func (o daemonOf) askFor(ctx context.Context, c config.Config, answer any, path ...string) error {
	address, err := o.address(c)
	if err != nil {
		return err
	}
	return o.ask(ctx, answer, address, path...)
}
