package suite

import (
	"fmt"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/settings"
)

// The parameters whose values are those of a device setting.
const (
	cacheParameter      = "cache"
	coalescingParameter = "coalescing"
)

// The parameters that several suites have, each with the suite's own default.

func timeKnob(s *Suite, fallback time.Duration) knob[time.Duration] {
	return declare(s, "time", "how long each step measures", fallback, duration(100*time.Millisecond))
}

func rampKnob(s *Suite, fallback time.Duration) knob[time.Duration] {
	return declare(s, "ramp", "how long each step runs before it is measured", fallback, duration(0))
}

func engineKnob(s *Suite) knob[string] {
	return declare(s, "engine", "fio's I/O engine", "libaio", choice("libaio", "io_uring"))
}

func blockKnob(s *Suite, name, doc string, fallback int64) knob[int64] {
	return declare(s, name, doc, fallback, blockSize())
}

func depthKnob(s *Suite, fallback int) knob[int] {
	return declare(s, "depth", "I/Os in flight per job", fallback, count(1, maxDepth))
}

func depthsKnob(s *Suite, fallback ...int) knob[[]int] {
	return declare(s, "depths", "I/Os in flight, one step each", fallback, list(count(1, maxDepth)))
}

func jobsKnob(s *Suite, name, doc string, fallback int) knob[int] {
	return declare(s, name, doc, fallback, count(1, maxJobs))
}

// maxJobs is larger than the number of CPUs of any machine.
const maxJobs = 4096

// writesKnob declares the parameter with which a suite that writes can be restricted to reads.
func writesKnob(s *Suite) knob[string] {
	return declare(s, "writes", "whether to write as well; on a raw device, this destroys its data", yes, choice(yes, no))
}

const (
	yes = "yes"
	no  = "no"
	// asFound leaves a setting unchanged.
	asFound = "as-found"
)

// with returns the loads under each value of a setting, all loads under one value first. Under
// asFound, the loads are unchanged.
func with(loads []load, name settings.Name, values []string) []load {
	var all []load
	for _, value := range values {
		for _, l := range loads {
			if value != asFound {
				l.settings = []Setting{{name, value}}
				l.prefix += prefixOf(name, value)
			}
			all = append(all, l)
		}
	}
	return all
}

// prefixOf returns the part of a step's name that gives the value of a setting.
func prefixOf(name settings.Name, value string) string {
	return fmt.Sprintf("%s-%s-", parameterOf(name), strings.NewReplacer("/", "x", "µ", "u").Replace(value))
}

// parameterOf returns the name of the parameter for a setting, in the suites that change it.
func parameterOf(name settings.Name) string {
	return map[settings.Name]string{settings.WriteCache: cacheParameter, settings.InterruptCoalescing: coalescingParameter}[name]
}

// blockName formats a block size as a part of a step's name: "4k", "512b".
func blockName(size int64) string {
	if size%1024 != 0 {
		return fmt.Sprintf("%db", size)
	}
	return fmt.Sprintf("%dk", size>>10)
}
