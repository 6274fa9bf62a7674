package fio

import (
	"slices"
	"time"
)

// Global is the name of the sections whose options apply to every section after them.
const Global = "global"

// Job is a fio job file: sections in order. Sections named [Global] give defaults to
// the sections after them; every other section is a job to run.
type Job struct {
	Sections []Section
}

// Section is one [name] of a job file.
type Section struct {
	Name    string
	Options Options
}

// Options are the options of a section. An option that is nil or empty is not in the
// file; the default of a global section or of fio applies. The names are fio's, with
// the unit added where fio's name leaves it open.
type Options struct {
	Filenames       []string // literal paths; fio joins them by colons
	RW              RW
	IOEngine        string
	Direct          *bool
	Thread          *bool // jobs are threads of fio's process; else each is a process in a session of its own
	BlockBytes      *int64
	SizeBytes       *int64
	OffsetBytes     *int64
	IODepth         *int
	NumJobs         *int
	TimeBased       *bool
	Runtime         *time.Duration // whole microseconds
	RampTime        *time.Duration // whole microseconds; I/O during it is not counted
	Fsync           *int           // writes between two fsync calls, 0 for none
	Fdatasync       *int           // writes between two fdatasync calls, 0 for none
	RWMixRead       *int           // percent of reads in a mixed load
	CPUsAllowed     string         // "0-3,8"
	GroupReporting  *bool
	NoRandomMap     *bool
	LatPercentiles  *bool // percentiles and bins of the total latency too, not only of the completion latency
	AllowFileCreate *bool
	Invalidate      *bool
	Stonewall       *bool // wait for the earlier sections to end
	// Extra holds all other options in order, and well-known options whose value is not
	// one plain number ("bs=4k,8k", "size=50%").
	Extra []Option
}

// Option is one line of a section.
type Option struct {
	Key   string
	Value string
	// Bare options have no value at all: "verify_only" and not "verify_only=".
	Bare bool
}

// Effective returns the options that apply to section i: its own, and the options of
// the global sections before it that it does not override. Extra has those of the
// global sections first.
func (j Job) Effective(i int) Options {
	var all Options
	for _, s := range j.Sections[:i] {
		if s.Name == Global {
			all.add(s.Options)
		}
	}
	all.add(j.Sections[i].Options)
	return all
}

// Direct reports whether all of the job's I/O bypasses the page cache.
func (j Job) Direct() bool { return !slices.Contains(j.DirectGroups(), false) }

// DirectGroups reports for each group of sections whether all of its I/O bypasses the
// page cache, in the order in which fio reports on the groups.
func (j Job) DirectGroups() []bool {
	var direct []bool
	for _, group := range j.Groups() {
		direct = append(direct, !slices.ContainsFunc(group, func(o Options) bool { return o.Direct == nil || !*o.Direct }))
	}
	return direct
}

// Groups returns the effective options of the sections of each group, in the order in
// which fio reports on the groups. stonewall and new_group begin a group.
func (j Job) Groups() [][]Options {
	var groups [][]Options
	for i, s := range j.Sections {
		if s.Name == Global {
			continue
		}
		o := j.Effective(i)
		apart := o.Stonewall != nil && *o.Stonewall ||
			slices.ContainsFunc(o.Extra, func(x Option) bool { return x.Key == "new_group" && x.Value != "0" })
		if apart || len(groups) == 0 {
			groups = append(groups, nil)
		}
		last := &groups[len(groups)-1]
		*last = append(*last, o)
	}
	return groups
}

// add overrides the options in o with those that are set in over.
func (o *Options) add(over Options) {
	own := o.fields()
	for i, f := range over.fields() {
		if f.isSet() {
			own[i].copyFrom(f)
			o.dropExtra(f)
		}
	}
	for _, x := range over.Extra {
		for _, f := range own {
			if f.named(x.Key) {
				f.clear()
			}
		}
	}
	o.Extra = append(o.Extra[:len(o.Extra):len(o.Extra)], over.Extra...)
}
