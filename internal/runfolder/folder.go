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

// ErrInUse says that something already exists where a folder would be made.
var ErrInUse = errors.New("there is something already: name a folder that does not exist yet, or an empty one")

// Check checks that files can be stored at path: in a directory that does not exist yet, or in an
// empty one. Errors: ErrInUse, and those of the filesystem.
func Check(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is a link to nothing: %w", path, ErrInUse)
		}
		return mayMake(filepath.Dir(filepath.Clean(path)))
	case err != nil:
		return advised(path, err)
	case len(entries) > 0:
		return fmt.Errorf("%s: %w", path, ErrInUse)
	}
	return mayMake(path)
}

// mayMake checks that the user may make files in a directory, as far as can be told without making one.
func mayMake(dir string) error {
	return advised(dir, unix.Faccessat(unix.AT_FDCWD, dir+"/", unix.W_OK|unix.X_OK, unix.AT_EACCESS))
}

// advised says what to do about an error of making something in a directory.
func advised(dir string, err error) error {
	for cause, advice := range map[unix.Errno]string{
		unix.EACCES:  "run as a user who may write there, or name another folder",
		unix.EPERM:   "run as a user who may write there, or name another folder",
		unix.EROFS:   "name a folder on another filesystem",
		unix.ENOENT:  "make it, or name another folder",
		unix.ENOTDIR: "name another folder",
	} {
		if errors.Is(err, cause) {
			if whole, err := filepath.Abs(dir); err == nil { // "." says little
				dir = whole
			}
			return fmt.Errorf("%s: %w: %s", dir, cause, advice)
		}
	}
	return err
}

// CheckFolder is Check for a Folder, which replaces an empty directory when it is complete: the
// kernel does not replace a link, a mount point or the current directory.
func CheckFolder(path string) error {
	if err := Check(path); err != nil {
		return err
	}
	path = filepath.Clean(path)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := mayMake(filepath.Dir(path)); err != nil { // it is made beside the one that it replaces
		return err
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

// Folder is a folder that is being filled.
type Folder struct {
	path, partial string
	steps         int
	problem       error // the first one that Keep met
	kept          bool  // Finish was called, so what is there stays
}

// Begin creates the directory in which a folder is filled. Errors: those of CheckFolder, and
// those of the filesystem.
func Begin(path string) (*Folder, error) {
	if err := CheckFolder(path); err != nil {
		return nil, err
	}
	path = filepath.Clean(path)
	mode := fs.FileMode(0o755) // others shall read it, unless the user created it with another mode
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	partial, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+".*.partial")
	if err != nil {
		return nil, advised(filepath.Dir(path), err)
	}
	f := &Folder{path: path, partial: partial}
	return f, os.Chmod(partial, mode)
}

// Keep adds the job of a step as passed to fio, and fio's report. Finish returns what goes wrong
// here, so that the measurement is not interrupted.
func (f *Folder) Keep(step, job string, output []byte) {
	f.steps++
	name := stepFile(f.steps, step)
	err := errors.Join(f.write(filepath.Join(jobsDir, name+".fio"), []byte(job)), f.write(filepath.Join(fioDir, name+".json"), output))
	if f.problem == nil {
		f.problem = err
	}
}

// stepFile returns the name, without suffix, of a file of the step with this number, from 1.
func stepFile(number int, step string) string {
	return fmt.Sprintf("%03d-%.80s", number, regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(step, "-"))
}

// Finish writes the report and all other files, and moves the folder to its final path. command
// is the command line of the run. If anything fails, what exists of the run stays, and the error
// says where.
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
	// unix.Rename can replace an empty directory, which os.Rename refuses. The kernel refuses to
	// replace a full one.
	if err := unix.Rename(f.partial, f.path); err != nil {
		return fail(err)
	}
	return syncDir(filepath.Dir(f.path))
}

// Discard removes what Begin created, unless Finish was called: nothing was measured then.
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

// writeNew writes a file that must not exist yet.
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

// conditions says what was measured and under which conditions, without the figures.
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
	// Steps are the steps with reservations about their figures.
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

// Leftovers returns the unfinished folders of other runs into path: these were killed, or are
// still running.
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
		if mine && partial && random != "" && strings.Trim(random, "0123456789") == "" { // run.2 is a different folder from run
			left = append(left, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return left, nil
}
