package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// CostOptions describes what a cost model is made for.
type CostOptions struct {
	// Device is the device number (major:minor) of the whole disk; empty when it is not known.
	Device string
	// Stack names the layers between the target and the device ("crypt on eui.…", record.Conditions); empty when there
	// are none.
	Stack string
	// Percentile is the latency percentile in the line for io.cost.qos, 0 to 100.
	Percentile int
	// Read says that writing was not allowed, so only reads were measured.
	Read bool
}

// costNames returns the names that io.cost.model uses for the coefficients, in the order of its line. A step that
// measures a coefficient has the same name.
func costNames() []string {
	return []string{"rbps", "rseqiops", "rrandiops", "wbps", "wseqiops", "wrandiops"}
}

// The bounds of the rate at which io.cost issues I/Os, in percent of the rate in the model. The values are those of the
// example in Documentation/admin-guide/cgroup-v2.rst. Narrower bounds hold a device to its model, wider ones rely on its
// latencies.
const vrateMin, vrateMax = 50, 150

// CostModel builds the kernel's cost model from the steps that are named after its coefficients, given the warnings of
// the run. It leaves out steps that measured something other than the device. If a coefficient is then missing, it gives
// no line, because the kernel would fill the gap with a value of some other drive. It returns nil when there are no such
// steps.
func CostModel(steps []record.Step, run []record.Warning, o CostOptions) *record.CostModel {
	m := record.CostModel{Device: o.Device, Coefficients: []record.CostCoefficient{}}
	var without groups[string, []string] // names by the reason why they have no figure
	for _, name := range costNames() {
		if o.Read && name[0] == 'w' {
			continue
		}
		c, latency, found := coefficient(steps, name, float64(o.Percentile)/100)
		switch {
		case !found:
			add(&without, "not measured", name)
			continue
		case c.Repeats == 0:
			add(&without, "measured, but no repeat counts: "+strings.Join(c.Codes, ", "), name)
		case c.Of.Mean.Wide():
			add(&without, fmt.Sprintf("its %d repeats differ by %.0f %%; want more --repeats", c.Repeats, 100*(c.Of.Max-c.Of.Min)/c.Of.Mean.Value), name)
		case name == "rrandiops":
			m.Read = latency
		case name == "wrandiops":
			m.Write = latency
		}
		m.Coefficients = append(m.Coefficients, c)
	}
	if len(m.Coefficients) == 0 {
		return nil
	}
	for _, why := range without.keys {
		m.Withheld = append(m.Withheld, fmt.Sprintf("%s (%s)", strings.Join(*without.at(why), ", "), why))
	}
	if o.Read {
		m.Withheld = append(m.Withheld, "the three for writes, as only reads were measured (--destroy SERIAL allows overwriting the device; or name a directory on it)")
	}
	if o.Device == "" {
		m.Withheld = append(m.Withheld, "the number of the device, which is not known")
	}
	if o.Stack != "" { // encryption and volume managers have limits of their own
		m.Withheld = append(m.Withheld, fmt.Sprintf("figures of the device alone (measured through %s; name the device itself)", o.Stack))
	}
	if code := notTheDevice(run); code != "" {
		m.Withheld = append(m.Withheld, fmt.Sprintf("figures of the device alone (%s)", code))
	}
	if len(m.Withheld) == 0 {
		m.ModelLine, m.QoSLine = modelLine(m), qosLine(m)
	}
	return &m
}

// coefficient combines the repeats of a step into one coefficient, with the given quantile of their latencies. found is
// false when no step measures it.
func coefficient(steps []record.Step, name string, q float64) (c record.CostCoefficient, latency *record.CostLatency, found bool) {
	c = record.CostCoefficient{Name: name, Unit: "IOPS"}
	if strings.HasSuffix(name, "bps") {
		c.Unit = "B/s"
	}
	var rates []float64
	var latencies []record.Histogram
	for _, s := range steps {
		if cmp.Or(s.Series, s.Name) != name {
			continue
		}
		found = true
		code := spoiled(s)
		if results := results(s); code == "" && len(results) == 1 {
			rate := results[0].IOPS
			if c.Unit == "B/s" {
				rate = results[0].BytesPerSecond
			}
			rates = append(rates, rate)
			latencies = append(latencies, results[0].Latency)
			c.CPUBound = c.CPUBound || warned(s, record.WarnCPUBound)
			continue
		}
		c.LeftOut++
		if code = cmp.Or(code, "no result"); !slices.Contains(c.Codes, code) {
			c.Codes = append(c.Codes, code)
		}
	}
	if c.Repeats = len(rates); c.Repeats == 0 {
		return c, nil, found
	}
	c.Of = spreadOf(rates)
	all := record.Merge(latencies...)
	return c, &record.CostLatency{Percentile: 100 * q, Latency: all.Quantile(q), Unsure: !record.Supported(q, all.Count())}, true
}

// spoiled returns the code of the warning that says that a step measured something other than the device or was cut short;
// empty when there is none. The lines configure the kernel, so unlike in a comparison no I/O of others is tolerated.
func spoiled(step record.Step) string {
	if code := step.Spoiled(); code != "" || !warned(step, record.WarnOthersActive) {
		return code
	}
	return record.WarnOthersActive
}

// notTheDevice does what spoiled does for the warnings of a whole run. An early end and others that were active at the
// start are reported by the steps concerned. A CPU limit is reported with the line.
func notTheDevice(warnings []record.Warning) string {
	for _, w := range warnings {
		switch w.Code {
		case record.WarnIOLimited, record.WarnUnmapped, record.WarnPoolSmall:
			return w.Code
		}
	}
	return ""
}

// modelLine returns the line for io.cost.model. The kernel reads whole numbers.
func modelLine(m record.CostModel) string {
	line := m.Device + " ctrl=user model=linear"
	for _, c := range m.Coefficients {
		line += fmt.Sprintf(" %s=%.0f", c.Name, math.Round(c.Of.Mean.Value))
	}
	return line
}

// qosLine returns the line for io.cost.qos: latencies in whole microseconds, percentages with two decimals.
func qosLine(m record.CostModel) string {
	micros := func(d time.Duration) int64 { return max(1, int64(math.Ceil(float64(d)/float64(time.Microsecond)))) }
	return fmt.Sprintf("%s enable=1 ctrl=user rpct=%.2f rlat=%d wpct=%.2f wlat=%d min=%.2f max=%.2f", m.Device,
		m.Read.Percentile, micros(m.Read.Latency), m.Write.Percentile, micros(m.Write.Latency), float64(vrateMin), float64(vrateMax))
}
