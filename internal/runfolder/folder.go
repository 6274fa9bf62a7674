package runfolder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// The names of the files in a folder.
const (
	RunFile       = "run.json"
	ChecksumsFile = "SHA256SUMS"

	readmeFile     = "README.md"
	pageFile       = "report.html"
	markdownFile   = "report.md"
	stepsFile      = "steps.csv"
	conditionsFile = "conditions.json"
	jobsDir        = "jobs"
	fioDir         = "fio"
)

// ErrInUse says that something is where a folder would be made.
var ErrInUse = errors.New("there is something already: name a folder that does not exist yet, or an empty one")

// Check tells whether files can be kept there: in a directory that does not exist yet, or
// an empty one. Errors: ErrInUse, and those of the filesystem.
func Check(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is a link to nothing: %w", path, ErrInUse)
		}
		parent, err := os.Stat(filepath.Dir(filepath.Clean(path)))
		if err == nil && !parent.IsDir() {
			err = fmt.Errorf("%s is not a directory", filepath.Dir(path))
		}
		return err
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s: %w", path, ErrInUse)
	}
	return nil
}

// CheckFolder is Check for a Folder, which takes the place of an empty directory when it is
// whole: the kernel does not replace a link, a mount point or the current directory.
func CheckFolder(path string) error {
	if err := Check(path); err != nil {
		return err
	}
	path = filepath.Clean(path)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	here, errHere := os.Stat(".")
	var own, above unix.Stat_t
	err = errors.Join(err, errHere, unix.Stat(path, &own), unix.Stat(path+"/..", &above))
	var is string
	switch {
	case err != nil:
		return fmt.Errorf("look at %s: %w", path, err)
	case info.Mode().Type() == fs.ModeSymlink:
		is = "a link"
	case os.SameFile(info, here):
		is = "the current directory"
	case own.Dev != above.Dev:
		is = "a mount point"
	default:
		return nil
	}
	return fmt.Errorf("%s is %s: name a new folder in it", path, is)
}

// Folder is one that is being filled.
type Folder struct {
	path, partial string
	steps         int
	problem       error // the first of Keep
	kept          bool  // what there is stays: Finish was called
}

// Begin makes the place that a folder is filled in. Errors: those of CheckFolder, and those
// of the filesystem.
func Begin(path string) (*Folder, error) {
	if err := CheckFolder(path); err != nil {
		return nil, err
	}
	path = filepath.Clean(path)
	mode := fs.FileMode(0o755) // it is for others to read, unless the user made it otherwise
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	partial, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+".*.partial")
	if err != nil {
		return nil, err
	}
	f := &Folder{path: path, partial: partial}
	return f, os.Chmod(partial, mode)
}

// Keep adds the job of a step as fio got it, and what fio reported. What goes wrong is
// told by Finish: a measurement does not end for it.
func (f *Folder) Keep(step, job string, output []byte) {
	f.steps++
	name := stepFile(f.steps, step)
	err := errors.Join(f.write(filepath.Join(jobsDir, name+".fio"), []byte(job)), f.write(filepath.Join(fioDir, name+".json"), output))
	if f.problem == nil {
		f.problem = err
	}
}

// stepFile is the name, without its ending, of a file of the step of that number, from 1.
func stepFile(number int, step string) string {
	return fmt.Sprintf("%03d-%.80s", number, regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(step, "-"))
}

// Finish writes the report and all else, and puts the folder in its place. command is
// how the run was begun. Whatever fails, what there is of the run stays: the error says where.
func (f *Folder) Finish(d report.Document, command string) error {
	f.kept = true
	fail := func(err error) error {
		return fmt.Errorf("keep the run in %s: %w; what there is of it is in %s", f.path, err, f.partial)
	}
	if f.problem != nil {
		return fail(f.problem)
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{RunFile, func(w io.Writer) error { return report.JSON(w, d) }},
		{pageFile, func(w io.Writer) error { return report.HTML(w, d) }},
		{markdownFile, func(w io.Writer) error { return report.Markdown(w, d) }},
		{stepsFile, func(w io.Writer) error { return report.CSV(w, d) }},
		{conditionsFile, func(w io.Writer) error { return report.JSON(w, conditionsOf(d.Report)) }},
		{readmeFile, func(w io.Writer) error { return writeReadme(w, d.Report, command, f.steps > 0) }},
	} {
		if err := f.writeBy(file.name, file.write); err != nil {
			return fail(err)
		}
	}
	sums, err := checksums(f.partial)
	if err != nil {
		return fail(err)
	}
	if err := f.write(ChecksumsFile, sums); err != nil {
		return fail(err)
	}
	// Onto an empty directory, too, which os.Rename refuses; a full one is refused by the kernel.
	if err := unix.Rename(f.partial, f.path); err != nil {
		return fail(err)
	}
	return syncDir(filepath.Dir(f.path))
}

// Discard removes what was begun, when Finish was never called: nothing was measured.
func (f *Folder) Discard() error {
	if f == nil || f.kept {
		return nil
	}
	return os.RemoveAll(f.partial)
}

func (f *Folder) write(name string, data []byte) error {
	return f.writeBy(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func (f *Folder) writeBy(name string, write func(io.Writer) error) error {
	return writeNew(filepath.Join(f.partial, name), write)
}

// writeNew writes a file that is not there yet.
func writeNew(path string, write func(io.Writer) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := write(file); err != nil {
		return err
	}
	return file.Sync()
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// conditions are what was measured and how things stood, without the figures.
type conditions struct {
	Target     string             `json:"target"`
	TargetID   string             `json:"target_id"`
	Node       string             `json:"node"`
	Started    string             `json:"started"`
	Finished   string             `json:"finished"`
	Device     record.Device      `json:"device"`
	Conditions record.Conditions  `json:"conditions"`
	Targets    []record.RunTarget `json:"targets,omitempty"`
	Settings   map[string]string  `json:"settings,omitempty"`
	Warnings   []record.Warning   `json:"warnings,omitempty"`
	// Steps are those with something against their figures.
	Steps []stepConditions `json:"steps,omitempty"`
}

type stepConditions struct {
	Step     string           `json:"step"`
	Warnings []record.Warning `json:"warnings"`
}

func conditionsOf(r record.RunReport) conditions {
	const form = "2006-01-02T15:04:05Z07:00"
	c := conditions{
		Target: r.Target, TargetID: r.TargetID, Node: r.Node, Started: r.Started.Format(form), Finished: r.Finished.Format(form),
		Device: r.Device, Conditions: r.Conditions, Targets: r.Targets, Settings: r.Settings, Warnings: r.Warnings,
	}
	for _, s := range r.Steps {
		if len(s.Warnings) > 0 {
			c.Steps = append(c.Steps, stepConditions{s.Name, s.Warnings})
		}
	}
	return c
}

// Leftovers are what other runs into a folder have not finished: they were killed, or are
// going on.
func Leftovers(path string) ([]string, error) {
	path = filepath.Clean(path)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var left []string
	for _, e := range entries {
		random, mine := strings.CutPrefix(e.Name(), filepath.Base(path)+".")
		random, partial := strings.CutSuffix(random, ".partial")
		if mine && partial && random != "" && strings.Trim(random, "0123456789") == "" { // run.2 is another folder than run
			left = append(left, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return left, nil
}
