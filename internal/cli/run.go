package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/run"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// runOptions are the flags of run.
type runOptions struct {
	suite        string
	targets      []string
	job          string
	spec         string
	destroy      []string
	destroyData  bool
	format       bool
	dryRun       bool
	stop         bool
	size         string
	keepFile     bool
	folder       string
	keepFio      string
	probes       []string
	rounds       int
	roundsGiven  bool
	sizeGiven    bool
	repeats      int
	repeatsGiven bool
	set          []string
	evenIfBusy   bool
	saveBaseline bool
	threshold    string
	form         output
	verbose      bool
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [SUITE] --target PATH",
		Short: "Measure a device or a filesystem now",
		Long: `Measures now and prints the figures. "probe" (the default) runs the configured probes back
to back, which takes a few seconds. The other suites run fio: "quick" takes half a minute.
"ssdprobe suites" lists them. --job FILE runs a fio job file of your own on the target and
reports it in the same way. --dry-run shows the fio jobs, and what would refuse the run now;
it ends with the exit code of such a run.

The target is a block device, a directory or a file:

- A directory gets a file that is filled, measured and removed.
- A file is only read, unless ssdprobe made it.
- A block device is only read, unless a suite writes and --destroy names the serial number
  of the device. Then everything on it is lost.

Some suites take several targets ("ssdprobe suites" says which): repeat --target. linear-read
then draws a line for each, and with --set beside=N another one while N of them are read too.

The daemon leaves the device alone during the run. A run that overwrites a device is
refused in these cases:

- The device is mounted, in use, or has partitions.
- It has the mark of a filesystem, a volume or a partition table.
- It has other data, unless --destroy-unknown-data is given.

An encrypted volume without a header looks like random data and is not recognised. Some
uses cannot be seen: docs/security.md lists them.

--format has an NVMe drive format itself before steady-state begins. It is refused where
that would reach another namespace or controller. Nothing stops a drive that formats.

Ctrl-C stops a run. It also stops when nobody reads its output any more. fio then ends,
what was measured is printed, and the file is removed. --stop does the same from elsewhere
and waits until the runs have ended. With a block device as --target, it stops runs on files
on that device, too. It does not stop scheduled runs, and fails if there is no run.

--folder keeps all of the run in a directory that another engineer can check: the report as
page, Markdown, CSV and JSON, the fio jobs, what fio itself reported, the conditions, and
SHA256SUMS. It appears when the run is over. "ssdprobe report DIRECTORY" shows it.

With --save-baseline, later runs of the same suite on the same target are compared with
this one. The verdict is slower, faster, same or inconclusive. One run against one shows
only large changes; --repeats on both shows small ones too. Disturbed steps are marked and
never decide.

Exit codes: 0 fine, 1 could not measure, 2 wrong usage, 3 slower than the baseline,
4 refused because it is not safe or the device is busy, 130 after Ctrl-C, 143 after --stop.`,
		Example: `  ssdprobe run --target /var/tmp
  ssdprobe run probe --target /dev/nvme0n1 --save-baseline
  ssdprobe run quick --target /dev/nvme0n1 --output html > quick.html
  ssdprobe run depth-sweep --target /dev/nvme0n1 --set time=5s --dry-run
  ssdprobe run depth-sweep --target /dev/nvme0n1 --folder depth-nvme0n1
  ssdprobe run scale --target /dev/nvme0n1 --target /dev/nvme1n1
  ssdprobe run linear-read --target /dev/nvme0n1 --target /dev/nvme1n1 \
    --set beside=1
  ssdprobe run --stop --target /dev/nvme0n1
  ssdprobe run steady-state --target /dev/nvme0n1 --destroy S6XYNG0T123456 \
    --format
  ssdprobe run saturate --target /dev/nvme0n1 --destroy S6XYNG0T123456 \
    --spec pm1743.yaml`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if o.stop {
				if err := checkStop(c, args); err != nil {
					return err
				}
				return a.stopRuns(c.Context(), o.targets)
			}
			o.suite = run.ProbeSuite
			switch {
			case len(args) > 0:
				o.suite = args[0]
			case o.job != "":
				o.suite = ownJob
			}
			o.roundsGiven, o.repeatsGiven, o.sizeGiven = c.Flags().Changed("rounds"), c.Flags().Changed("repeats"), c.Flags().Changed("size")
			return endable(c.Context(), a.stdout, o.targets, func(ctx context.Context) error { return a.run(ctx, o) })
		},
		ValidArgsFunction: once(describedSuites(run.ProbeSuite)),
	}
	f := c.Flags()
	f.StringArrayVarP(&o.targets, "target", "t", nil, "block device, directory or file (`PATH`); required; may be repeated for suites that take several")
	f.StringVar(&o.job, "job", "", "run this fio job `FILE` instead of a suite")
	f.StringVar(&o.spec, "spec", "", "compare with the data sheet in `FILE`: lines such as random-read: 2000k IOPS, random-write: 40k IOPS at 16KiB, sequential-read: 14000 MB/s")
	f.StringArrayVar(&o.destroy, "destroy", nil, "overwrite the block device with this `SERIAL` number; everything on it is lost")
	f.BoolVar(&o.destroyData, "destroy-unknown-data", false, "with --destroy: also overwrite data of no known format; never what is mounted, in use or of a known format")
	f.BoolVar(&o.format, "format", false, "steady-state, with --destroy: format the NVMe drive first, which erases it; refused where that would reach another namespace or controller")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the fio jobs, how long they take, and what would refuse the run; change nothing")
	f.BoolVar(&o.stop, "stop", false, "stop all runs on this machine (or in this container), or those on --target, and wait until they have ended")
	f.StringVar(&o.size, "size", "1GiB", "`SIZE` of the file that a directory gets; less if space is short")
	f.StringVar(&o.folder, "folder", "", "keep the run in this new `DIRECTORY`: report, fio jobs, fio's own JSON, conditions and checksums")
	f.StringVar(&o.keepFio, "keep-fio", "", "fio suites: keep fio's own JSON of each step in this new `DIRECTORY`; --folder has it already")
	f.BoolVar(&o.keepFile, "keep-file", false, "keep the file for the next run")
	f.StringSliceVar(&o.probes, "probe", nil, "suite probe: run only the probe with this `NAME`; may be repeated")
	f.IntVar(&o.rounds, "rounds", 10, "suite probe: measure `N` good rounds of each probe")
	f.IntVar(&o.repeats, "repeats", 0, "measure everything `N` times, so that comparisons show small changes; 5 suffice for most suites; not for steady-state")
	f.StringArrayVar(&o.set, "set", nil, "fio suites: set a parameter (`NAME=VALUE`), such as time=5s; may be repeated")
	f.BoolVar(&o.evenIfBusy, "even-if-busy", false, "measure even if others use the device")
	f.BoolVar(&o.saveBaseline, "save-baseline", false, "compare later runs with this one")
	f.StringVar(&o.threshold, "threshold", "20%", "smallest slowdown of a load that counts (`PERCENT`)")
	addOutput(c, &o.form, outputHTML, outputCSV, outputMarkdown)
	addVerbose(c, &o.verbose)
	return c
}

// checked holds the validated flags of run.
type checked struct {
	runOptions
	sizeBytes int64
	threshold float64
	probes    []record.Probe
	plan      suite.Suite // of fio jobs; zero for the suite probe
	values    suite.Values
	sheet     *record.DataSheet
}

// suiteNames returns the names of the suites that run accepts.
func suiteNames() []string {
	names := []string{run.ProbeSuite}
	for _, s := range suite.All() {
		names = append(names, s.Name)
	}
	return names
}

func (o runOptions) check(c config.Config) (checked, error) {
	k := checked{runOptions: o}
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	switch {
	case slices.Contains(suiteNames(), o.suite) || o.suite == ownJob:
	case looksLikePath(o.suite):
		return k, usage(fmt.Errorf("suite: %q is not a suite; did you mean --target %s?", o.suite, o.suite))
	default:
		problems = append(problems, unknownWord("suite", o.suite, suiteNames()))
	}
	problems = append(problems, k.checkSuite(), o.checkKept())
	if o.suite == run.ProbeSuite && len(o.set) > 0 {
		bad("--set: is for suites of fio, not for %s", o.suite)
	}
	if len(o.targets) == 0 {
		bad("--target: is missing; want a block device, a directory or a file, e.g. --target /var/tmp")
	}
	var err error
	if k.sizeBytes, err = config.ParseSize(o.size); err != nil {
		bad("--size: %w", err)
	} else if k.sizeBytes < 16<<20 {
		bad("--size: %q is too small; want 16MiB or more", o.size)
	}
	if k.threshold, err = parseThreshold(o.threshold); err != nil {
		bad("--threshold: %w", err)
	}
	if o.dryRun && o.form != outputText && o.form != outputJSON {
		bad("--output: --dry-run prints text or json, not %s", o.form)
	}
	if o.roundsGiven && o.suite != run.ProbeSuite {
		bad("--rounds: is for the probes, not for %s", o.suite)
	}
	if o.repeatsGiven && (o.repeats < 1 || o.repeats > suite.MostRepeats) {
		bad("--repeats: %d is out of range; want 1 to %d", o.repeats, suite.MostRepeats)
	}
	if o.rounds < 1 || o.rounds > 10_000 {
		bad("--rounds: %d is out of range; want 1 to 10000", o.rounds)
	}
	if o.suite != run.ProbeSuite && len(o.probes) > 0 {
		bad("--probe: is for the suite probe, not %s", o.suite)
	}
	names := make([]string, len(c.Probes))
	for i, p := range c.Probes {
		names[i] = p.Name
		if len(o.probes) == 0 || slices.Contains(o.probes, p.Name) {
			k.probes = append(k.probes, p)
		}
	}
	for _, name := range o.probes {
		if !slices.Contains(names, name) {
			problems = append(problems, unknownWord("--probe", name, names))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return k, usage(err)
	}
	return k, nil
}

func (a *app) run(ctx context.Context, options runOptions) (err error) {
	c, err := a.settings()
	if err != nil {
		return err
	}
	o, err := options.check(c)
	if err != nil {
		return err
	}
	host := sysfs.New(c.HostRoot)
	subjects, err := o.subjects(ctx, host)
	if err != nil {
		return err
	}
	if o.dryRun {
		return a.dryRun(ctx, host, o, subjects, c.Admission.Limits)
	}
	meter, warnings, err := counters.NewMeter()
	if err != nil {
		return err
	}
	for i := range subjects { // these warnings are about the machine, so they apply to each subject
		subjects[i].Warnings = append(subjects[i].Warnings, warnings...)
	}
	dir, err := state.Open(c.StateDir)
	if err != nil {
		return fmt.Errorf("%w; it is set by state_dir or --state-dir", err)
	}
	if err := mayRead(c.StateDir); err != nil {
		return fmt.Errorf("%w, or name another directory with --state-dir", err)
	}
	suite := cmp.Or(o.plan.Name, run.ProbeSuite)
	if o.saveBaseline {
		if err := dir.CanSaveRunBaseline(suite, subjects[0].ID); err != nil {
			return fmt.Errorf("--save-baseline: %w", err)
		}
	} else if _, _, err := dir.RunBaseline(suite, subjects[0].ID); err != nil { // the run is compared with it in the end
		return fmt.Errorf("read the saved run of %s on %s: %w; nothing was measured", suite, subjects[0].Path, err)
	}
	var binary fiorun.Binary
	if o.suite != run.ProbeSuite {
		if binary, err = fiorun.Find(ctx); err != nil {
			return err
		}
	}
	kept, err := o.begin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.discard()) }()
	progress := newProgress(a.stderr)
	for _, left := range kept.left {
		progress.note(left + " was left by a run that was killed, or belongs to one that is still going on; remove it when you do not need it")
	}
	if err := restorePending(ctx, host, dir.Store, subjects, progress.note); err != nil {
		return err
	}
	sessions, err := run.BeginAll(ctx, subjects, func(subject measure.Subject) run.Options {
		return run.Options{
			Options: measure.Options{FS: host, Engine: probe.NewEngine(meter, c.Admission.MaxCPUWait), Meter: meter, Pool: storedPool(dir, subject)},
			Limits:  c.Admission.Limits, EvenIfBusy: o.evenIfBusy, LockDir: c.LockDir, Store: dir.Store, Restorer: settings.Self(),
			Node: c.Node, Generator: generator(), KeepFile: o.keepFile, Stoppable: true, Progress: progress.show, Note: progress.note,
		}
	})
	switch {
	case err != nil && ctx.Err() != nil: // stopped, as while a file is filled
		return o.unsaved(err)
	case err != nil:
		return refusal(err)
	}
	var r record.RunReport
	if o.suite == run.ProbeSuite {
		r, err = sessions[0].Probes(ctx, onTarget(o.probes, subjects[0]), o.rounds, max(1, o.repeats))
	} else {
		r, err = run.RunSuite(ctx, sessions, run.Suite{Suite: o.plan, Values: o.values, Fio: binary, Destroy: o.destroy, DestroyUnknownData: o.destroyData, Format: o.format, DataSheet: o.sheet, KeepFio: kept.fio()})
	}
	progress.end()
	removed, endErr := run.EndAll(sessions)
	err = errors.Join(err, endErr)
	for _, name := range removed {
		progress.note("removed " + name)
	}
	if len(r.Steps) == 0 {
		return o.unsaved(refusal(err))
	}
	if r.Analysis != nil && r.Analysis.CostModel != nil {
		r.Analysis.CostModel.Learned = learnedCosts(dir, c, r.Device)
	}
	return a.conclude(dir, r, o, kept, refusal(err))
}

// onTarget returns the probes that run on this kind of target.
func onTarget(probes []record.Probe, s measure.Subject) []record.Probe {
	return slices.DeleteFunc(slices.Clone(probes), func(p record.Probe) bool { return !p.RunsOn(s.File) })
}

// storedPool returns what the daemon has learned about the written blocks of a raw device; nil when that is
// nothing useful.
func storedPool(dir state.Dir, subject measure.Subject) *probe.Pool {
	t, found, err := dir.Target(subject.ID)
	if err != nil || !found || t.Pool == nil || subject.File { // the daemon reports a damaged state; the run then searches by itself
		return nil
	}
	pool, err := probe.NewPool(subject.SizeBytes, rand.Uint64())
	if err != nil || pool.Restore(*t.Pool) != nil {
		return nil
	}
	return pool
}

// conclude prints the report, compares it with the saved run and saves it if requested. failed is what went
// wrong while measuring.
func (a *app) conclude(dir state.Dir, r record.RunReport, o checked, kept kept, failed error) error {
	var comparison *record.Comparison
	before, found, err := dir.RunBaseline(r.Suite, r.TargetID)
	if err != nil {
		failed = errors.Join(failed, err)
	}
	if found && failed == nil {
		comparison = new(compare.Pair(before, r, o.threshold))
	}
	d := report.NewDocument(r, comparison)
	err = errors.Join(a.printRuns(o.form, o.verbose, d), kept.finish(d, a.stderr))
	if err != nil || failed != nil {
		return o.unsaved(errors.Join(failed, err))
	}
	slower := comparison != nil && comparison.Verdict == record.Slower
	if o.saveBaseline && slower {
		return &exitError{exitSlower, fmt.Errorf("not saved: the run is slower than the saved one; to save it anyway, first run ssdprobe baseline reset %s --run %s", r.Target, r.Suite)}
	}
	if o.saveBaseline {
		if err := dir.SaveRunBaseline(r); err != nil {
			return fmt.Errorf("save the baseline: %w", err)
		}
		if err := tell(a.stderr, "saved as the baseline of %s on %s, in %s\n%s", r.Suite, r.Target, dir.Dir(), undecided(r)); err != nil {
			return err
		}
	}
	if slower {
		return &exitError{code: exitSlower}
	}
	return nil
}

// unsaved adds to the error of a run that there is no baseline of it, if one was asked for.
func (o runOptions) unsaved(err error) error {
	if err == nil || !o.saveBaseline {
		return err
	}
	return fmt.Errorf("%w; no baseline was saved", err)
}

// undecided warns about the steps of a baseline that will not decide later comparisons; empty when all will.
func undecided(r record.RunReport) string {
	n, codes := compare.Disregarded(r)
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("warning: %d of %s of this baseline will not decide later comparisons (%s); repeat the run once the cause is gone",
		n, units.Plural(len(r.Steps), "step"), strings.Join(codes, ", "))
	if repeats := compare.MoreRepeats(r); repeats > 0 {
		text += fmt.Sprintf(", with --repeats %d", repeats)
	}
	return text + "\n"
}
