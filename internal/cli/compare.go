package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// compareOptions are the flags of compare.
type compareOptions struct {
	threshold string
	form      output
}

func (a *app) compareCommand() *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:   "compare FILE FILE…",
		Short: "Compare stored runs: the verdict, the conditions that differ, and every figure",
		Long: `Compares each further run with the first one. Shows the verdict, the conditions that
differ (firmware, link, governor, version of fio, …), and every figure. The files are
those that "ssdprobe report" reads, the JSON of fio among them; "-" is standard input.
Loads of fio's JSON are matched by name, or else by what they did.

The verdict is slower, faster, same or inconclusive. With repeats on both sides
(run --repeats) it comes from a significance test. Without repeats, it finds only large
changes that all loads agree on. Otherwise it is inconclusive and says how many repeats
are needed. Disturbed steps never decide.

--output html makes one page with the runs drawn over each other: IOPS and latency over
depth, speed over the device, and latency by percentile, each with intervals. --output
markdown is for a ticket; --output csv has a row for each figure.

Exit codes: 0 none is slower, 2 wrong usage or a file without a run, 3 one is slower than
the first.`,
		Example: "  ssdprobe compare before.json after.json\n  ssdprobe compare mon.json tue.json wed.json --output csv > week.csv\n  ssdprobe compare drive-a drive-b --output html > drives.html",
		Args:    arguments(cobra.MinimumNArgs(1)),
		RunE:    func(c *cobra.Command, args []string) error { return a.compare(c.InOrStdin(), args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.threshold, "threshold", "20%", "smallest change of a load that counts (`PERCENT`)")
	addOutput(c, &o.form, outputHTML, outputCSV, outputMarkdown)
	return c
}

func (a *app) compare(stdin io.Reader, files []string, o compareOptions) error {
	threshold, err := parseThreshold(o.threshold)
	if err != nil {
		return usage(fmt.Errorf("--threshold: %w", err))
	}
	stored, err := readRuns(stdin, files)
	if err != nil {
		return err
	}
	if len(stored) < 2 {
		return usage(errors.New("there is only one run; name another file to compare it with"))
	}
	c := report.Comparisons{Names: []string{stored[0].file}}
	runs := []record.RunReport{stored[0].Report}
	slower := false
	for i, s := range stored[1:] {
		runs = append(runs, s.Report)
		one := compare.Names{Before: report.Letter(0), After: report.Letter(i + 1)}.Pair(stored[0].Report, s.Report, threshold)
		slower = slower || one.Verdict == record.Slower
		c.Names, c.Comparisons = append(c.Names, s.file), append(c.Comparisons, one)
	}
	text := c.Text
	switch o.form {
	case outputHTML:
		text = func(w io.Writer) error { return c.HTML(w, runs) }
	case outputMarkdown:
		text = func(w io.Writer) error { return c.Markdown(w, runs) }
	case outputCSV:
		text = c.CSV
	case outputText, outputJSON, outputJSONL:
	}
	if err := a.show(o.form, c, text); err != nil {
		return err
	}
	if slower {
		return &exitError{code: exitSlower}
	}
	return nil
}

// parseThreshold parses the smallest change of a load that counts. A number above 1 needs its %: 20 is hardly meant to be
// 2000 %, for which nothing is slower.
func parseThreshold(text string) (float64, error) {
	share, err := config.ParseRatio(text)
	switch {
	case err != nil:
		return 0, err
	case share <= 0:
		return 0, fmt.Errorf("%q is too small; want more than 0, e.g. 20%%", text)
	case share > 1 && !strings.HasSuffix(text, "%"):
		return 0, fmt.Errorf("%q is more than 1 and has no %%; want a percentage, e.g. 20%%, or a share, e.g. 0.2", text)
	}
	return share, nil
}
