package replay_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/replay"
	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// recordedSite is a site both as a folder and as the series that Prometheus has of the daemons of its two nodes.
// The last drive is twice as slow from its first day on, and so busy that it is never probed.
type recordedSite struct {
	folder      string
	openMetrics string
	from, to    time.Time
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func recordSite(t *testing.T) recordedSite {
	t.Helper()
	const drives = 6
	site := drifttest.Site{Noise: "calm", Seed: 11, Drives: drives, Days: 0.35, Load: 0.2, Slower: 2, Born: true}.Scenario()
	csv := make([]strings.Builder, drives)
	series := map[string]*strings.Builder{} // by metric, because OpenMetrics wants the series of a metric together
	out := recordedSite{folder: t.TempDir()}
	for i, s := range site.Samples {
		if out.from.IsZero() {
			out.from = s.Time
		}
		out.to = s.Time
		at := s.Time.Unix()
		who := fmt.Sprintf(`instance="stor-%02d:10040",device="nvme%dn1",id="eui.%d"`, 7+i/4, i, i)
		put := func(metric, more string, v float64) {
			b := series[metric]
			if b == nil {
				b = &strings.Builder{}
				fmt.Fprintf(b, "# TYPE %s gauge\n", metric)
				series[metric] = b
			}
			fmt.Fprintf(b, "%s{%s%s} %s %d\n", metric, who, more, number(v), at)
		}
		firmware := "A"
		if at > out.from.Unix()+3600 {
			firmware = "B" // still the same drive
		}
		put("ssdprobe_device_info", `,model="M",kind="disk",firmware="`+firmware+`"`, 1)
		put("ssdprobe_device_size_bytes", "", 1<<40)
		row := []string{strconv.FormatInt(at, 10)}
		for k, v := range s.Values {
			if i == drives-1 {
				row = append(row, "")
				continue
			}
			row = append(row, number(v))
			metric, more := "ssdprobe_probe_iops", ""
			if k < 3 {
				metric, more = "ssdprobe_probe_latency_percentile_seconds", fmt.Sprintf(",percentile=%q", []string{"50", "95", "99"}[k])
			}
			put(metric, `,probe="read-4k"`+more, v)
		}
		for _, o := range []struct {
			operation     string
			rate, latency float64
		}{{"read", s.Others.Reads, s.Others.ReadLatency}, {"write", s.Others.Writes, s.Others.WriteLatency}} {
			ios := float64(int(30 * o.rate))
			more := fmt.Sprintf(",operation=%q", o.operation)
			put("ssdprobe_traffic_ios", more, ios)
			put("ssdprobe_traffic_latency_mean_seconds", more, o.latency)
			row = append(row, number(ios/30), number(o.latency))
		}
		fmt.Fprintf(&csv[i], "%s,firmware=%s\n", strings.Join(row, ","), firmware)
	}
	var described []string
	for i := range csv {
		header := "time,latency_p50_seconds,latency_p95_seconds,latency_p99_seconds,iops,others_read_iops,others_read_latency_seconds,others_write_iops,others_write_latency_seconds,conditions\n"
		require.NoError(t, os.WriteFile(filepath.Join(out.folder, fmt.Sprintf("stor-%02d:10040 nvme%dn1.csv", 7+i/4, i)), []byte(header+csv[i].String()), 0o600))
		described = append(described, fmt.Sprintf(`"stor-%02d:10040 nvme%dn1": {"model": "M", "size_bytes": %d}`, 7+i/4, i, 1<<40))
	}
	require.NoError(t, os.WriteFile(filepath.Join(out.folder, "drives.json"), []byte("{"+strings.Join(described, ",")+"}"), 0o600))
	var all strings.Builder
	for _, metric := range slices.Sorted(maps.Keys(series)) {
		all.WriteString(series[metric].String())
	}
	out.openMetrics = all.String() + "# EOF\n"
	return out
}

// The drives of a model across nodes, and those of a node, are read from a real Prometheus as from a folder.
func TestDrivesFromARealPrometheus(t *testing.T) {
	testenv.Installed(t, "promtool")
	site := recordSite(t)
	s := promtest.StartWith(t, site.openMetrics)
	query := replay.Query{URL: s.URL, Probe: "read-4k", From: site.from, To: site.to}

	folder, err := replay.OpenFolder(site.folder)
	require.NoError(t, err)
	defer folder.Close()
	want, err := replay.RunNode(t.Context(), folder.Drives, drift.Default(), nil)
	require.NoError(t, err)

	query.Model = "M"
	drives, err := replay.PrometheusDrives(t.Context(), nil, query)
	require.NoError(t, err)
	got, err := replay.RunNode(t.Context(), drives, drift.Default(), nil)
	require.NoError(t, err)
	assert.Equal(t, want.Rounds, got.Rounds)
	lines := func(r *replay.Report) []replay.Line {
		for i := range r.Lines {
			r.Lines[i].Attribution = nil // Prometheus has more conditions
		}
		return r.Lines
	}
	assert.Equal(t, lines(want), lines(got))
	require.NotEmpty(t, got.Drives)
	slow := got.Drives[0]
	assert.Equal(t, "stor-08:10040 nvme5n1", slow.Drive)
	assert.Equal(t, record.Degraded, slow.Verdict.Verdict, "beside drives of another node")
	assert.Equal(t, []string{"traffic"}, slow.Verdict.Witnesses)
	assert.NotEqual(t, record.Degraded, got.Drives[1].Verdict.Verdict)

	query.Model, query.Instance = "", "stor-07:10040"
	drives, err = replay.PrometheusDrives(t.Context(), nil, query)
	require.NoError(t, err)
	names := make([]string, len(drives))
	for i, d := range drives {
		names[i] = d.ID
	}
	assert.Equal(t, []string{"nvme0n1", "nvme1n1", "nvme2n1", "nvme3n1"}, names)
	assert.Equal(t, int64(1<<40), drives[0].SizeBytes)
	assert.Equal(t, "M", drives[0].Model)
	node, err := replay.RunNode(t.Context(), drives, drift.Default(), nil)
	require.NoError(t, err)
	assert.Equal(t, 4*want.Rounds/5, node.Rounds)

	query.Instance = "stor-09:10040"
	_, err = replay.PrometheusDrives(t.Context(), nil, query)
	require.ErrorIs(t, err, replay.ErrQuery)
	require.ErrorContains(t, err, `no ssdprobe_device_info{instance="stor-09:10040"} from `)
	_, err = replay.PrometheusDrives(t.Context(), nil, replay.Query{URL: s.URL, Probe: "read-4k", From: site.from, To: site.to})
	assert.ErrorIs(t, err, replay.ErrQuery)
}

// The id of a disk of a virtual machine is often that of a slot, and nodes of two clusters may have one name.
func TestDrivesOfTwoClustersAreTwo(t *testing.T) {
	testenv.Installed(t, "promtool")
	var b strings.Builder
	put := func(metric, more string, v float64) {
		fmt.Fprintf(&b, "# TYPE %s gauge\n", metric)
		for i, cluster := range []string{"east", "west"} {
			fmt.Fprintf(&b, "%s{cluster=%q,instance=\"a:1\",device=\"vda\",id=\"path:pci-1\"%s} %s 1000000\n", metric, cluster, more, number(v*float64(i+1)))
		}
	}
	put("ssdprobe_device_info", `,kind="disk",model="X"`, 1)
	put("ssdprobe_device_size_bytes", "", 1e9)
	put("ssdprobe_traffic_ios", `,operation="read"`, 3000)
	put("ssdprobe_traffic_latency_mean_seconds", `,operation="read"`, 0.25)
	s := promtest.StartWith(t, b.String()+"# EOF\n")
	at := time.Unix(1000000, 0)
	q := replay.Query{URL: s.URL, Instance: "a:1", Probe: "read-4k", From: at, To: at.Add(time.Minute)}

	drives, err := replay.PrometheusDrives(t.Context(), nil, q)
	require.NoError(t, err)
	require.Len(t, drives, 2)
	for i, name := range []string{"east/a:1 vda", "west/a:1 vda"} {
		assert.Equal(t, name, drives[i].ID)
		assert.InDelta(t, 1e9*float64(i+1), drives[i].SizeBytes, 1)
		sample, err := drives[i].History.Next(t.Context())
		require.NoError(t, err)
		assert.InDelta(t, 0.25*float64(i+1), sample.Traffic.ReadLatency, 1e-9)
	}

	q.Device = "vda"
	p, err := replay.NewPrometheus(nil, q)
	require.NoError(t, err)
	_, err = p.Next(t.Context())
	require.ErrorIs(t, err, replay.ErrAmbiguous)
	require.ErrorContains(t, err, "east/a:1 vda path:pci-1 and west/a:1 vda path:pci-1; name the instance, the cluster or the device's id")
	q.Cluster = "west"
	p, err = replay.NewPrometheus(nil, q)
	require.NoError(t, err)
	sample, err := p.Next(t.Context())
	require.NoError(t, err)
	assert.InDelta(t, 0.5, sample.Traffic.ReadLatency, 1e-9)
}
