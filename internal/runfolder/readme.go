package runfolder

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// whatBecameOf says how to get the file that the jobs name, if the run made it: it is removed when the run ends.
func whatBecameOf(r record.RunReport) string {
	switch {
	case r.File == nil || r.File.Reused:
		return ""
	case slices.ContainsFunc(r.Steps, func(s record.Step) bool { return s.Write != nil }):
		return fmt.Sprintf(" The file was removed when the run ended, also with --keep-file, because the run wrote to it: put %s of random data there first.", units.BlockSize(r.File.Bytes))
	}
	return " The file was removed when the run ended, unless it had --keep-file. To have it again, repeat the run with --keep-file and another --folder."
}

// writeReadme describes the files, how the run was made, and how to check it.
func writeReadme(w io.Writer, r record.RunReport, command string, fio bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# A run of ssdprobe\n\n%s on %s, begun %s", r.Suite, printable.Text(r.Target), r.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	if r.Node != "" {
		fmt.Fprintf(&b, ", on %s", printable.Text(r.Node))
	}
	fmt.Fprintf(&b, ", by %s. It was begun with:\n\n    %s\n\n", printable.Text(r.Generator), printable.Text(command))
	if !r.Complete() {
		b.WriteString("The run was stopped before its end: it has only what was measured until then.\n\n")
	}
	b.WriteString("| file | what it is |\n| --- | --- |\n")
	file := func(name, what string) { fmt.Fprintf(&b, "| %s | %s |\n", name, what) }
	file(RunFile, "all of the run, for programs: every latency histogram, job file and warning")
	file(pageFile, "the report with plots; it needs no network")
	file(markdownFile, "the report as tables, for a ticket or a mail")
	file(stepsFile, "a row for each step and direction; the units are in the names of the columns")
	file(conditionsFile, "the drive, its settings and those of the host, and what speaks against the figures")
	if fio {
		file(jobsDir+"/", "the fio job of each step, as fio got it")
		file(fioDir+"/", "what fio reported of each step (json+), as fio wrote it")
	}
	file(ChecksumsFile, "the checksums of all files")
	fmt.Fprintf(&b, `
- Is it complete and unchanged? `+"`sha256sum -c %s`"+` in this folder.
- Show it: `+"`ssdprobe report .`"+`, or open %s.
- Compare it with another run: `+"`ssdprobe compare . OTHER`"+`, where OTHER is a folder, a report or the JSON of fio.
`, ChecksumsFile, pageFile)
	if fio {
		fmt.Fprintf(&b, "- Do a step again without ssdprobe: `fio %s/001-….fio`, after a look at the file name and at what the job writes.%s\n", jobsDir, whatBecameOf(r))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
