package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/run"
	"github.com/ssdprobe/ssdprobe/internal/runfolder"
)

// kept is what a run keeps in directories; the zero value keeps nothing.
type kept struct {
	folder  *runfolder.Folder
	outputs *runfolder.Outputs
	path    string   // of the folder
	left    []string // unfinished results of other runs into the same folder
}

// checkKept refuses directories that are already in use, before anything is measured.
func (o runOptions) checkKept() error {
	var problems []error
	for _, flag := range []struct {
		name, path string
		check      func(path string) error
	}{{"--folder", o.folder, runfolder.CheckFolder}, {"--keep-fio", o.keepFio, runfolder.Check}} {
		if flag.path == "" {
			continue
		}
		if err := flag.check(flag.path); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", flag.name, err))
		}
	}
	switch {
	case o.keepFio != "" && o.folder != "":
		problems = append(problems, errors.New("--keep-fio: --folder keeps fio's JSON already; leave one out"))
	case o.keepFio != "" && o.suite == run.ProbeSuite:
		problems = append(problems, fmt.Errorf("--keep-fio: is for suites of fio, not for %s", o.suite))
	}
	return errors.Join(problems...)
}

func (o runOptions) begin() (k kept, err error) {
	switch {
	case o.folder != "":
		k.path = o.folder
		if k.left, err = runfolder.Leftovers(o.folder); err != nil {
			return k, fmt.Errorf("--folder: %w", err)
		}
		if k.folder, err = runfolder.Begin(o.folder); err != nil {
			return k, fmt.Errorf("--folder: %w", err)
		}
	case o.keepFio != "":
		if k.outputs, err = runfolder.NewOutputs(o.keepFio); err != nil {
			return k, fmt.Errorf("--keep-fio: %w", err)
		}
	}
	return k, nil
}

// fio returns the function that keeps fio's own reports; nil when they are not kept.
func (k kept) fio() func(step, job string, output []byte) {
	switch {
	case k.folder != nil:
		return k.folder.Keep
	case k.outputs != nil:
		return k.outputs.Keep
	}
	return nil
}

// finish completes what is kept of a run that measured something.
func (k kept) finish(d report.Document, stderr io.Writer) error {
	switch {
	case k.outputs != nil:
		return k.outputs.Err()
	case k.folder == nil:
		return nil
	}
	if err := k.folder.Finish(d, commandLine(os.Args)); err != nil {
		return err
	}
	return tell(stderr, "kept in %s\n", k.path)
}

// discard removes what was created for a run that measured nothing.
func (k kept) discard() error { return errors.Join(k.folder.Discard(), k.outputs.Discard()) }

// commandLine returns the arguments quoted for a shell.
func commandLine(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = arg
		if arg == "" || strings.ContainsFunc(arg, func(r rune) bool { return !strings.ContainsRune(plainInShells, r) }) {
			quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// plainInShells are the characters that need no quotes in any shell.
const plainInShells = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:@%+"
