package device

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// governor counts the CPUs by what decides their frequency.
type governor map[governing]int

type governing struct {
	name       string // scaling_governor
	driver     string // scaling_driver
	preference string // energy_performance_preference; empty when the driver has none
}

// readGovernor reads the frequency policies of the CPUs
// (Documentation/admin-guide/pm/cpufreq.rst). Policies whose CPUs are all offline do not
// count: their attributes are empty, or EBUSY since Linux 5.19 (show in drivers/cpufreq/cpufreq.c). The result is empty
// if the machine does not report any, like most virtual machines.
func readGovernor(a *attributes) governor {
	const dir = "/sys/devices/system/cpu/cpufreq"
	policies, err := a.fs.List(dir)
	a.note(err)
	found := governor{}
	for _, policy := range policies {
		if !numbered(policy, "policy") {
			continue // "boost", a switch for all CPUs
		}
		at := path.Join(dir, policy)
		affected, err := a.fs.Text(path.Join(at, "affected_cpus"))
		if errors.Is(err, unix.EBUSY) {
			continue
		}
		a.note(err)
		cpus := len(strings.Fields(affected))
		g := governing{name: a.at(at, "scaling_governor")}
		if cpus == 0 || g.name == "" {
			continue
		}
		if g.name == "powersave" {
			g.driver = a.at(at, "scaling_driver")
			g.preference = a.at(at, "energy_performance_preference")
		}
		found[g] += cpus
	}
	return found
}

// active reports whether the driver or the processor chooses the frequency, by the load. The name powersave then means
// nothing: it is the default of intel_pstate and amd-pstate in their active modes
// (Documentation/admin-guide/pm/intel_pstate.rst, amd-pstate.rst). Without HWP, intel_pstate has no preference.
func (g governing) active() bool {
	return g.driver == "intel_pstate" || g.driver == "amd-pstate-epp"
}

// savesPower reports whether the CPU is kept slow.
func (g governing) savesPower() bool {
	if g.active() {
		return g.preference == "power"
	}
	return g.name == "powersave"
}

// String returns "powersave (preference balance_performance)".
func (g governing) String() string {
	if g.active() && g.preference != "" {
		return fmt.Sprintf("%s (preference %s)", g.name, g.preference)
	}
	return g.name
}

// String returns "performance", or "mixed: performance on 4 CPUs, powersave on 12 CPUs".
func (g governor) String() string {
	counts := map[string]int{}
	for governing, cpus := range g {
		counts[governing.String()] += cpus
	}
	names := slices.Sorted(maps.Keys(counts))
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s on %d CPUs", name, counts[name])
	}
	return "mixed: " + strings.Join(names, ", ")
}

func (g governor) warning() (record.Warning, bool) {
	saving, all := 0, 0
	for governing, cpus := range g {
		all += cpus
		if governing.savesPower() {
			saving += cpus
		}
	}
	if saving == 0 {
		return record.Warning{}, false
	}
	return record.Warning{Code: record.WarnGovernor, Text: fmt.Sprintf(
		"the governor of %d of %d CPUs saves power (%s), which makes each I/O slower", saving, all, g)}, true
}
