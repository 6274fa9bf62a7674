package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/ssdprobe/ssdprobe/internal/fioimport"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/runfolder"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// maxReportBytes bounds how much of a file is read. A step with its histograms takes 15 KiB, and runs with many repeats or offsets
// have ten thousand steps.
const maxReportBytes = 256 << 20

func (a *app) reportCommand() *cobra.Command {
	var form output
	var verbose bool
	c := &cobra.Command{
		Use:   "report FILE|FOLDER…",
		Short: "Show stored runs as tables, or as an HTML page with plots",
		Long: `Shows the output of "ssdprobe run --output json", and the reports that the daemon keeps in
the directory runs of its state directory, and folders of "ssdprobe run --folder". "-" is
standard input.

The JSON of fio itself is read too (fio 3.0 or later, --output-format=json or json+). With
json, only the percentiles that fio printed are known. The conditions are unknown; each view of
the figures says so.

--output html makes one page with tables and plots. It needs no network and no scripts,
and can be printed. --output markdown has the tables, the conditions and the warnings for a
ticket or a mail. --output csv has a row for each step and direction, with the units in the
names of the columns.`,
		Example: "  ssdprobe report run.json\n  ssdprobe report fio.json\n  ssdprobe report /var/lib/ssdprobe/runs/*.json --output html > report.html\n  ssdprobe report run.json --output markdown",
		Args:    arguments(cobra.MinimumNArgs(1)),
		RunE:    func(c *cobra.Command, args []string) error { return a.report(c.InOrStdin(), args, form, verbose) },
	}
	addOutput(c, &form, outputHTML, outputCSV, outputMarkdown)
	addVerbose(c, &verbose)
	return c
}

func (a *app) report(stdin io.Reader, files []string, form output, verbose bool) error {
	stored, err := readRuns(stdin, files)
	if err != nil {
		return err
	}
	documents := make([]report.Document, len(stored))
	for i, s := range stored {
		documents[i] = s.Document
	}
	return a.printRuns(form, verbose, documents...)
}

// addVerbose adds the flag that shows everything about a run as text.
func addVerbose(c *cobra.Command, verbose *bool) {
	c.Flags().BoolVarP(verbose, "verbose", "v", false, "as text, also show the conditions, all percentiles, the warnings of each step and plots")
}

// printRuns prints runs, each with its comparison if it has one.
func (a *app) printRuns(form output, verbose bool, all ...report.Document) error {
	switch {
	case form == outputHTML:
		return report.HTML(a.stdout, all...)
	case form == outputCSV:
		if err := report.CSV(a.stdout, all...); err != nil {
			return err
		}
		for _, d := range all { // a table of figures has no place for what they were compared with
			if d.Comparison == nil {
				continue
			}
			if err := report.Comparison(a.stderr, d); err != nil {
				return err
			}
		}
		return nil
	case form == outputMarkdown:
		return report.Markdown(a.stdout, all...)
	case form == outputJSON && len(all) == 1:
		return report.JSON(a.stdout, all[0])
	case form == outputJSON:
		return report.JSON(a.stdout, all)
	}
	write := report.Brief
	if verbose {
		write = report.Run
	}
	for i, d := range all {
		if i > 0 {
			if _, err := fmt.Fprintf(a.stdout, "\n\n"); err != nil {
				return err
			}
		}
		if err := write(a.stdout, d.Report); err != nil {
			return err
		}
		if d.Comparison == nil {
			continue
		}
		if _, err := fmt.Fprintln(a.stdout); err != nil {
			return err
		}
		if err := report.Comparison(a.stdout, d); err != nil {
			return err
		}
	}
	return nil
}

// storedRun is a run and the file that it was read from.
type storedRun struct {
	report.Document
	file string
}

// readRuns reads the runs in files. The error joins the problems of all files, and is a mistake of the caller.
func readRuns(stdin io.Reader, files []string) ([]storedRun, error) {
	var all []storedRun
	var problems []error
	for _, file := range files {
		documents, err := readFile(stdin, file)
		if err != nil {
			problems = append(problems, fmt.Errorf("read %s: %w", file, err))
			continue
		}
		for i, d := range documents {
			s := storedRun{d, file}
			if len(documents) > 1 {
				s.file = fmt.Sprintf("%s, %d", file, i+1)
			}
			all = append(all, s)
		}
	}
	if len(problems) > 0 {
		return nil, usage(errors.Join(problems...))
	}
	return all, nil
}

// readText reads a file, or the report in a folder.
func readText(stdin io.Reader, file string) ([]byte, error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return runfolder.Read(file, maxReportBytes)
	}
	from, err := openInput(stdin, file)
	if err != nil {
		return nil, errors.Unwrap(err) // the caller names the file
	}
	defer from.Close()
	text, err := io.ReadAll(io.LimitReader(from, maxReportBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxReportBytes:
		return nil, fmt.Errorf("more than %s: not a report", units.BlockSize(maxReportBytes))
	}
	// PowerShell saves the output of a program as UTF-16, and editors of Windows put a byte order mark before UTF-8.
	text, _, err = transform.Bytes(unicode.BOMOverride(transform.Nop), text)
	return text, err
}

func readFile(stdin io.Reader, file string) ([]report.Document, error) {
	text, err := readText(stdin, file)
	if err != nil {
		return nil, err
	}
	if fioimport.Is(text) {
		r, err := fioimport.Parse(text)
		if err != nil {
			return nil, err
		}
		return []report.Document{report.NewDocument(r, nil)}, nil
	}
	data, wrapped, err := state.Unwrap(text)
	if err != nil {
		return nil, err
	}
	if wrapped {
		text = data
	}
	documents, err := report.Parse(text)
	switch {
	case err == nil || errors.Is(err, report.ErrNewer):
		return documents, err
	case fioimport.IsForPeople(text):
		return nil, errors.New("this is fio's output for people, and only its JSON is read: run fio with --output-format=json+")
	}
	return nil, fmt.Errorf("%w; it can be the output of ssdprobe run --output json, a folder of run --folder, or the output of fio --output-format=json+", err)
}
