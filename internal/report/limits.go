package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// boundSection shows what limited each step.
func boundSection(r record.RunReport) []document.Section {
	if len(r.Analysis.Bounds) == 0 {
		return nil
	}
	t := document.Table{Names: []string{"step", "limit", "CPUs used", "link used"}, Align: "llrr", Long: true}
	linkKnown := slices.ContainsFunc(r.Analysis.Bounds, func(b record.Bound) bool { return b.LinkShare != nil })
	counts := map[record.Limit]int{}
	share := func(v *float64) string {
		if v == nil {
			return none
		}
		return units.Percent(*v)
	}
	for _, b := range r.Analysis.Bounds {
		counts[b.Limit]++
		link := ""
		if linkKnown {
			link = share(b.LinkShare)
		}
		row := t.Add(b.Step, limitText(b.Limit), share(b.CPUShare), link)
		if b.Evidence != "" && b.Limit != record.LimitDevice { // the evidence for the device is in the columns
			row.Notes = []document.Block{document.Sentence(b.Evidence)}
		}
	}
	var texts []string
	all := len(r.Analysis.Bounds)
	for _, l := range []record.Limit{record.LimitDevice, record.LimitLatency, record.LimitLink, record.LimitCPU, record.LimitJob, record.LimitOthers} {
		switch {
		case counts[l] == all && all > 1:
			texts = append(texts, limitText(l)+" in all of them")
		case counts[l] == all:
			texts = append(texts, limitText(l))
		case counts[l] > 0:
			texts = append(texts, fmt.Sprintf("%s in %d", limitText(l), counts[l]))
		}
	}
	steps := "the " + units.Plural(len(r.Steps), "step")
	if all < len(r.Steps) { // nothing is known of a step that was stopped
		steps = units.Count(all) + " of " + steps
	}
	return []document.Section{{
		ID: "limits", Title: "What the limit was", Minor: true, Blocks: []document.Block{document.Gap{}, t},
		Lead: fmt.Sprintf("What limited %s: %s.", steps, strings.Join(texts, ", ")),
	}}
}

func limitText(l record.Limit) string {
	switch l {
	case record.LimitCPU:
		return "the CPUs"
	case record.LimitLink:
		return "the PCIe link"
	case record.LimitLatency:
		return "one I/O at a time"
	case record.LimitDevice:
		return "the device"
	case record.LimitJob:
		return "the job itself"
	case record.LimitOthers:
		return "others on this host"
	}
	return string(l)
}

// sheetSection compares the figures with the data sheet.
func sheetSection(r record.RunReport) []document.Section {
	if len(r.Analysis.DataSheet) == 0 {
		return nil
	}
	t := document.Table{Names: []string{"figure", "promised", "measured", "share", "in step", "warnings"}, Align: "lrrrll", Long: true}
	for _, s := range r.Analysis.DataSheet {
		if s.Step == "" {
			t.Add(sheetBlocks(s), sheetFigure(s.Unit, s.Promised), "not measured")
			continue
		}
		t.Add(sheetName(s), sheetFigure(s.Unit, s.Promised), sheetFigure(s.Unit, s.Measured), units.Percent(s.Share), s.Step, warned(sheetWarnings(r, s)))
	}
	return []document.Section{{
		ID: "data-sheet", Title: "Share of the data sheet", Lead: sheetSentence(r), Blocks: []document.Block{document.Gap{}, t},
	}}
}

// sheetSentence names the smallest share that is certain, those that are not, and the figures that no step measured.
func sheetSentence(r record.RunReport) string {
	var certain []record.SheetShare
	var uncertain, missing []string
	for _, s := range r.Analysis.DataSheet {
		switch {
		case s.Step == "":
			missing = append(missing, sheetBlocks(s))
		case len(s.Codes) > 0:
			uncertain = append(uncertain, fmt.Sprintf("%s, %s%s", sheetName(s), units.Percent(s.Share), noteOf(sheetWarnings(r, s))))
		default:
			certain = append(certain, s)
		}
	}
	text := ""
	if len(certain) > 0 {
		lowest := slices.MinFunc(certain, func(a, b record.SheetShare) int { return cmp.Compare(a.Share, b.Share) })
		text = fmt.Sprintf("The drive is furthest from its data sheet in %s: %s measured, %s promised, %s%s.", sheetName(lowest),
			sheetFigure(lowest.Unit, lowest.Measured), sheetFigure(lowest.Unit, lowest.Promised), units.Percent(lowest.Share), noteOf(sheetWarnings(r, lowest)))
	}
	if len(uncertain) > 0 {
		text += " These shares are uncertain, because steps did not measure the drive alone: " + strings.Join(uncertain, "; ") + "."
	}
	if len(missing) > 0 {
		text += fmt.Sprintf(" No step measured %s.", strings.Join(missing, ", "))
	}
	return strings.TrimSpace(text)
}

// sheetName names a figure, with its block size if that is not the usual one.
func sheetName(s record.SheetShare) string {
	usual := int64(record.SheetRandomBytes)
	if s.Unit == "B/s" {
		usual = record.SheetSequentialBytes
	}
	if s.BlockBytes == usual {
		return s.Figure
	}
	return sheetBlocks(s)
}

// sheetBlocks names a figure with its block size, because steps of other sizes may have measured something similar.
// Reports of older builds have no size.
func sheetBlocks(s record.SheetShare) string {
	switch {
	case s.BlockBytes <= 0:
		return s.Figure
	case s.Unit == "B/s":
		return fmt.Sprintf("%s of at least %s", s.Figure, units.BlockSize(s.BlockBytes))
	}
	return units.BlockSize(s.BlockBytes) + " " + s.Figure
}

// sheetWarnings returns the warnings behind a share: those by which it is uncertain, and those of its step.
func sheetWarnings(r record.RunReport, share record.SheetShare) []record.Warning {
	var all []record.Warning
	for _, code := range share.Codes {
		all = append(all, record.Warning{Code: code})
	}
	return append(all, warningsOf(r, share.Step)...)
}

// warningsOf returns the warnings of the step with a name.
func warningsOf(r record.RunReport, step string) []record.Warning {
	i := slices.IndexFunc(r.Steps, func(s record.Step) bool { return s.Name == step })
	if i < 0 {
		return nil
	}
	return r.Steps[i].Warnings
}

func sheetFigure(unit string, v float64) string {
	if unit == "s" {
		return units.Latency(seconds(v))
	}
	return rateIn(unit, v)
}

// interruptSection shows how often the device interrupted.
func interruptSection(r record.RunReport) []document.Section {
	if len(r.Analysis.Interrupts) == 0 {
		return nil
	}
	t := document.Table{
		Names: []string{"step", "setting", "interrupts", "interrupts", "warnings"}, Units: []string{"", "", "per I/O", "per second", ""}, Align: "llrrl", Long: true,
	}
	for _, i := range r.Analysis.Interrupts {
		t.Add(i.Step, i.Setting, units.Number(i.PerIO), units.Number(i.PerSecond), warned(warningsOf(r, i.Step)))
	}
	most := slices.MaxFunc(r.Analysis.Interrupts, func(a, b record.InterruptRate) int { return cmp.Compare(a.PerSecond, b.PerSecond) })
	limit := fmt.Sprintf("At most %s interrupts per second, in %s%s: %s of the %s that all drives of a host together should stay below.",
		units.Number(most.PerSecond), most.Step, noteOf(warningsOf(r, most.Step)), units.Percent(most.PerSecond/record.MostInterrupts), units.Number(record.MostInterrupts))
	return []document.Section{{ID: "interrupts", Title: "Interrupts", Blocks: []document.Block{document.Sentence(limit), document.Gap{}, t}}}
}

// targetSection lists the targets of a run on several targets.
func targetSection(r record.RunReport) []document.Section {
	if len(r.Targets) == 0 {
		return nil
	}
	t := document.Table{Names: []string{"target", "group", "device", "PCIe link", "NUMA node", "filesystem"}, Align: "llllll", Long: true}
	first := r.Targets[0].Conditions
	for _, target := range r.Targets {
		row := t.Add(target.Path, target.Group, DeviceText(target.Device), target.Conditions.PCIeLink.String(), target.Conditions.NUMANode.String(), target.Conditions.Filesystem)
		if changes := first.Changes(target.Conditions); len(changes) > 0 {
			row.Notes = []document.Block{document.Sentence("differs from the first: " + strings.Join(record.ChangeTexts(changes), ", "))}
		}
	}
	return []document.Section{{ID: "targets", Title: "Targets", Blocks: []document.Block{document.Gap{}, t}}}
}
