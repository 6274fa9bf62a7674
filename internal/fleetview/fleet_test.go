package fleetview_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/fleetview"
	"github.com/ssdprobe/ssdprobe/internal/promapi"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// now is the time of the queries. It is in the past, because Prometheus accepts only samples that are some hours
// old in blocks.
var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// history is what Prometheus recorded, in the OpenMetrics text format: one sample for each series.
type history struct {
	families map[string]*strings.Builder
	order    []string
}

// put adds a sample that is some time older than now.
func (h *history) put(metric, labels string, value float64, ago time.Duration) {
	if h.families == nil {
		h.families = map[string]*strings.Builder{}
	}
	b := h.families[metric]
	if b == nil {
		b = &strings.Builder{}
		h.families[metric], h.order = b, append(h.order, metric)
		fmt.Fprintf(b, "# TYPE %s gauge\n", metric)
	}
	fmt.Fprintf(b, "%s{job=\"ssdprobe\",%s} %g %d\n", metric, labels, value, now.Add(-ago).Unix())
}

func (h *history) text() string {
	var all strings.Builder
	for _, name := range h.order {
		all.WriteString(h.families[name].String())
	}
	return all.String() + "# EOF\n"
}

// drive is what a node exports of one drive.
type drive struct {
	node, id, model, firmware string
	state                     record.DriveVerdict
	ratio                     float64    // 0 when there is none
	within                    [2]float64 // its interval; 0 when there is none
	excess                    float64    // against its peers on all nodes; 0 when not compared
	witnesses, scope          string
}

func (h *history) drive(d drive) {
	labels := fmt.Sprintf(`instance=%q,device="nvme%sn1",id=%q`, d.node, strings.TrimPrefix(d.id, "eui."), d.id)
	for _, state := range record.DriveVerdicts() {
		one := 0.0
		if state == d.state {
			one = 1
		}
		h.put("ssdprobe_drive_health", labels+fmt.Sprintf(`,state=%q`, state), one, 0)
	}
	h.put("ssdprobe_device_info", labels+fmt.Sprintf(`,model=%q,firmware=%q,kind="disk"`, d.model, d.firmware), 1, 0)
	if d.ratio > 0 {
		h.put("ssdprobe_drive_health_slower_ratio", labels, d.ratio, 0)
		h.put("ssdprobe_drive_health_since_timestamp_seconds", labels, float64(now.Add(-78*time.Minute).Unix()), 0)
	}
	if d.within[0] > 0 {
		h.put("ssdprobe_drive_health_slower_ratio_lower", labels, d.within[0], 0)
		h.put("ssdprobe_drive_health_slower_ratio_upper", labels, d.within[1], 0)
	}
	if d.witnesses != "" {
		h.put("ssdprobe_drive_health_info", labels+fmt.Sprintf(`,state=%q,scope=%q,witnesses=%q,source="read-4k"`, d.state, d.scope, d.witnesses), 1, 0)
	}
	if d.excess > 0 {
		h.put("device:ssdprobe_probe_level_seconds:excess", labels+fmt.Sprintf(`,model=%q,size="4e12",kind="disk",engine="2",probe="read-4k",statistic="latency_p50_seconds"`, d.model), d.excess, 0)
	}
}

// some returns a fleet with one of everything.
func some() history {
	var h history
	h.drive(drive{node: "stor-10", id: "eui.1", model: "PM9A3", firmware: "A", state: record.Healthy, excess: 1.01})
	h.drive(drive{node: "stor-2", id: "eui.2", model: "PM9A3", firmware: "A", state: record.Severe, ratio: 2.5, within: [2]float64{2.41, 2.6}, excess: 2.4, witnesses: "probes,traffic", scope: "drive"})
	h.drive(drive{node: "stor-2", id: "eui.3", model: "PM9A3", firmware: "B", state: record.Degraded, ratio: 1.4, excess: 1.2, witnesses: "probes", scope: "batch"})
	// Slow from the first day: its node only knows that it got a little slower since.
	h.drive(drive{node: "stor-2", id: "eui.4", model: "PM9A3", firmware: "B", state: record.Watch, ratio: 1.1, within: [2]float64{1.05, 1.15}, excess: 1.6})
	h.drive(drive{node: "stor-10", id: "eui.6", model: "PM9A3", firmware: "A", state: record.Healthy, excess: 1.4}) // for an hour
	h.drive(drive{node: "stor-3", id: "eui.5", model: "970 PRO", state: record.Unjudged})
	h.put("model:ssdprobe_probe_level_seconds:limit", `model="PM9A3",size="4e12",kind="disk",engine="2",probe="read-4k",statistic="latency_p50_seconds"`, 1.3, 0)
	// The recording rules of another cluster know the model as well.
	h.put("model:ssdprobe_probe_level_seconds:limit", `cluster="b",model="PM9A3",size="4e12",kind="disk",engine="2",probe="read-4k",statistic="latency_p50_seconds"`, 1.3, 0)
	h.put("model:ssdprobe_probe_level_seconds:firmware_limit", `cluster="b",model="PM9A3",size="4e12",kind="disk",engine="2",probe="read-4k",statistic="latency_p50_seconds"`, 1.15, 0)
	h.put("ALERTS", `alertname="SsdprobeDriveSlowerThanPeers",alertstate="firing",instance="stor-2",device="nvme4n1",id="eui.4"`, 1, 0)
	// Another replica has not yet seen that a drive became severe.
	h.put("ssdprobe_drive_health", `replica="b",instance="stor-2",device="nvme2n1",id="eui.2",state="degraded"`, 1, 0)
	h.put("ssdprobe_host_health", `replica="b",instance="stor-2",state="healthy"`, 1, 0)
	h.put("model_firmware:ssdprobe_probe_level_seconds:vs_fastest", `model="PM9A3",firmware="B",size="4e12",kind="disk",engine="2",probe="read-4k",statistic="latency_p50_seconds",fastest="A"`, 1.2, 0)
	h.put("model:ssdprobe_probe_level_seconds:firmware_limit", `model="PM9A3",size="4e12",kind="disk",engine="2",probe="read-4k",statistic="latency_p50_seconds"`, 1.15, 0)
	for _, replica := range []string{"a", "b"} {
		h.put("ssdprobe_drive_health_attribution_info", fmt.Sprintf(`replica=%q,instance="stor-2",device="nvme2n1",id="eui.2",condition="pcie_link",from="16 GT/s x4",to=""`, replica), 1, 0)
		h.put("ssdprobe_drive_health_attribution_info", fmt.Sprintf(`replica=%q,instance="stor-2",device="nvme2n1",id="eui.2",condition="firmware",from="A",to="B"`, replica), 1, 0)
	}
	h.put("ssdprobe_nvme_power_on_seconds_total", `instance="stor-2",device="nvme2",id="eui.2"`, 40000*3600, 0)
	for node, state := range map[string]record.DriveVerdict{"stor-2": record.Degraded, "stor-3": record.Unjudged, "stor-10": record.Healthy} {
		for _, s := range record.DriveVerdicts() {
			one := 0.0
			if s == state {
				one = 1
			}
			h.put("ssdprobe_host_health", fmt.Sprintf(`instance=%q,state=%q`, node, s), one, 0)
		}
		h.put("ssdprobe_build_info", fmt.Sprintf(`instance=%q,version="1"`, node), 1, 0)
	}
	h.put("ssdprobe_host_health_slower_ratio", `instance="stor-2"`, 1.22, 0)
	h.put("ssdprobe_host_health_slower_ratio_lower", `instance="stor-2"`, 1.18, 0)
	h.put("ssdprobe_host_health_slower_ratio_upper", `instance="stor-2"`, 1.27, 0)
	h.put("ssdprobe_host_health_since_timestamp_seconds", `instance="stor-2"`, float64(now.Add(-3*time.Hour).Unix()), 0)
	h.put("ssdprobe_build_info", `instance="stor-9",version="1"`, 1, 3*time.Hour)
	h.put("ssdprobe_build_info", `instance="stor-4",version="1"`, 1, 0) // it has no drive
	return h
}

func ask(t *testing.T, h history) (fleetview.Fleet, error) {
	t.Helper()
	testenv.Installed(t, "promtool")
	s := promtest.StartWith(t, h.text())
	server, err := promapi.New(s.URL, http.DefaultClient)
	require.NoError(t, err)
	return fleetview.Ask(t.Context(), server, now)
}

func TestFleet(t *testing.T) {
	f, err := ask(t, some())
	require.NoError(t, err)
	require.Len(t, f.Drives, 6)
	first := f.Drives[0]
	assert.Equal(t, record.Severe, first.Verdict)
	assert.InDelta(t, 2.4, first.VsPeers, 1e-9)
	first.VsPeers = 0
	text, err := json.Marshal(first)
	require.NoError(t, err)
	assert.JSONEq(t, `{"node": "stor-2", "device": "nvme2n1", "id": "eui.2", "kind": "disk", "model": "PM9A3", "firmware": "A", "verdict": "severe",
		"ratio": 2.5, "ratio_lower": 2.41, "ratio_upper": 2.6, "since": "`+first.Since.Format(time.RFC3339)+`", "by": ["probes", "traffic", "fleet"],
		"attribution": [{"condition": "firmware", "from": "A", "to": "B"}, {"condition": "pcie_link", "from": "16 GT/s x4", "to": ""}], "limit": 1.3, "probe": "read-4k", "statistic": "latency_p50_seconds",
		"power_on_ns": 144000000000000000}`, string(text))
	assert.True(t, first.Since.Equal(now.Add(-78*time.Minute)))
	born := f.Drives[1]
	assert.Equal(t, "eui.4", born.ID)
	assert.Equal(t, record.Degraded, born.Verdict, "all nodes together know it")
	assert.Equal(t, []string{"fleet"}, born.By)
	assert.Equal(t, fleetview.Slower{Ratio: 1.6}, born.Slower, "the interval is of another ratio")
	assert.True(t, f.Drives[2].Batch)
	assert.Equal(t, "eui.6", f.Drives[3].ID)
	assert.Equal(t, record.Watch, f.Drives[3].Verdict, "an hour is no verdict")
	assert.Equal(t, record.Unjudged, f.Drives[4].Verdict)
	assert.Equal(t, "eui.1", f.Drives[5].ID)
	assert.Equal(t, 5, f.Compared)
	assert.Equal(t, []string{"stor-9"}, f.Silent)
	assert.Equal(t, []string{"stor-4"}, f.Empty)
	assert.Equal(t, []fleetview.Host{
		{
			Node: fleetview.Node{Name: "stor-2"}, Drives: 3, Verdict: record.Degraded, Slower: fleetview.Slower{Ratio: 1.22, Lower: 1.18, Upper: 1.27},
			Since: time.UnixMilli(now.Add(-3 * time.Hour).UnixMilli()),
		},
		{Node: fleetview.Node{Name: "stor-3"}, Drives: 1, Verdict: record.Unjudged}, {Node: fleetview.Node{Name: "stor-10"}, Drives: 2, Verdict: record.Healthy},
	}, f.Hosts)
	require.Len(t, f.Models, 3)
	assert.Equal(t, fleetview.Model{
		Model: "PM9A3", Firmware: "B", Drives: 2, Verdicts: map[record.DriveVerdict]int{record.Degraded: 2}, VsFastest: 1.2, Slower: true,
	}, f.Models[0])

	var short, all, table bytes.Buffer
	f.Problems = []string{"store b is away"}
	require.NoError(t, f.Text(&short, false))
	require.NoError(t, f.Text(&all, true))
	for _, want := range []string{
		"6 drives on 3 nodes at ", "1 severe, 2 degraded, 1 watch, 1 unknown, 1 healthy", "no answer now, but a daemon ran within the last day: stor-9\n", "a daemon runs, but watches no drive: stor-4\n",
		"the answer may be incomplete: store b is away",
		"probes, traffic, fleet", "probes, together with others", "2.50× (2.41× to 2.60×)  1 h ago", "1.60×  ", "1.40×  ", "1.22× (1.18× to 1.27×)  3 h ago", "1.20× slower",
		"changed with it: firmware A → B and PCIe link 16 GT/s x4 → unknown\n",
	} {
		assert.Contains(t, short.String(), want)
	}
	assert.NotContains(t, short.String(), "nvme1n1", "it is healthy")
	assert.Contains(t, all.String(), "nvme1n1")
	require.NoError(t, f.CSV(&table))
	lines, err := csv.NewReader(&table).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 7)
	assert.Equal(t, []string{"stor-2", "nvme2n1", "eui.2", "disk", "PM9A3", "A", "severe", "2.5", "2.41", "2.6", "2026-05-04T10:42:00Z", "probes traffic fleet", "false", "2.4", "1.3", "read-4k", "latency_p50_seconds", "1.44e+08", "", "firmware A → B; PCIe link 16 GT/s x4 → unknown"}, lines[1])
	assert.Equal(t, []string{"degraded", "1.6", "", ""}, lines[2][6:10])

	table.Reset()
	require.NoError(t, fleetview.Fleet{Drives: []fleetview.Drive{{Model: "=1+1"}}}.CSV(&table))
	assert.Contains(t, table.String(), ",'=1+1,", "a spreadsheet would take it for a formula")

	one := f.Only(func(d fleetview.Drive) bool { return d.Model == "970 PRO" })
	assert.Len(t, one.Drives, 1)
	assert.Len(t, one.Models, 1)
	_, err = json.Marshal(f)
	require.NoError(t, err)
}

// A server without series of ssdprobe is reported as such; one without the recording rules is told what is
// missing.
func TestAServerThatKnowsLittle(t *testing.T) {
	var h history
	h.put("up", `instance="a"`, 1, 0)
	_, err := ask(t, h)
	require.ErrorIs(t, err, fleetview.ErrNothing)

	var bare history
	bare.drive(drive{node: "stor-1", id: "eui.1", model: "PM9A3", firmware: "A", state: record.Healthy})
	f, err := ask(t, bare)
	require.NoError(t, err)
	var short bytes.Buffer
	require.NoError(t, f.Text(&short, false))
	assert.Contains(t, short.String(), "that needs the recording rules")
}

// A fleet whose only node has no drive is no mistake of the user.
func TestAFleetWithoutDrives(t *testing.T) {
	var h history
	h.put("ssdprobe_build_info", `instance="stor-4",version="1"`, 1, 0)
	f, err := ask(t, h)
	require.NoError(t, err)
	var shown bytes.Buffer
	require.NoError(t, f.Text(&shown, false))
	assert.Contains(t, shown.String(), "watches no drive: stor-4\n")
	assert.NotContains(t, shown.String(), "--model", "nothing was left out")
}

// Nodes of two clusters may have the same name, and targets the same id.
func TestNodesOfTheSameName(t *testing.T) {
	var h history
	for cluster, state := range map[string]record.DriveVerdict{"east": record.Severe, "west": record.Healthy} {
		labels := fmt.Sprintf(`cluster=%q,instance="stor-1",device="sda",id="file:/srv"`, cluster)
		h.put("ssdprobe_drive_health", fmt.Sprintf(`%s,state=%q`, labels, state), 1, 0)
		h.put("ssdprobe_device_info", fmt.Sprintf(`%s,model="of %s",kind="file"`, labels, cluster), 1, 0)
		h.put("ssdprobe_host_health", fmt.Sprintf(`cluster=%q,instance="stor-1",state="healthy"`, cluster), 1, 0)
		h.put("ssdprobe_build_info", fmt.Sprintf(`cluster=%q,instance="stor-2",version="1"`, cluster), 1, time.Hour)
	}
	f, err := ask(t, h)
	require.NoError(t, err)
	require.Len(t, f.Drives, 2)
	assert.Equal(t, fleetview.Node{Cluster: "east", Name: "stor-1"}, f.Drives[0].Node)
	assert.Equal(t, "of east", f.Drives[0].Model)
	assert.Equal(t, record.Healthy, f.Drives[1].Verdict)
	assert.Len(t, f.Hosts, 2)
	assert.Equal(t, []string{"east/stor-2", "west/stor-2"}, f.Silent)
	var shown, table bytes.Buffer
	require.NoError(t, f.Text(&shown, true))
	assert.Contains(t, shown.String(), "2 drives on 2 nodes")
	assert.Regexp(t, `east/stor-1 +/srv on sda +severe`, shown.String(), "a drive may have several files, and be watched itself")
	require.NoError(t, f.CSV(&table))
	assert.Contains(t, table.String(), ",east,\n")
	text, err := json.Marshal(f.Drives[0])
	require.NoError(t, err)
	assert.Contains(t, string(text), `"cluster":"east","node":"stor-1"`)
}

// Servers of several clusters record limits for their own drives, and one alerts by these. Drives of a cluster without limits of
// its own have those of all.
func TestEachClusterHasItsLimits(t *testing.T) {
	const level = `model="PM9A3",size="4e12",kind="disk",engine="2",probe="read-4k",statistic="latency_p50_seconds"`
	var h history
	for _, cluster := range []string{"steady", "varied", "new"} {
		labels := fmt.Sprintf(`cluster=%q,instance="stor-1",device="nvme0n1",id="eui.1"`, cluster)
		h.put("ssdprobe_drive_health", labels+`,state="healthy"`, 1, 0)
		h.put("device:ssdprobe_probe_level_seconds:excess", labels+","+level, 1.5, 0)
	}
	for cluster, limit := range map[string]float64{"steady": 1.25, "varied": 3} {
		h.put("model:ssdprobe_probe_level_seconds:limit", fmt.Sprintf(`cluster=%q,%s`, cluster, level), limit, 0)
		h.put("model:ssdprobe_probe_level_seconds:firmware_limit", fmt.Sprintf(`cluster=%q,%s`, cluster, level), limit, 0)
	}
	for cluster, firmware := range map[string]string{"steady": "A", "varied": "B", "new": "C"} {
		h.put("ssdprobe_device_info", fmt.Sprintf(`cluster=%q,instance="stor-1",device="nvme0n1",id="eui.1",model="PM9A3",firmware=%q,kind="disk"`, cluster, firmware), 1, 0)
		h.put("model_firmware:ssdprobe_probe_level_seconds:vs_fastest", fmt.Sprintf(`cluster=%q,firmware=%q,%s`, cluster, firmware, level), 1.4, 0)
	}
	h.put("ALERTS", `alertname="SsdprobeDriveSlowerThanPeers",alertstate="firing",cluster="steady",instance="stor-1",device="nvme0n1",id="eui.1"`, 1, 0)
	f, err := ask(t, h)
	require.NoError(t, err)
	limits, verdicts := map[string]float64{}, map[string]record.DriveVerdict{}
	for _, d := range f.Drives {
		limits[d.Cluster], verdicts[d.Cluster] = d.Limit, d.Verdict
		assert.InDelta(t, 1.5, d.VsPeers, 1e-9, d.Cluster)
	}
	assert.Equal(t, map[string]float64{"steady": 1.25, "varied": 3, "new": 3}, limits)
	assert.Equal(t, map[string]record.DriveVerdict{"steady": record.Degraded, "varied": record.Healthy, "new": record.Healthy}, verdicts)
	slower := map[string]bool{}
	for _, m := range f.Models {
		slower[m.Firmware] = m.Slower
	}
	assert.Equal(t, map[string]bool{"A": true, "B": false, "C": false}, slower)
}

// A ratio to 0 is no figure, and JSON has no form for it.
func TestWhatIsNoNumberIsLeftOut(t *testing.T) {
	h := some()
	h.drive(drive{node: "stor-2", id: "eui.7", model: "BM1733", firmware: "C", state: record.Watch, ratio: math.Inf(1), within: [2]float64{1, math.Inf(1)}, excess: math.NaN()})
	h.put("model:ssdprobe_probe_level_seconds:limit", `model="BM1733",size="4e12",kind="disk",engine="2",probe="read-4k",statistic="latency_p50_seconds"`, math.Inf(1), 0)
	h.put("model_firmware:ssdprobe_probe_level_seconds:vs_fastest", `model="BM1733",firmware="C",size="4e12",kind="disk",engine="2",probe="read-4k",statistic="latency_p50_seconds",fastest="D"`, math.NaN(), 0)
	h.put("ssdprobe_nvme_power_on_seconds_total", `instance="stor-2",device="nvme7",id="eui.7"`, math.Inf(1), 0)
	f, err := ask(t, h)
	require.NoError(t, err)
	_, err = json.Marshal(f)
	require.NoError(t, err)
	require.Len(t, f.Drives, 7)
	i := slices.IndexFunc(f.Drives, func(d fleetview.Drive) bool { return d.ID == "eui.7" })
	assert.Equal(t, fleetview.Slower{}, f.Drives[i].Slower)
	assert.Zero(t, f.Drives[i].VsPeers)
	assert.Zero(t, f.Drives[i].PowerOn)
}

// BenchmarkFleet asks for 2 000 drives on 100 nodes.
func BenchmarkFleet(b *testing.B) {
	var h history
	for i := range 2000 {
		h.drive(drive{node: fmt.Sprintf("stor-%03d", i%100), id: fmt.Sprintf("eui.%d", i), model: "PM9A3", firmware: "A", state: record.Healthy, excess: 1 + float64(i%17)/200})
	}
	h.put("model:ssdprobe_probe_level_seconds:limit", `model="PM9A3",size="4e12",kind="disk",engine="2",probe="read-4k",statistic="latency_p50_seconds"`, 1.3, 0)
	s := promtest.StartWith(b, h.text())
	server, err := promapi.New(s.URL, http.DefaultClient)
	require.NoError(b, err)
	for b.Loop() {
		f, err := fleetview.Ask(b.Context(), server, now)
		require.NoError(b, err)
		require.Len(b, f.Drives, 2000)
	}
}
