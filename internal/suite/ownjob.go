package suite

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// OwnJob returns a suite for a user's own fio job file, called name in reports. Its
// jobs run on the target: the file need not name it, and must not name another one.
// Options that would reach beyond the target are refused.
func OwnJob(name string, r io.Reader) (Suite, error) {
	job, err := fio.ParseJob(r)
	if err != nil {
		return Suite{}, fmt.Errorf("job file %s: %w", name, err)
	}
	s := Suite{Name: record.OwnJobName(name), Question: "What does the job file " + name + " measure?", Does: "The user's own fio job."}
	if reasons := job.Modifies(); len(reasons) > 0 {
		s.Writes = strings.Join(reasons, "; ")
	}
	repeats := repeatsKnob(&s, 1)
	s.plan = func(v Values, targets []Target) ([]Step, error) {
		bound, err := bind(job, targets[0])
		if err != nil {
			return nil, fmt.Errorf("job file %s: %w", name, err)
		}
		step := Step{
			Name: s.Name, Plan: "the jobs of " + name, Job: bound, Expected: ownExpected(bound), Writes: s.Writes, Targets: targets, own: true,
		}
		return repeated(repeats.of(v), func(repeat int) ([]Step, error) {
			again := step
			if repeat > 0 {
				again.Series, again.Name, again.repeat = step.Name, repeatName(step.Name, repeat), repeat
			}
			return []Step{again}, nil
		})
	}
	return s, nil
}

// bind makes every section use the target and nothing else.
func bind(job fio.Job, t Target) (fio.Job, error) {
	bound := fio.Job{Sections: slices.Clone(job.Sections)}
	var problems []error
	advice := "leave it out, or name the target " + t.Path
	if !t.Raw { // a job that writes to a directory gets another file there than one that reads
		advice = "leave it out, as the target is that of --target"
	}
	for i := range bound.Sections {
		section := &bound.Sections[i]
		refuse := func(format string, args ...any) {
			problems = append(problems, fmt.Errorf("section %q: "+format, append([]any{section.Name}, args...)...))
		}
		section.Options.Extra = slices.Clone(section.Options.Extra)
		for _, reason := range leadsBeyond(section.Options) {
			refuse("%s", reason)
		}
		for _, x := range section.Options.Extra {
			if x.Key == "filename" {
				refuse("filename=%s: %s", x.Value, advice)
			}
		}
		if names := section.Options.Filenames; len(names) > 0 && (len(names) != 1 || filepath.Clean(names[0]) != t.Path) {
			refuse("filename=%s: %s", strings.Join(names, ":"), advice)
		}
		if section.Name == fio.Global {
			continue
		}
		if err := confine(&section.Options, job.Effective(i), t); err != nil {
			refuse("%w", err)
		}
	}
	return bound, errors.Join(problems...)
}

// confine restricts the I/O of a section to the usable part of the target.
func confine(o *fio.Options, effective fio.Options, t Target) error {
	for _, x := range effective.Extra {
		switch x.Key {
		case "size", "offset", "fileoffset":
			return fmt.Errorf("%s=%s: want a number of bytes, such as 64m", x.Key, x.Value)
		case "offset_increment":
			return fmt.Errorf("%s=%s: remove it, because it reaches beyond the checked part; give each job an offset of its own", x.Key, x.Value)
		}
	}
	o.Filenames, o.AllowFileCreate = []string{t.Path}, new(false)
	o.Thread = new(true) // a job that is a process could outlive fio
	offset := int64(0)
	if effective.OffsetBytes != nil {
		offset = *effective.OffsetBytes
	}
	size := t.SizeBytes - offset
	if effective.SizeBytes != nil {
		size = *effective.SizeBytes
	}
	if size <= 0 || offset < 0 || offset+size > t.SizeBytes {
		taken := ""
		if t.OffsetBytes > 0 {
			taken = fmt.Sprintf(" (its first %s marks it as made by ssdprobe)", units.Size(t.OffsetBytes))
		}
		return fmt.Errorf("%s from offset %s on do not fit into the %s of %s%s", units.Size(size), units.Size(offset), units.Size(t.SizeBytes), t.Path, taken)
	}
	if block := effective.BlockBytes; block != nil {
		if *block > size {
			return fmt.Errorf("blocks of %s do not fit into the %s that the job uses of %s", units.Size(*block), units.Size(size), t.Path)
		}
		if err := t.checkBlock(*block); err != nil && effective.Direct != nil && *effective.Direct {
			return err
		}
	}
	o.OffsetBytes, o.SizeBytes = new(t.OffsetBytes+offset), new(size)
	if effective.LatPercentiles == nil {
		o.LatPercentiles = new(true) // as in all suites
	}
	return nil
}

// ownExpected returns how long the jobs take, one after the other if they wait for each
// other; 0 if not all of them have a runtime, or some begin at another time.
func ownExpected(job fio.Job) time.Duration {
	var all, group time.Duration
	for i, section := range job.Sections {
		if section.Name == fio.Global {
			continue
		}
		o := job.Effective(i)
		later := slices.ContainsFunc(o.Extra, func(x fio.Option) bool { return x.Key == "startdelay" || x.Key == "wait_for" })
		if o.Runtime == nil || later {
			return 0
		}
		if o.Stonewall != nil && *o.Stonewall {
			all += group
			group = 0
		}
		span := *o.Runtime
		if o.RampTime != nil {
			span += *o.RampTime
		}
		group = max(group, span)
	}
	return all + group
}
