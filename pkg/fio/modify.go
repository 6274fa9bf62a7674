package fio

import (
	"fmt"
	"slices"
	"strings"
)

// RW is a kind of load, fio's option rw. fio's default is [Read].
type RW string

// The kinds of load.
const (
	Read          RW = "read"
	Write         RW = "write"
	Trim          RW = "trim"
	ReadWrite     RW = "rw"
	RandRead      RW = "randread"
	RandWrite     RW = "randwrite"
	RandTrim      RW = "randtrim"
	RandRW        RW = "randrw"
	TrimWrite     RW = "trimwrite"
	RandTrimWrite RW = "randtrimwrite"
)

// OnlyReads reports whether a job of this kind neither writes nor trims. An unknown
// kind counts as writing.
func (rw RW) OnlyReads() bool {
	kind, _, _ := strings.Cut(string(rw), ":") // "randread:8" changes the offset every 8 I/Os
	return kind == "" || kind == string(Read) || kind == string(RandRead)
}

// Modifies lists what in the job may change data, one phrase each: sections that write
// or trim, options that run commands, write or remove files, engines that act on files
// instead of their content. It is empty for a job that only reads. What fio would take
// from its environment ("${X}") counts as changing data where it may be such an option.
//
// It does not know the files. If a file is smaller than its section reads, or missing,
// fio writes it anew before it reads, and with AllowFileCreate false it removes it. Only
// fio's flag --readonly prevents both.
func (j Job) Modifies() []string {
	var reasons []string
	for i, s := range j.Sections {
		if s.Name == Global {
			continue
		}
		o := j.Effective(i)
		add := func(format string, args ...any) {
			reasons = append(reasons, fmt.Sprintf("section %q: ", s.Name)+fmt.Sprintf(format, args...))
		}
		if !o.RW.OnlyReads() {
			add("rw=%s", o.RW)
		}
		if modifyingEngine(o.IOEngine) {
			add("ioengine=%s", o.IOEngine)
		}
		for _, x := range o.Extra {
			if modifyingOption(x) {
				add("%s", x.text())
			}
		}
	}
	return reasons
}

// modifyingEngine reports whether an engine changes files whatever rw says. External engines, given by
// the path of their library, may do anything, and so may those whose name fio takes from its environment.
func modifyingEngine(engine string) bool {
	known := []string{"exec", "filecreate", "filedelete", "dircreate", "dirdelete", "e4defrag"}
	return slices.Contains(known, engine) || strings.ContainsAny(engine, "/:$")
}

func modifyingOption(x Option) bool {
	if strings.Contains(x.Key, "$") { // fio replaces variables in a whole line, so this may be any option
		return true
	}
	switch x.Key {
	case "rw", "readwrite", "ioengine": // in Extra, because the field cannot hold the value
		return true
	case "exec_prerun", "exec_postrun", "read_iolog", "write_iolog", "profile":
		return true
	case "mem", "iomem": // "mmap:/path" takes a file for the buffers
		return strings.ContainsAny(x.Value, ":$")
	case "unlink", "unlink_each_loop":
		return x.Bare || x.Value != "0"
	}
	return false
}
