package deploytest

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/dashboards"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
)

// A graph that reads a series of each drive or node fails from some hundred nodes on: Prometheus reads 50 million
// samples for a query. So graphs of the fleet read sums, or what is chosen.
func TestGraphsOfTheFleetReadSums(t *testing.T) {
	selector := regexp.MustCompile(`\b(\w+:)?(?:ssdprobe|process)_\w+(:\w+)?(?:{[^}]*})?`)
	sum := regexp.MustCompile(`^(model|model_\w+|condition|fleet):`)
	found := 0
	for _, r := range slices.Concat(dashboards.All()["fleet"].Rows, dashboards.All()["runs"].Rows) {
		for _, p := range r.Panels {
			for _, q := range p.Queries {
				if q.Instant {
					continue
				}
				for _, asked := range selector.FindAllString(q.Expr, -1) {
					found++
					assert.True(t, sum.MatchString(asked) || strings.Contains(asked, `none!~"$instance`), "%s: %s", p.Title, asked)
				}
			}
		}
	}
	assert.Greater(t, found, 30)
}

// While all are shown, a graph is what was recorded, and nothing else is read. When nodes or drives are chosen, it is
// about them.
func TestGraphsOfTheFleetAreOfWhatIsChosen(t *testing.T) {
	at := time.Unix(1767225600, 0)
	recorded, info, health := "", "", ""
	add := func(to *string, name, labels string, value int) {
		*to += fmt.Sprintf("%s{%s} %d %d\n", name, labels, value, at.Unix())
	}
	for _, model := range []string{"PM9A3", "P5510"} {
		add(&recorded, "model_state:ssdprobe_drives:count", `state="severe",model="`+model+`"`, 40)
	}
	for _, drive := range [][3]string{{"stor-1", "eui.1", "PM9A3"}, {"stor-1", "eui.2", "P5510"}, {"stor-2", "eui.3", "PM9A3"}} {
		labels := fmt.Sprintf(`job="ssdprobe",instance=%q,device="nvme0n1",id=%q`, drive[0], drive[1])
		add(&info, "device:ssdprobe_device_info:unique", labels+`,model="`+drive[2]+`"`, 1)
		add(&health, "ssdprobe_drive_health", labels+`,state="severe"`, 1)
	}
	s := promtest.StartWith(t, recorded+info+health+"# EOF\n")
	expr := panelOf(t, "fleet", "Worst drives, hosts and batches", "Drives by verdict").Queries[0].Expr
	for _, c := range []struct {
		chosen       map[string]string
		drives, read int // read: samples
	}{
		{nil, 80, 2},
		{map[string]string{"model": "PM9A3"}, 40, 1},
		{map[string]string{"instance": "stor-1"}, 2, 4},
		{map[string]string{"instance": "(stor-1|stor-2)"}, 3, 6},
		{map[string]string{"instance": "stor-1", "model": "PM9A3"}, 1, 3},
		{map[string]string{"id": "eui.3"}, 1, 2},
		{map[string]string{"device": "nvme0n1"}, 3, 6},
		{map[string]string{"device": "nvme1n1"}, 0, 0},
	} {
		var data struct {
			Result []promtest.Series
			Stats  struct {
				Samples struct{ TotalQueryableSamples int }
			}
		}
		require.NoError(t, s.Ask(t, "/api/v1/query", url.Values{"query": {choose(expr, c.chosen)}, "time": {strconv.FormatInt(at.Unix(), 10)}, "stats": {"all"}}, &data))
		assert.Equal(t, c.read, data.Stats.Samples.TotalQueryableSamples, c.chosen)
		if c.drives == 0 {
			assert.Empty(t, data.Result, c.chosen)
		} else if assert.Len(t, data.Result, 1, c.chosen) {
			assert.Equal(t, strconv.Itoa(c.drives), data.Result[0].Value[1], c.chosen)
		}
	}
}

// A mean over clusters is that of their nodes, not of the clusters.
func TestTheMeanOfClustersIsThatOfTheirNodes(t *testing.T) {
	var e exposition
	for cluster, of := range map[string]struct{ nodes, mean, highest float64 }{`cluster="large"`: {30, 10e6, 20e6}, `cluster="small"`: {10, 30e6, 90e6}} {
		e.add("fleet:ssdprobe_nodes:count", cluster, of.nodes)
		e.add("fleet:ssdprobe_memory_bytes:avg", cluster, of.mean)
		e.add("fleet:ssdprobe_memory_bytes:max", cluster, of.highest)
	}
	s := promtest.StartWith(t, e.text())
	memory := panelOf(t, "fleet", "How well the fleet is watched", "Memory used by ssdprobe")
	for cluster, want := range map[string][]string{dashboards.AnyValue: {"90000000", "15000000"}, "large": {"20000000", "10000000"}, "small": {"90000000", "30000000"}} {
		for i, q := range memory.Queries {
			found := s.Query(t, e.at, choose(q.Expr, map[string]string{"cluster": cluster}))
			require.Len(t, found, 1, cluster)
			assert.Equal(t, want[i], found[0].Value[1], cluster)
		}
	}
}

// A node that is gone takes its drives out of all other figures.
func TestNodesThatDoNotAnswer(t *testing.T) {
	now := time.Unix(1767225600, 0)
	history := ""
	for node, ago := range map[string]time.Duration{"answers": 3 * time.Minute, "silent": 50 * time.Minute, "gone": 25 * time.Hour} {
		history += fmt.Sprintf("instance:ssdprobe_answered_timestamp_seconds:last{job=\"ssdprobe\",instance=%q} %d %d\n", node, now.Add(-ago).Unix(), now.Unix())
	}
	s := promtest.StartWith(t, history+"# EOF\n")
	count := panelOf(t, "fleet", "Now", "Nodes that do not answer").Queries[0].Expr
	list := panelOf(t, "fleet", "How well the fleet is watched", "Nodes that do not answer").Queries[0].Expr
	for instance, want := range map[string]string{dashboards.AnyValue: "1", "silent": "1", "answers": "0", "gone": "0"} {
		chosen := map[string]string{"instance": instance}
		counted := s.Query(t, now, choose(count, chosen))
		require.Len(t, counted, 1)
		assert.Equal(t, want, counted[0].Value[1], instance)
	}
	listed := s.Query(t, now, choose(list, nil))
	require.Len(t, listed, 1)
	assert.Equal(t, "silent", listed[0].Metric["instance"])
	last, ok := listed[0].Last()
	require.True(t, ok)
	assert.Equal(t, now.Add(-50*time.Minute), time.UnixMilli(int64(last)))
}

// A drive that is severe because it stalls has no ratio. It comes before drives that are only slow, in the table as in the
// choice of a hundred rows.
func TestTheWorstAreFirst(t *testing.T) {
	at := time.Unix(1767225600, 0)
	families := map[string]string{}
	add := func(name, labels string, value float64) {
		families[name] += fmt.Sprintf("%s{%s} %g %d\n", name, labels, value, at.Unix())
	}
	judged := func(node, state string, ratio float64) {
		host := fmt.Sprintf(`job="ssdprobe",instance=%q`, node)
		drive := host + `,device="nvme0n1",id="eui.1"`
		add("device:ssdprobe_device_info:unique", drive+`,model="PM9A3",firmware="A"`, 1)
		for kind, of := range map[string]string{"drive": drive, "host": host} {
			add("ssdprobe_"+kind+"_health_info", of+fmt.Sprintf(`,state=%q,scope="drive",witnesses="probes",source="read-4k"`, state), 1)
			if ratio > 0 {
				add("ssdprobe_"+kind+"_health_slower_ratio", of, ratio)
			}
		}
	}
	judged("watched", "watch", 5000)
	judged("degraded", "degraded", 1.3)
	judged("degraded-and-worse", "degraded", 2.5)
	judged("stalls", "severe", 0)
	judged("severe", "severe", 4)
	for i := range 98 {
		judged(fmt.Sprintf("other-%d", i), "watch", 1.1)
	}
	history := ""
	for _, lines := range families {
		history += lines
	}
	s := promtest.StartWith(t, history+"# EOF\n")
	for _, title := range []string{"Worst drives", "Hosts"} {
		p := panelOf(t, "fleet", "Worst drives, hosts and batches", title)
		assert.Empty(t, p.Options["sortBy"], "%s: the table would be sorted again", title)
		sorted := slices.IndexFunc(p.Transform, func(t dashboards.Object) bool { return t["id"] == "sortBy" })
		kept := slices.IndexFunc(p.Transform, func(t dashboards.Object) bool { return t["id"] == "filterFieldsByName" })
		require.True(t, 0 <= sorted && sorted < kept, "%s is sorted by a field that is no column", title)
		by := p.Transform[sorted]["options"].(dashboards.Object)["sort"].([]dashboards.Object)[0]
		assert.Equal(t, true, by["desc"], title)
		query := p.Queries[strings.TrimPrefix(by["field"].(string), "Value #")[0]-'A']
		rows := s.Query(t, at, choose(query.Expr, nil))
		require.Len(t, rows, 100, title)
		value := func(r promtest.Series) float64 {
			last, ok := r.Last()
			require.True(t, ok)
			return last
		}
		slices.SortFunc(rows, func(a, b promtest.Series) int { return cmp.Compare(value(b), value(a)) })
		var first []string
		for _, r := range rows[:5] {
			first = append(first, r.Metric["instance"])
		}
		assert.Equal(t, []string{"severe", "stalls", "degraded-and-worse", "degraded", "watched"}, first, title)
	}
}

// The queries of a table are about the same hundred drives or nodes: columns of others would be rows of their own.
func TestTablesOfTheFleetAreOfTheWorst(t *testing.T) {
	at := time.Unix(1767225600, 0)
	families := map[string][]string{}
	add := func(name, labels string, value float64) {
		families[name] = append(families[name], fmt.Sprintf("%s{%s} %g %d\n", name, labels, value, at.Unix()))
	}
	for i := range 150 {
		slower := 1 + float64(i)/100
		node := fmt.Sprintf(`job="ssdprobe",instance="stor-%03d"`, i)
		drive := node + `,device="nvme0n1",id="eui.1"`
		statistic := drive + `,probe="read-4k",statistic="iops"`
		add("device:ssdprobe_device_info:unique", drive+`,model="PM9A3",firmware="A"`, 1)
		add("ssdprobe_target_up", drive, 1)
		add("ssdprobe_drift_ratio", statistic, slower)
		add("ssdprobe_drift_ratio_lower", statistic, 1/slower) // another order
		add("ssdprobe_drift_state", statistic+`,state="regressed"`, 1)
		ofRun := drive + `,suite="quick"`
		for _, name := range []string{"last_completion_timestamp_seconds", "duration_seconds", "next_timestamp_seconds"} {
			add("ssdprobe_run_"+name, ofRun, slower)
		}
		add("ssdprobe_run_warning", ofRun+`,step="",code="depth"`, 1)
		for _, direction := range []string{"read", "write"} {
			step, family := ofRun+`,step="read"`, "ssdprobe_run_"+direction
			add(family+"_latency_percentile_seconds", step+`,percentile="99"`, slower)
			add(family+"_latency_percentile_ios", step+`,percentile="99"`, 1/slower)
			add(family+"_iops", step, 1/slower)
			add(family+"_bytes_per_second", step, 1/slower)
		}
		for kind, of := range map[string]string{"drive": drive, "host": node} {
			health := "ssdprobe_" + kind + "_health"
			add(health+"_info", of+`,state="degraded",scope="drive",witnesses="probes",source="read-4k"`, 1)
			add(health+"_since_timestamp_seconds", of, float64(i))
			if i != 0 { // the first only stalls, which is worse than most
				add(health+"_slower_ratio", of, slower)
			}
			add(health+"_slower_ratio_lower", of, 1/slower)
			add(health+"_slower_ratio_upper", of, 2)
		}
	}
	add("ssdprobe_host_health_info", `job="ssdprobe",instance="stor-well",state="unknown",reason="learning"`, 1)
	history := ""
	for _, lines := range families {
		history += strings.Join(lines, "")
	}
	s := promtest.StartWith(t, history+"# EOF\n")
	for _, c := range []struct {
		dashboard, row, title string
		unmeasured            bool // whether the first is among the worst, without a ratio
	}{
		{"fleet", "Worst drives, hosts and batches", "Worst drives", true},
		{"fleet", "Worst drives, hosts and batches", "Hosts", true},
		{"fleet", "Slow statistics, the worst first", "Against their own baseline", false},
		{"runs", "Last runs", "Last run of each suite", false},
		{"runs", "Last runs", "Reads, the slowest step first", false},
		{"runs", "Last runs", "Writes, the slowest step first", false},
	} {
		all := map[string]bool{}
		for i, q := range panelOf(t, c.dashboard, c.row, c.title).Queries {
			rows := s.Query(t, at, choose(q.Expr, nil))
			assert.InDelta(t, 100, len(rows), 1, "%s %d", c.title, i)
			for _, r := range rows {
				all[r.Metric["instance"]] = true
			}
		}
		assert.Len(t, all, 100, c.title)
		assert.True(t, all["stor-149"], c.title)
		assert.Equal(t, c.unmeasured, all["stor-000"], c.title)
	}
	assert.Len(t, s.Query(t, at, choose(panelOf(t, "runs", "Last runs", "Warnings of the last runs").Queries[0].Expr, nil)), 100)
}
