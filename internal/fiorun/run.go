package fiorun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// defaultGrace is how long fio may take to end after it was asked to stop.
const defaultGrace = 5 * time.Second

// Request is one run of fio.
type Request struct {
	Job fio.Job
	// ReadOnly makes fio itself refuse to write. A job in which anything modifies data is refused
	// before it is run.
	ReadOnly bool
	// Limit is the longest that the run may take; 0 means no limit. A run that reaches it is stopped
	// with ErrTimeout.
	Limit time.Duration
	// Idle is the longest that fio may complete no I/O; 0 means no limit. A run that reaches it is
	// stopped with ErrTimeout. Unlike Limit, it tells a slow device from one that hangs.
	Idle time.Duration
	// Grace is how long fio may take to end after it was asked to stop, before it is killed; 0 means 5
	// s.
	Grace time.Duration
	// Progress is called with fio's status about once a second; may be nil. It is called on another
	// goroutine, and not after Run has returned, except with ErrHung.
	Progress func(fio.Status)
	// Watch says what to watch while fio runs.
	Watch Watch
	// Held are descriptors that fio inherits, such as one that holds its device exclusively: what they
	// hold remains held while fio lives, whatever happens to this process.
	Held []*os.File
	// Files are files of the job that fio opens through these descriptors: by then, another user may have put another file
	// or a link in the place of their names.
	Files []*os.File
}

// Run is the result of a run of fio.
type Run struct {
	Job     fio.Job
	JobFile string // the text passed to fio, but with the names of Files
	Output  fio.Output
	// Report is what fio printed, from which Output was parsed.
	Report []byte
	// Duration is the time from the start of fio to its end.
	Duration time.Duration
	// Stopped is why the run was ended early: the cause of its context, ErrTimeout or ErrOthers. It is
	// nil for a complete run.
	Stopped error
	// Ended is how fio ended if it did not end well, and Messages are its complaints (": first line;
	// second line"), of its standard error, or else of its report. Both are usually empty.
	Ended, Messages string
	Seen            Seen
}

// Run runs fio and returns what it measured. If ctx ends, the limit is reached, others use the
// device too much or it is gone, Run asks fio to stop. It then returns the report so far, with Stopped set. If fio
// does not stop, it and everything that it started are killed.
//
// The error is a *FailedError if fio measured nothing. It matches ErrNoData or ErrGone if the measured figures
// are fiction. It matches ErrHung, or the cause of ctx, if there is no report for that reason.
func (b Binary) Run(ctx context.Context, r Request) (Run, error) {
	text, err := check(r)
	if err != nil {
		return Run{}, err
	}
	if ctx.Err() != nil {
		return Run{}, fmt.Errorf("run fio: %w", context.Cause(ctx))
	}
	args := []string{"--output-format=json+", "--eta=always", "--eta-newline=1", "--verify_state_save=0"}
	if r.ReadOnly {
		args = append(args, "--readonly")
	}
	passed, err := r.passed().Render()
	if err != nil {
		return Run{}, err
	}
	seeing := r.Watch.begin()
	seeing.others.partly = hasForeignThreads(r.Watch.FS, r.Job)
	started := time.Now()
	moved := make(chan struct{}, 1)
	p, err := start(ctx, b.Path, args, passed, slices.Concat(r.Held, r.Files), func(line string) {
		status, ok := fio.ParseStatus(line)
		if ok && status.Rates != nil && *status.Rates != (fio.Rates{}) {
			select {
			case moved <- struct{}{}:
			default: // it is known already
			}
		}
		if ok && r.Progress != nil {
			r.Progress(status)
		}
	})
	if err != nil {
		return Run{}, err
	}
	for i, f := range r.Files {
		p.names = append(p.names, inherited(len(r.Held)+i), f.Name())
	}
	run := Run{Job: r.Job, JobFile: text}
	ended, err := p.finish(ctx, r, seeing, moved, &run)
	if err != nil {
		return Run{}, errors.Join(err, p.abandon())
	}
	run.Duration = time.Since(started)
	run.Seen = seeing.end()
	report, err := p.collect()
	if err != nil {
		return Run{}, err
	}
	if err := run.read(report, ended, p); err != nil {
		return Run{}, err
	}
	return run, nil
}

// passed returns the job with the descriptors of Files in the place of their names.
func (r Request) passed() fio.Job {
	job := fio.Job{Sections: slices.Clone(r.Job.Sections)}
	for i := range job.Sections {
		for k, f := range r.Files {
			if names := &job.Sections[i].Options.Filenames; slices.Equal(*names, []string{f.Name()}) {
				*names = []string{inherited(len(r.Held) + k)}
			}
		}
	}
	return job
}

// check renders the job and refuses what would be unsafe or could not be interpreted.
func check(r Request) (string, error) {
	if reasons := r.Job.Modifies(); r.ReadOnly && len(reasons) > 0 {
		return "", fmt.Errorf("run fio read-only: the job modifies data: %s", reasons[0])
	}
	for i, s := range r.Job.Sections {
		o := r.Job.Effective(i)
		if s.Name != fio.Global && (o.Thread == nil || !*o.Thread) {
			return "", fmt.Errorf("run fio: section %q: without thread=1 its jobs are processes that can outlive fio", s.Name)
		}
		for _, x := range o.Extra {
			if x.Key == "unified_rw_reporting" && !slices.Contains([]string{"none", "0", "both", "2"}, x.Value) {
				return "", fmt.Errorf("run fio: section %q: with unified_rw_reporting=%s reads cannot be told from writes: remove it",
					s.Name, x.Value)
			}
		}
	}
	return r.Job.Render()
}

// finish waits until fio has ended, and makes it end if necessary. It receives from moved when I/Os completed.
func (p *process) finish(ctx context.Context, r Request, seeing *seeing, moved <-chan struct{}, run *Run) (ended error, err error) {
	limit := make(<-chan time.Time)
	if r.Limit > 0 {
		timer := time.NewTimer(r.Limit)
		defer timer.Stop()
		limit = timer.C
	}
	look := time.NewTicker(waitingLook)
	defer look.Stop()
	var idle time.Duration // counted in looks: while this process stands still, it does not see fio move
	for {
		select {
		case <-moved:
			idle = 0
			continue
		case <-look.C:
			idle += waitingLook
			if run.Stopped = seeing.during(p.cmd.Process.Pid); run.Stopped == nil && r.Idle > 0 && idle >= r.Idle {
				run.Stopped = fmt.Errorf("%w: no I/O completed for %s", ErrTimeout, units.Span(r.Idle))
			}
			if run.Stopped == nil {
				continue
			}
		case ended := <-p.ended:
			if ended == nil {
				return nil, nil
			}
			return ended, killRemains(ctx, p.marker, p.grace(r))
		case <-ctx.Done():
			run.Stopped = context.Cause(ctx)
		case <-limit:
			run.Stopped = fmt.Errorf("%w: %s", ErrTimeout, units.Span(r.Limit))
		case <-p.tooLong: // r.read returns an error for this
		}
		return p.stop(ctx, p.grace(r))
	}
}

func (p *process) grace(r Request) time.Duration {
	if r.Grace > 0 {
		return r.Grace
	}
	return defaultGrace
}

// stop asks fio to end like Ctrl-C does, after which it still reports, and kills it if it does not
// end.
func (p *process) stop(ctx context.Context, grace time.Duration) (ended error, err error) {
	// If the group is gone, fio has ended by itself; how is seen below.
	_ = p.signal(syscall.SIGINT)
	done, ended := p.wait(grace)
	if !done {
		p.kill()
		if done, ended = p.wait(grace + drain); !done {
			return nil, fmt.Errorf("run fio: process %d: %w", p.cmd.Process.Pid, ErrHung)
		}
	}
	return ended, killRemains(ctx, p.marker, grace)
}

// read interprets the report and the way fio ended.
func (r *Run) read(report []byte, ended error, p *process) error {
	names := strings.NewReplacer(p.names...)
	r.Ended, r.Messages = ending(ended), names.Replace(p.messages.note())
	if len(report) > reportLimit {
		return fmt.Errorf("run fio: its report is longer than %d MiB%s", reportLimit>>20, r.Messages)
	}
	out, err := fio.ParseOutput(bytes.NewReader(report))
	if r.Messages == "" { // fio writes some of its errors only into its report
		r.Messages = names.Replace((&head{data: []byte(strings.Join(out.Notes, "\n"))}).note())
	}
	switch {
	case err != nil && r.Stopped != nil:
		return fmt.Errorf("run fio: stopped before it reported: %w%s", r.Stopped, r.Messages)
	case err != nil && r.Ended != "":
		return &FailedError{Ended: r.Ended, Messages: r.Messages}
	case err != nil:
		return errors.Join(err, describe(r.Messages))
	}
	r.Output, r.Report = out, report
	if jobs := jobErrors(out); !measured(out) && r.Stopped == nil && (len(jobs) > 0 || r.Ended != "") {
		return &FailedError{Ended: r.Ended, Jobs: jobs, Messages: r.Messages}
	}
	if errors.Is(r.Stopped, ErrGone) { // nobody knows how many of the I/Os came back without data
		return fmt.Errorf("run fio: %w%s", r.Stopped, r.Messages)
	}
	if missed, all := r.withoutData(); missed > 0 {
		return fmt.Errorf("run fio: %w (%d of %d)%s", ErrNoData, missed, all, r.Messages)
	}
	return nil
}

// describe returns fio's messages as an error; nil if there are none.
func describe(messages string) error {
	if messages == "" {
		return nil
	}
	return errors.New("fio said" + messages)
}

// measured reports whether any I/O completed. It looks at bytes because fio also counts failed I/Os,
// though not their latency.
func measured(out fio.Output) bool {
	for _, job := range out.Jobs {
		for _, d := range []*fio.Direction{job.Read, job.Write, job.Trim, job.Mixed} {
			if d != nil && d.Bytes > 0 {
				return true
			}
		}
	}
	return false
}
