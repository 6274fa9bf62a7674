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

// modelSection shows the cost model for the kernel's io.cost: its lines, its coefficients, and how it differs from the
// cost model of the judge.
func modelSection(r record.RunReport) []document.Section {
	if r.Analysis.CostModel == nil {
		return nil
	}
	m := *r.Analysis.CostModel
	s := document.Section{ID: "model", Title: "Cost model", Lead: modelLead(m, cmp.Or(r.Device.Name, r.Target))}
	if m.HasLines() {
		s.Answer = append(s.Answer, modelWarnings(m),
			document.Gap{}, document.Sentence("/sys/fs/cgroup/io.cost.model takes this line:"), document.Code(m.ModelLine),
			document.Sentence("/sys/fs/cgroup/io.cost.qos takes this line, which switches io.cost on for the device:"), document.Code(m.QoSLine))
		s.Blocks = append(s.Blocks, document.Gap{}, document.Sentence(qosText(m)))
	}
	s.Answer = append(s.Answer, document.Gap{}, coefficientTable(m))
	if onlyDisturbed(m.Coefficients) {
		s.Answer = append(s.Answer, document.Sentence("Stop what else uses the device or the CPUs, and run the suite again. "+
			"One good repeat of each coefficient is enough; --repeats 9 gives more chances, and a shorter --set time makes a good repeat more likely."))
	}
	if costs := costTable(m); len(costs.Rows) > 0 {
		s.Blocks = append(s.Blocks, document.Gap{}, costs, document.Gap{}, document.Sentence(twoModels(m)))
	}
	return []document.Section{s}
}

// onlyDisturbed reports whether coefficients are missing only because of other activity on the device or the CPUs.
func onlyDisturbed(all []record.CostCoefficient) bool {
	var codes []string
	for _, c := range all {
		if c.Repeats == 0 && len(c.Codes) == 0 || c.Of.Mean.Wide() {
			return false
		} else if c.Repeats == 0 {
			codes = append(codes, c.Codes...)
		}
	}
	return len(codes) > 0 && !slices.ContainsFunc(codes, func(code string) bool { return code != record.WarnDisturbed && code != record.WarnOthersActive })
}

func modelLead(m record.CostModel, device string) string {
	if m.Device != "" {
		device += " (" + m.Device + ")"
	}
	if len(m.Withheld) > 0 {
		return fmt.Sprintf("There are no lines for io.cost of %s. Missing: %s.", device, strings.Join(m.Withheld, "; "))
	}
	micros := func(d record.Direction) string {
		seconds, _ := m.Cost(d, record.Random, 4<<10) // a line has all coefficients
		return units.Number(seconds*1e6) + " µs"
	}
	return fmt.Sprintf("The cost model of %s for io.cost: a random read of 4 KiB takes %s of the device's time, a random write %s.",
		device, micros(record.Read), micros(record.Write))
}

// modelWarnings returns the warnings that cast doubt on the lines.
func modelWarnings(m record.CostModel) document.Warnings {
	var all document.Warnings
	var bound []string
	for _, c := range m.Coefficients {
		if c.CPUBound {
			bound = append(bound, c.Name)
		}
	}
	if len(bound) > 0 {
		all = append(all, record.Warning{Code: record.WarnCPUBound, Text: fmt.Sprintf(
			"The CPU was the limit of %s: the device can do more, and these lines would hold it back; repeat with more threads, such as --set jobs=4.",
			strings.Join(bound, ", "))})
	}
	if m.Read.Unsure || m.Write.Unsure {
		all = append(all, record.Warning{Code: record.WarnFewSamples, Text: fmt.Sprintf(
			"Fewer than %d I/Os lie above a latency in the line for io.cost.qos: measure longer.", record.MinimumAbove)})
	}
	return all
}

func coefficientTable(m record.CostModel) document.Table {
	t := document.Table{
		Names: []string{"coefficient", "mean", "", "95 % interval", "min", "max", "repeats", "left out"},
		Align: "lrlrrrrl",
	}
	for _, c := range m.Coefficients {
		leftOut := ""
		if c.LeftOut > 0 {
			leftOut = fmt.Sprintf("%d (%s)", c.LeftOut, strings.Join(c.Codes, ", "))
		}
		if c.Repeats == 0 {
			t.Add(c.Name, none, "", "", "", "", "0", leftOut)
			continue
		}
		unit, by := rateColumn(c.Unit)
		write := func(v float64) string { return units.Number(v / by) }
		interval := ""
		if c.Repeats > 1 {
			interval = intervalText(c.Of.Mean, write)
		}
		t.Add(c.Name, write(c.Of.Mean.Value), unit, interval, write(c.Of.Min), write(c.Of.Max), units.Count(c.Repeats), leftOut)
	}
	return t
}

func qosText(m record.CostModel) string {
	return fmt.Sprintf("rlat and wlat are p%.0f of the random reads and writes of this run (%s and %s). While more I/Os take longer, the kernel considers "+
		"the device saturated and lets less through, down to min. While I/Os wait and the device is not saturated, it lets more through, up to max. Both are percentages of the model. "+
		"Lower latencies protect readers better, but cost throughput.",
		m.Read.Percentile, units.Latency(m.Read.Latency), units.Latency(m.Write.Latency))
}

// costTable shows the cost of I/Os by this model, beside that by the judge's.
func costTable(m record.CostModel) document.Table {
	t := document.Table{
		Names: []string{"what an I/O costs", "io.cost, sequential", "io.cost, random", "the judge"},
		Units: []string{"", "µs", "µs", "µs"},
		Align: "lrrr",
	}
	for _, d := range []record.Direction{record.Read, record.Write} {
		for _, size := range []int64{4 << 10, 64 << 10, 1 << 20} {
			sequential, known := m.Cost(d, record.Sequential, size)
			random, alsoKnown := m.Cost(d, record.Random, size)
			if !known || !alsoKnown {
				continue
			}
			learned := ""
			if m.Learned != nil {
				learned = units.Number(m.Learned.Cost(d, size) * 1e6)
			}
			t.Add(units.BlockSize(size)+" "+string(d), units.Number(sequential*1e6), units.Number(random*1e6), learned)
		}
	}
	return t
}

// twoModels explains how the kernel's cost model and the judge's differ.
func twoModels(m record.CostModel) string {
	text := "The costs of io.cost are shares of the time of a saturated device, on which many I/Os are in flight. " +
		"The judge of ssdprobe drift has costs of its own, learned from the traffic of the device's users: how long each read, " +
		"write and KiB keeps it busy, whether one I/O is in flight or many. So the judge's costs are larger where few I/Os are in flight, and neither can replace the other."
	if m.Learned == nil {
		return text + " No daemon has learned costs of this device here."
	}
	if m.Learned.Source == record.SourceTraffic {
		return text + fmt.Sprintf(" Those shown were learned from the traffic of %s.", m.Learned.Target)
	}
	return text + fmt.Sprintf(" Those shown were learned alongside the probe %s of %s.", m.Learned.Source, m.Learned.Target)
}
