package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

func (a *app) baselineCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "baseline",
		Short: "Show, reset, pin, export or import baselines",
		Long: `A baseline is what the daemon learned about one probe on one target under one set of
conditions. A target is named by its id, its path or its device name.

While a daemon runs, it carries out reset, import and pin itself. The command waits for its
answer.`,
		Example: "  ssdprobe baseline show\n  ssdprobe baseline reset nvme0n1 --probe read-4k",
		Args:    noSubcommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.baselineShow(), a.baselineReset(), a.baselineExport(), a.baselineImport(),
		a.baselinePin(true), a.baselinePin(false))
	return c
}

func (a *app) baselineShow() *cobra.Command {
	var form output
	c := &cobra.Command{
		Use:     "show [TARGET]",
		Short:   "Show the learned baselines and the saved runs",
		Example: "  ssdprobe baseline show\n  ssdprobe baseline show nvme0n1 --output json",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, targets, unknown := a.targets(args)
			if unknown != nil && !errors.Is(unknown, errNothingKnown) {
				return unknown
			}
			rows := baselineRows(targets)
			unread := a.warnOfSlow(rows, dir)
			runs, err := dir.RunBaselines()
			err = errors.Join(unread, err)
			runs = slices.DeleteFunc(runs, func(r record.RunReport) bool {
				of := func(t state.Target) bool { return t.ID == r.TargetID }
				return len(args) > 0 && !slices.ContainsFunc(targets, of) && !named(args[0], r.TargetID, r.Target, r.Device.Name)
			})
			if unknown != nil && len(runs) == 0 {
				return errors.Join(err, unknown)
			}
			return errors.Join(err, a.show(form, listed(rows, runs), func(w io.Writer) error { return baselinesText(w, rows, runs) }))
		},
	}
	addOutput(c, &form)
	return c
}

type baselineList struct {
	Baselines []report.BaselineRow  `json:"baselines"`
	Runs      []record.RunReference `json:"saved_runs"`
}

func listed(rows []report.BaselineRow, runs []record.RunReport) baselineList {
	list := baselineList{Baselines: rows, Runs: make([]record.RunReference, len(runs))}
	for i, r := range runs {
		list.Runs[i] = r.Reference()
	}
	return list
}

func baselinesText(w io.Writer, rows []report.BaselineRow, runs []record.RunReport) error {
	if len(rows) > 0 || len(runs) == 0 {
		if err := report.Baselines(w, rows); err != nil {
			return err
		}
	}
	return report.SavedRuns(w, runs)
}

func (a *app) baselineReset() *cobra.Command {
	var probe, suite string
	var gone bool
	c := &cobra.Command{
		Use:     "reset TARGET",
		Short:   "Forget the baselines of a target, so that they are learned again",
		Example: "  ssdprobe baseline reset nvme0n1\n  ssdprobe baseline reset nvme0n1 --probe read-4k\n  ssdprobe baseline reset /var/tmp --run quick",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if suite != "" && probe != "" {
				return usage(errors.New("--probe and --run: give one of them"))
			}
			if gone && (suite != "" || probe != "") {
				return usage(errors.New("--gone: is about all that was learned; leave out --probe and --run"))
			}
			if suite != "" {
				return a.resetRun(args[0], suite)
			}
			forgotten := "baselines of %s forgotten"
			if probe != "" {
				forgotten = "baseline of " + probe + " on %s forgotten"
			}
			err := a.change(c.Context(), args, state.Request{Probe: probe, Gone: gone}, forgotten)
			if errors.Is(err, errNothingKnown) {
				err = fmt.Errorf("%w; --run SUITE forgets a saved run", err)
			}
			return err
		},
	}
	c.Flags().StringVar(&probe, "probe", "", "only the baseline of the probe with this `NAME`")
	c.Flags().BoolVar(&gone, "gone", false, "the filesystem or directory of this probe file, or a file that ssdprobe did not make, is gone for good: make a probe file in its place")
	c.Flags().StringVar(&suite, "run", "", "forget the saved run of this `SUITE` (such as probe or quick) instead")
	return c
}

// resetRun removes a saved run.
func (a *app) resetRun(target, suite string) error {
	dir, err := a.openState()
	if err != nil {
		return err
	}
	runs, err := dir.RunBaselines()
	if err != nil {
		return err
	}
	runs = slices.DeleteFunc(runs, func(r record.RunReport) bool { return r.Suite != suite })
	names := func(r record.RunReport) (id, path, device string) { return r.TargetID, r.Target, r.Device.Name }
	saved, err := find(runs, target, names, fmt.Errorf("no run of %s is saved for %q", suite, target), "see ssdprobe baseline show")
	if err != nil {
		return err
	}
	if err := dir.RemoveRunBaseline(suite, saved.TargetID); err != nil {
		return err
	}
	return tell(a.stderr, "saved run of %s on %s forgotten\n", suite, saved.Target)
}

// exported is the format in which baselines are exported.
type exported struct {
	Format    string               `json:"format"`
	Version   int                  `json:"version"`
	Baselines []report.BaselineRow `json:"baselines"`
}

const (
	exportFormat  = "ssdprobe/baselines"
	exportVersion = 2 // version 1 had conditions as text, which record.Conditions still reads
)

func (a *app) baselineExport() *cobra.Command {
	return &cobra.Command{
		Use:     "export [TARGET]",
		Short:   "Write the baselines as JSON, to import them elsewhere",
		Example: "  ssdprobe baseline export > baselines.json\n  ssdprobe baseline export nvme0n1 > drive.json",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			_, targets, err := a.targets(args)
			if err != nil {
				return err
			}
			rows := slices.DeleteFunc(baselineRows(targets), func(r report.BaselineRow) bool { return r.Baseline.Learned.IsZero() })
			if len(rows) == 0 {
				return errors.New("nothing to export: no baseline has been learned yet")
			}
			return report.JSON(a.stdout, exported{exportFormat, exportVersion, rows})
		},
	}
}

func (a *app) baselineImport() *cobra.Command {
	var target string
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Import baselines that were exported on this node or another one",
		Long: `Reads the output of "baseline export"; - is standard input. A baseline is used when its
target has the same id and the same conditions. It replaces the baseline that this node
has for them. The command names the conditions that differ now: the baseline is kept, and
used once they are the same.`,
		Example: "  ssdprobe baseline import baselines.json\n  ssdprobe baseline import drive.json --target nvme1n1",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return a.importBaselines(c.Context(), c.InOrStdin(), args[0], target)
		},
	}
	c.Flags().StringVar(&target, "target", "", "import all of them for this `TARGET`, whatever target they are from")
	return c
}

func (a *app) importBaselines(ctx context.Context, stdin io.Reader, path, target string) error {
	file, err := readExport(stdin, path)
	if err != nil {
		return usage(err)
	}
	dir, err := a.openState()
	if err != nil {
		return err
	}
	if target != "" {
		_, targets, err := a.targets([]string{target})
		if err != nil {
			return err
		}
		target = targets[0].ID
	}
	var all []asked
	for _, row := range file.Baselines {
		if target != "" {
			row.TargetID = target
		}
		all = append(all, asked{
			Request: state.Request{Target: row.TargetID, Probe: row.Probe, Import: &row.Baseline},
			done:    fmt.Sprintf("baseline of %s for %s imported", row.Probe, row.TargetID),
		})
	}
	return a.submit(ctx, dir, all...)
}

// waits returns why an imported baseline is not used now: "; not used now, as the conditions differ: kernel 6.1 → 6.12". It
// is empty for one that is.
func waits(dir state.Dir, r state.Request) (string, error) {
	t, _, err := dir.Target(r.Target)
	if err != nil {
		return "", err
	}
	changes, seen := t.Unlike(r.Probe, r.Import.Conditions)
	if !seen {
		return "; it is used once a daemon finds this target under the same conditions", nil
	}
	if len(changes) == 0 {
		return "", nil
	}
	return "; not used now, as the conditions differ: " + strings.Join(record.ChangeTexts(changes), ", "), nil
}

func readExport(stdin io.Reader, path string) (exported, error) {
	var e exported
	in, err := openInput(stdin, path)
	if err != nil {
		return e, err
	}
	defer in.Close()
	if err := json.NewDecoder(in).Decode(&e); err != nil {
		return e, fmt.Errorf("read %s: not what baseline export writes: %w", path, err)
	}
	switch {
	case e.Format != exportFormat:
		return e, fmt.Errorf("read %s: its format is %q, not %q", path, e.Format, exportFormat)
	case e.Version < 1 || e.Version > exportVersion:
		return e, fmt.Errorf("read %s: its version is %d, and this ssdprobe knows 1 to %d", path, e.Version, exportVersion)
	}
	for i, row := range e.Baselines {
		if row.TargetID == "" || row.Probe == "" || row.Baseline.Learned.IsZero() {
			return e, fmt.Errorf("read %s: baseline %d lacks its target_id, its probe or when it was learned", path, i+1)
		}
	}
	return e, nil
}

// errNothingKnown says that nothing is stored about what the user named.
var errNothingKnown = errors.New("nothing is known")

// targets returns the stored targets, or only those that the argument names.
func (a *app) targets(args []string) (state.Dir, []state.Target, error) {
	dir, err := a.openState()
	if err != nil {
		return dir, nil, err
	}
	all, err := dir.Targets()
	if err != nil || len(args) == 0 {
		return dir, all, err
	}
	names := func(t state.Target) (id, path, device string) { return t.ID, t.Path, t.Device.Name }
	found, err := find(all, args[0], names, fmt.Errorf("%w about a target %q in %s", errNothingKnown, args[0], dir.Dir()), daemonOf{}.seeTargets())
	return dir, []state.Target{found}, err
}

// findWatched returns the one target that the user's input names. who begins the error when there is none ("the daemon
// watches"), and see is what lists all.
func findWatched(all []record.TargetStatus, typed, who, see string) (record.TargetStatus, error) {
	names := func(t record.TargetStatus) (id, path, device string) { return t.ID, t.Path, t.Device.Name }
	return find(all, typed, names, fmt.Errorf("%s no target %q", who, typed), see)
}

// fewTargets is how many targets the error about an unknown one names.
const fewTargets = 12

// find returns the one target that the user's input names. unknown is the error when there is none. It names all targets,
// or says with see what lists them if they are many.
func find[T any](targets []T, typed string, names func(T) (id, path, device string), unknown error, see string) (found T, err error) {
	var ids, paths []string
	for _, t := range targets {
		id, path, device := names(t)
		paths = append(paths, path)
		if named(typed, id, path, device) {
			found, ids = t, append(ids, id)
		}
	}
	switch len(ids) {
	case 0:
		if len(paths) > 0 && len(paths) <= fewTargets {
			see = "want one of " + strings.Join(paths, ", ")
		}
		return found, usage(fmt.Errorf("%w; %s", unknown, see))
	case 1:
		return found, nil
	default:
		return found, usage(fmt.Errorf("%q matches %d targets; name one by its id: %s", typed, len(ids), strings.Join(ids, ", ")))
	}
}

// named reports whether the user's input names the target.
func named(typed, id, path, device string) bool {
	if typed == id || typed == path || typed == device && device != "" {
		return true
	}
	abs, err := filepath.Abs(typed)
	return err == nil && (abs == path || "file:"+abs == id)
}

// warnOfSlow adds the warnings about a target's baselines to the first row of the target, such as that the
// target may have been slow from the first day.
func (a *app) warnOfSlow(rows []report.BaselineRow, dir state.Dir) error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	all, err := dir.Snapshot(c, time.Now())
	for _, t := range all.Targets {
		if i := slices.IndexFunc(rows, func(r report.BaselineRow) bool { return r.TargetID == t.ID }); i >= 0 {
			rows[i].Warnings = t.Warnings
		}
	}
	return err
}

// baselineRows lists the baselines of all epochs.
func baselineRows(targets []state.Target) []report.BaselineRow {
	rows := []report.BaselineRow{}
	for _, t := range targets {
		for _, name := range t.ProbeNames() {
			baselines := t.Probes[name].Baselines()
			for i, b := range baselines {
				rows = append(rows, report.BaselineRow{
					TargetID: t.ID, Target: t.Path, Probe: name, Epoch: i + 1, Current: i == len(baselines)-1, Baseline: b,
				})
			}
		}
	}
	return rows
}
