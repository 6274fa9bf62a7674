package deploytest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// simulated is a drive of a fleet, as Prometheus sees it during twelve hours.
type simulated struct {
	node, id, model, firmware string
	// engine is the version that measures it: in the first hours and, after an upgrade,
	// in the following ones.
	engine [2]string
	// upgraded is the hour of the upgrade; 0 means none.
	upgraded int
	// slower is the factor by which it is slower than its model, before and after the upgrade.
	slower [2]float64
	// degraded says that its node has already found it degraded.
	degraded bool
	// hostDegraded says that its node has found itself slower.
	hostDegraded bool
	// changed holds the changes of conditions that its node saw, and effect is their factor.
	changed   []string
	effect    float64
	changedAt float64 // in seconds; negative: before the test
}

const (
	simulatedHours = 12
	perHour        = 2 // evaluations
)

// simulatedFleet returns drives of one model, one firmware and one engine that differ
// by three percent, on ten nodes or on one node each.
func simulatedFleet(drives int) []*simulated {
	random := rand.New(rand.NewPCG(16, uint64(drives)))
	fleet := make([]*simulated, drives)
	for i := range fleet {
		own := math.Exp(0.03 * random.NormFloat64())
		fleet[i] = &simulated{
			node: fmt.Sprintf("stor-%02d", i%10), id: fmt.Sprintf("eui.%03d", i), model: "PM9A3", firmware: "A",
			engine: [2]string{"1", "1"}, slower: [2]float64{own, own},
		}
	}
	return fleet
}

// by makes a drive slower the whole time.
func (d *simulated) by(factor float64) {
	d.slower = [2]float64{d.slower[0] * factor, d.slower[1] * factor}
}

// change makes a drive slower because of changed conditions:
// `condition="kernel",from="6.1",to="6.8"`.
func (d *simulated) change(factor float64, changed ...string) {
	d.by(factor)
	d.changed, d.effect = changed, factor
}

// series returns the series of a drive. What changes at an upgrade has one series
// before and one after.
func (d *simulated) series() []string {
	labels := fmt.Sprintf(`job="ssdprobe",instance=%q,device="nvme0n1",id=%q`, d.node, d.id)
	all := simulatedHours * perHour
	before := all
	if d.upgraded > 0 {
		before = d.upgraded * perHour
	}
	constant := func(v float64) string { return fmt.Sprintf("%g+0x%d", v, all) }
	changing := func(a, b float64) string {
		if before == all {
			return constant(a)
		}
		return fmt.Sprintf("%g+0x%d %g+0x%d", a, before-1, b, all-before)
	}
	list := []string{
		fmt.Sprintf(`{series: 'ssdprobe_device_info{%s,model=%q,firmware=%q,transport="pcie",kind="disk"}', values: %s}`, labels, d.model, d.firmware, constant(1)),
		fmt.Sprintf(`{series: 'ssdprobe_device_size_bytes{%s}', values: %s}`, labels, constant(1920383410176)),
		fmt.Sprintf(`{series: 'ssdprobe_probe_iops{%s,probe="read-4k"}', values: %s}`, labels, changing(12000/d.slower[0], 12000/d.slower[1])),
	}
	for percentile, seconds := range map[string]float64{"50": 80e-6, "95": 110e-6, "99": 150e-6, "99.9": 400e-6} {
		list = append(list, fmt.Sprintf(`{series: 'ssdprobe_probe_latency_percentile_seconds{%s,probe="read-4k",percentile=%q}', values: %s}`,
			labels, percentile, changing(seconds*d.slower[0], seconds*d.slower[1])))
	}
	if d.hostDegraded {
		list = append(list, fmt.Sprintf(`{series: 'ssdprobe_host_health{job="ssdprobe",instance=%q,state="degraded"}', values: %s}`, d.node, constant(1)))
	}
	for _, changed := range d.changed {
		condition, _, _ := strings.Cut(changed, ",")
		list = append(list, fmt.Sprintf(`{series: 'ssdprobe_conditions_changed_timestamp_seconds{%s,%s}', values: %s}`, labels, condition, constant(d.changedAt)))
		for _, statistic := range record.Statistics() {
			list = append(list, fmt.Sprintf(`{series: 'ssdprobe_condition_effect_ratio{%s,probe="read-4k",%s,statistic=%q}', values: %s}`,
				labels, changed, statistic, constant(d.effect)))
		}
	}
	if d.degraded {
		list = append(list,
			fmt.Sprintf(`{series: 'ssdprobe_drive_health{%s,state="degraded"}', values: %s}`, labels, constant(1)),
			fmt.Sprintf(`{series: 'ssdprobe_drive_health_info{%s,state="degraded",scope="drive",witnesses="probes",source="read-4k"}', values: %s}`, labels, constant(1)))
	}
	return list
}

// engines returns the series that say which version runs on each node; the first drive of a node decides.
func engines(fleet []*simulated) []string {
	var list []string
	seen := map[string]bool{}
	for _, d := range fleet {
		if seen[d.node] {
			continue
		}
		seen[d.node] = true
		series := func(engine, values string) {
			list = append(list, fmt.Sprintf(`{series: 'ssdprobe_build_info{job="ssdprobe",instance=%q,engine=%q}', values: '%s'}`, d.node, engine, values))
		}
		if d.upgraded == 0 {
			series(d.engine[0], fmt.Sprintf("1+0x%d", simulatedHours*perHour))
			continue
		}
		before := d.upgraded * perHour
		series(d.engine[0], fmt.Sprintf("1+0x%d stale", before-1))
		series(d.engine[1], fmt.Sprintf("_x%d 1+0x%d", before, simulatedHours*perHour-before))
	}
	return list
}

// alert returns the labels that identify the alert about the drive.
func (d *simulated) alert() string {
	return fmt.Sprintf(`{alertname="SsdprobeDriveSlowerThanPeers",instance=%q,id=%q,model=%q,firmware=%q}`, d.node, d.id, d.model, d.firmware)
}

func alerts(drives []*simulated) []string {
	var list []string
	for _, d := range drives {
		list = append(list, d.alert())
	}
	return list
}

// raises requires that exactly the wanted alerts about speed fire at some time.
func raises(t *testing.T, fleet []*simulated, want ...string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "  promql_expr_test:\n  - eval_time: %dh\n", simulatedHours)
	b.WriteString("    expr: max by (alertname, instance, id, model, firmware, condition, from, to) " +
		"(max_over_time(ALERTS{alertstate=\"firing\",alertname=~\"Ssdprobe(Drive|Node|Host|Firmware|Change)(Slow.*|Degraded|Severe)\"}[12h]))\n    exp_samples:")
	for _, labels := range want {
		fmt.Fprintf(&b, "\n    - {labels: '%s', value: 1}", labels)
	}
	if len(want) == 0 {
		b.WriteString(" []\n")
	}
	evaluated(t, fleet, b.String())
}

// says requires that in the end the fleet's alert fires about this drive, about no other, and with this description.
func (d *simulated) says(t *testing.T, fleet []*simulated, description string) {
	t.Helper()
	evaluated(t, fleet, fmt.Sprintf(`  alert_rule_test:
  - eval_time: %dh
    alertname: SsdprobeDriveSlowerThanPeers
    exp_alerts:
    - exp_labels: {severity: warning, job: ssdprobe, instance: %s, device: nvme0n1, id: %s, model: %s, firmware: %s}
      exp_annotations:
        summary: A drive is far slower than the drives of its model on other nodes.
        description: %q
        runbook_url: https://github.com/ssdprobe/ssdprobe/blob/main/docs/runbook.md#ssdprobedriveslowerthanpeers
`, simulatedHours, d.node, d.id, d.model, d.firmware, description))
}

// evaluated runs a test of promtool after rules and alerts were evaluated over the hours of a fleet.
func evaluated(t *testing.T, fleet []*simulated, test string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "rule_files: []\nevaluation_interval: %dm\n", 60/perHour)
	b.WriteString("group_eval_order: [ssdprobe-devices, ssdprobe-fleet, ssdprobe-changes, ssdprobe-peers, ssdprobe-baselines, ssdprobe-speed]\n")
	fmt.Fprintf(&b, "tests:\n- interval: %dm\n  input_series:\n", 60/perHour)
	lines := engines(fleet)
	for _, d := range fleet {
		lines = append(lines, d.series()...)
	}
	for _, line := range lines {
		fmt.Fprintf(&b, "  - %s\n", line)
	}
	b.WriteString(test)
	testRules(t, b.String())
}
