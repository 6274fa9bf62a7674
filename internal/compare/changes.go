package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// changes lists what differs between two runs apart from the figures: the conditions, and
// then whatever else may explain a difference in the figures.
func changes(before, after record.RunReport) []record.Change {
	all := before.Conditions.Changes(after.Conditions)
	imported := before.Imported() || after.Imported()
	if imported { // a value that is unknown on one side does not count as changed
		all = slices.DeleteFunc(all, func(c record.Change) bool { return c.From == "" || c.To == "" })
	}
	add := func(condition, from, to string) {
		if imported && (from == "" || to == "") {
			return
		}
		if from != to {
			all = append(all, record.Change{Condition: condition, From: from, To: to})
		}
	}
	add("serial", before.Device.Serial, after.Device.Serial)
	add("target", before.TargetText(), after.TargetText())
	if !record.AlikeFiles(before.File, after.File) {
		add("file size", units.BlockSize(before.File.Bytes), units.BlockSize(after.File.Bytes))
	}
	add("node", before.Node, after.Node)
	if !imported {
		add("suite", before.Suite, after.Suite)
	}
	if before.Conditions.Engine == after.Conditions.Engine {
		add("engine of the run", before.Engine, after.Engine)
	}
	add("measured by", before.Generator, after.Generator)
	for i := 1; i < min(len(before.Targets), len(after.Targets)); i++ { // the run is said to be on the first
		all = append(all, targetChanges(before.Targets[i], after.Targets[i])...)
	}
	if imported {
		return all
	}
	from, to := differing(jobFile(before), jobFile(after))
	add("job file", from, to)
	names := maps.Clone(before.Settings)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, after.Settings)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if name != repeats {
			add("parameter "+name, setting(before, name), setting(after, name))
		}
	}
	return all
}

// targetChanges lists what differs between targets in the same place of two runs.
func targetChanges(before, after record.RunTarget) []record.Change {
	if before.Path != after.Path {
		return []record.Change{{Condition: "target", From: before.Path, To: after.Path}}
	}
	all := before.Conditions.Changes(after.Conditions)
	if before.Device.Serial != after.Device.Serial {
		all = append(all, record.Change{Condition: "serial", From: before.Device.Serial, To: after.Device.Serial})
	}
	for i := range all {
		all[i].Condition += " of " + after.Path
	}
	return all
}

// jobFile returns the lines of the user's own job file, without the target; none for a suite, whose jobs follow from its
// name and parameters.
func jobFile(r record.RunReport) []string {
	if !r.OwnJob() || len(r.Steps) == 0 {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(r.Steps[0].JobFile), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" || strings.HasPrefix(line, "filename=") })
}

// differing returns the lines that only one of two texts has.
func differing(before, after []string) (from, to string) {
	without := func(lines, others []string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) }), ", ")
	}
	return without(before, after), without(after, before)
}

// repeats is the suite parameter that changes how certain a run is, but not its figures.
const repeats = "repeats"

func setting(r record.RunReport, name string) string {
	if value, set := r.Settings[name]; set {
		return value
	}
	return "default"
}

// ownWarnings returns the warnings that cast doubt on the comparison itself.
func ownWarnings(c record.Comparison) []record.Warning {
	if len(c.Conditions) == 0 {
		return nil
	}
	return []record.Warning{{Code: record.WarnConditionsDiffer, Text: fmt.Sprintf(
		"%s changed between the runs and may explain any difference.", units.Plural(len(c.Conditions), "condition"))}}
}

// Names holds the names that texts use for the two runs.
type Names struct{ Before, After string }

// join merges the warnings of two runs without duplicates, those of the earlier one first. A
// warning that only one run has is prefixed with the name of that run.
func (n Names) join(before, after []record.Warning) []record.Warning {
	var all []record.Warning
	add := func(w record.Warning, run string, others []record.Warning) {
		if !slices.Contains(others, w) {
			w = of(run, w)
		}
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	for _, w := range before {
		add(w, n.Before, after)
	}
	for _, w := range after {
		add(w, n.After, before)
	}
	return all
}

// of returns the warning with the name of the run that had it.
func of(run string, w record.Warning) record.Warning {
	w.Text = strings.ToUpper(run[:1]) + run[1:] + ": " + w.Text
	return w
}
