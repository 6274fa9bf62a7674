package fio

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// ParseJob reads a job file as fio does. A line is a [section], an option or blank. "#"
// or ";" begins a comment anywhere in a line. A later setting replaces an earlier one of
// the same section. Variables, calculations and keywords are kept unchanged, in Extra. An
// include line is an error, because the file then does not hold the whole job.
func ParseJob(r io.Reader) (Job, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return Job{}, fmt.Errorf("read fio job: %w", err)
	}
	p := jobParser{}
	lines := strings.Split(string(data), "\n")
	p.units.plain = slices.ContainsFunc(lines, func(line string) bool {
		return strings.HasPrefix(strings.Trim(line, blanks), "kb_base")
	})
	for i, line := range lines {
		if err := p.line(line); err != nil {
			return Job{}, fmt.Errorf("parse fio job: line %d: %w", i+1, err)
		}
	}
	if len(p.job.Sections) == 0 {
		return Job{}, fmt.Errorf("parse fio job: no section")
	}
	return p.job, nil
}

type jobParser struct {
	job   Job
	units units
}

func (p *jobParser) line(line string) error {
	if i := strings.IndexAny(line, "#;"); i >= 0 {
		line = line[:i]
	}
	line = strings.Trim(line, blanks)
	if line == "" {
		return nil
	}
	if err := checkLine(line); err != nil {
		return err
	}
	if line[0] == '[' {
		name, closed := strings.CutSuffix(line[1:], "]")
		if !closed {
			return fmt.Errorf("%q: a section's name ends with a bracket", line)
		}
		if err := checkName(name); err != nil {
			return fmt.Errorf("section %q: %w", name, err)
		}
		p.job.Sections = append(p.job.Sections, Section{Name: name})
		return nil
	}
	if isInclude(line) {
		return fmt.Errorf("%q: include is not supported", line)
	}
	key, text, hasValue := strings.Cut(line, "=")
	x := Option{Key: strings.Trim(key, blanks), Value: strings.Trim(text, blanks), Bare: !hasValue}
	if _, err := x.line(); err != nil {
		return err
	}
	if len(p.job.Sections) == 0 {
		return fmt.Errorf("option %q outside of a section", x.Key)
	}
	p.job.Sections[len(p.job.Sections)-1].Options.set(x, p.units)
	return nil
}

// set applies x over earlier settings: a well-known option replaces its earlier value,
// any other is appended to Extra.
func (o *Options) set(x Option, u units) {
	for _, f := range o.fields() {
		if !f.named(x.Key) {
			continue
		}
		o.dropExtra(f)
		if f.parse(x.Value, x.Bare, u) {
			return
		}
		f.clear()
	}
	o.Extra = append(o.Extra, x)
}

// dropExtra removes the options that set the field f from Extra.
func (o *Options) dropExtra(f field) {
	o.Extra = slices.DeleteFunc(slices.Clone(o.Extra), func(x Option) bool { return f.named(x.Key) })
	if len(o.Extra) == 0 {
		o.Extra = nil
	}
}
