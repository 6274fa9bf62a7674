package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// compareOptions are the flags of compare.
type compareOptions struct {
	threshold string
	csv       bool
	form      output
}

func (a *app) compareCommand() *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:   "compare FILE FILE…",
		Short: "Compare stored runs: what differs in the conditions, and what changed",
		Long: `Compares each further run with the first one: first what differs in the conditions
(firmware, link, governor, version of fio, …), which is usually the answer, then
the change of every figure with its 95 % interval. "~" is a change within the spread
of the repeats. The files are those that "ssdprobe report" reads; "-" is standard
input.

Exit codes: 0 none is slower, 1 could not compare, 2 wrong usage, 3 one is slower
than the first by a figure that counts.`,
		Example: "  ssdprobe compare before.json after.json\n  ssdprobe compare --csv monday.json tuesday.json wednesday.json > week.csv",
		Args:    arguments(cobra.MinimumNArgs(1)),
		RunE:    func(c *cobra.Command, args []string) error { return a.compare(c.InOrStdin(), args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.threshold, "threshold", "20%", "share by which a figure must change to count, however certain the change is")
	f.BoolVar(&o.csv, "csv", false, "print a row per figure for spreadsheets")
	addOutput(c, &o.form)
	return c
}

func (a *app) compare(stdin io.Reader, files []string, o compareOptions) error {
	threshold, err := config.ParseRatio(o.threshold)
	if err != nil {
		return usage(fmt.Errorf("--threshold: %w", err))
	}
	if o.csv && o.form != outputText {
		return usage(fmt.Errorf("--csv: is a form of its own; leave out --output %s", o.form))
	}
	stored, err := readRuns(stdin, files)
	if err != nil {
		return err
	}
	if len(stored) < 2 {
		return usage(errors.New("there is one run alone, and nothing to compare it with; name another file"))
	}
	names, runs := make([]string, len(stored)), make([]record.RunReport, len(stored))
	for i, s := range stored {
		names[i], runs[i] = s.file, s.Report
	}
	c := report.Contrast(names, runs, threshold)
	switch {
	case o.csv:
		err = c.CSV(a.stdout)
	case o.form == outputJSON:
		err = report.JSON(a.stdout, c)
	default:
		err = c.Text(a.stdout)
	}
	if err != nil {
		return err
	}
	if c.Slower() {
		return &exitError{code: exitSlower}
	}
	return nil
}
