package deploytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// labels are the labels of an alert as the rules produce it.
type labels map[string]string

func (l labels) name() string {
	return l["cluster"] + " " + l["instance"] + " " + l["alertname"] + " " + l["id"] + l["state"] + l["failing"] + l["condition"] + l["severity"]
}

func (l labels) with(more labels) labels {
	all := maps.Clone(l)
	maps.Copy(all, more)
	return all
}

func drive(alert, id string) labels {
	return labels{"alertname": alert, "severity": "warning", "device": "nvme" + id, "id": id, "model": "PM9A3", "firmware": "A"}
}

func verdict(alert, id, scope string) labels { return drive(alert, id).with(labels{"scope": scope}) }

// failing is a verdict on a drive that stalls or fails I/Os.
func failing(alert, id, scope string) labels {
	return verdict(alert, id, scope).with(labels{"failing": "yes"})
}

// warns is what the drive says itself.
func warns(condition string) labels {
	return drive("SsdprobeCriticalWarning", "a").with(labels{"controller": "nvme0", "condition": condition})
}

func hot(severity string) labels {
	return drive("SsdprobeTemperatureAboveLimit", "a").with(labels{"controller": "nvme0", "severity": severity})
}

func host(state string) labels {
	return labels{"alertname": "SsdprobeHostSlower", "severity": "warning", "state": state}
}

func batch(state string) labels {
	return labels{"alertname": "SsdprobeBatchSlower", "severity": "warning", "state": state, "model": "PM9A3"}
}

// manager is a real Alertmanager with the inhibit rules of ssdprobe, which sends each alert
// separately and at once.
type manager struct {
	url   string
	inbox *promtest.Inbox
}

func startManager(t *testing.T) manager {
	t.Helper()
	inhibited, err := os.ReadFile(inhibitRules())
	require.NoError(t, err)
	inbox := promtest.NewInbox(t)
	address := promtest.StartAlertmanager(t, string(inhibited)+fmt.Sprintf(`
route: {receiver: inbox, group_by: ['...'], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}
receivers: [{name: inbox, webhook_configs: [{url: %q, send_resolved: true}]}]
`, inbox.URL))
	return manager{"http://" + address + "/api/v2/alerts", inbox}
}

func inhibitRules() string { return filepath.Join(rulesDir(), "alertmanager", "inhibit_rules.yaml") }

// tell sends alerts as Prometheus does, as firing or as resolved. It repeats until they are accepted.
func (m manager) tell(t *testing.T, over bool, alerts ...labels) {
	t.Helper()
	var list []map[string]any
	for _, a := range alerts {
		alert := map[string]any{"labels": a, "startsAt": time.Now().Add(-time.Minute), "endsAt": time.Now().Add(time.Hour)}
		if over {
			alert["endsAt"] = time.Now().Add(-time.Second)
		}
		list = append(list, alert)
	}
	body, err := json.Marshal(list)
	require.NoError(t, err)
	testenv.Eventually(t, "Alertmanager takes alerts", func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.url, bytes.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false // it is still starting
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// told returns the names of the alerts that arrived as firing.
func (m manager) told() []string {
	var names []string
	for _, a := range m.inbox.All() {
		if a.Status == "firing" {
			names = append(names, labels(a.Labels).name())
		}
	}
	return names
}

func (m manager) await(t *testing.T, alerts ...labels) {
	t.Helper()
	for _, a := range alerts {
		testenv.Eventually(t, a.name()+" arrives", func() bool { return slices.Contains(m.told(), a.name()) })
	}
}

// silent returns the alerts that Alertmanager inhibits because of another one.
func (m manager) silent(t *testing.T) []string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.url, http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	var alerts []struct {
		Labels labels
		Status struct{ InhibitedBy []string }
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&alerts))
	var names []string
	for _, a := range alerts {
		if len(a.Status.InhibitedBy) > 0 {
			names = append(names, a.Labels.name())
		}
	}
	return names
}

// Some alerts are silent while a more severe or a wider alert fires, and arrive when that is
// resolved; others are sent regardless. Each case has a node of its own.
func TestInhibitRules(t *testing.T) {
	const severe, degraded, beside, fails = "SsdprobeDriveSevere", "SsdprobeDriveDegraded", "SsdprobeDriveSlowerThanPeers", "SsdprobeProbeFailing"
	cases := map[string]struct {
		first        labels
		silent, told []labels
	}{
		"a host that is severe": {
			host("severe"),
			[]labels{verdict(severe, "a", "drive"), verdict(degraded, "b", "batch"), drive(beside, "c"), batch("degraded"), batch("severe"), host("degraded")},
			[]labels{drive("SsdprobeDriveWorn", "a"), drive("SsdprobeProbeStuck", "d"), failing(severe, "e", "drive"), failing(degraded, "f", "drive"), drive(fails, "a")},
		},
		"a host that is degraded": {
			host("degraded"),
			[]labels{verdict(degraded, "a", "drive"), drive(beside, "b"), batch("degraded")},
			[]labels{verdict(severe, "c", "drive"), failing(degraded, "e", "drive")},
		},
		"a batch that is severe": {
			batch("severe"),
			[]labels{verdict(severe, "a", "batch"), verdict(degraded, "b", "batch"), batch("degraded")},
			[]labels{
				verdict(degraded, "c", "drive"), verdict(degraded, "d", "batch").with(labels{"model": "P5510"}),
				failing(severe, "e", "batch"), failing(degraded, "f", "batch"),
			},
		},
		"a batch that is degraded": {
			batch("degraded"),
			[]labels{verdict(degraded, "a", "batch")},
			[]labels{verdict(severe, "b", "batch"), verdict(degraded, "c", "drive")},
		},
		"a drive that is severe": {
			verdict(severe, "a", "drive"),
			[]labels{verdict(degraded, "a", "drive"), drive(beside, "a")},
			[]labels{verdict(degraded, "b", "drive"), drive(fails, "a")},
		},
		"a drive that is severe because it fails": {
			failing(severe, "a", "drive"),
			[]labels{verdict(severe, "a", "drive"), verdict(degraded, "a", "drive"), drive(beside, "a"), drive(fails, "a")},
			[]labels{drive(fails, "b"), verdict(severe, "b", "drive")},
		},
		"a drive that its node and the fleet have found": {
			verdict(degraded, "a", "drive"), []labels{drive(beside, "a")}, []labels{drive(beside, "b")},
		},
		"a drive that hangs": {
			drive("SsdprobeProbeStuck", "a").with(labels{"severity": "critical"}),
			[]labels{verdict(severe, "a", "drive"), verdict(degraded, "a", "drive"), drive(fails, "a")},
			[]labels{verdict(severe, "b", "drive")},
		},
		"a drive whose I/O is held back": {
			drive("SsdprobeProbeStuck", "a"),
			[]labels{verdict(degraded, "a", "drive"), drive(fails, "a")},
			nil,
		},
		"a drive that fails until it has had no good round for hours": {
			drive(fails, "a"), []labels{drive("SsdprobeNoResults", "a")}, []labels{drive("SsdprobeNoResults", "b")},
		},
		"a drive that says itself that its spare blocks run out": {
			warns("available_spare").with(labels{"severity": "critical"}),
			[]labels{drive("SsdprobeSpareBelowThreshold", "a").with(labels{"controller": "nvme0"})},
			[]labels{warns("temperature"), drive("SsdprobeSpareBelowThreshold", "b").with(labels{"controller": "nvme1"})},
		},
		"a drive that is far too hot": {
			hot("critical"), []labels{hot("warning"), warns("temperature")}, []labels{warns("reliability")},
		},
		"a drive that is too hot": {
			hot("warning"), []labels{warns("temperature")}, []labels{warns("available_spare")},
		},
		"a severe drive whose I/O is held back": {
			drive("SsdprobeProbeStuck", "a"), nil, []labels{verdict(severe, "a", "drive")},
		},
	}
	m := startManager(t)
	on := func(node string, alerts []labels) (placed []labels) {
		for _, a := range alerts {
			placed = append(placed, a.with(labels{"instance": node}))
		}
		return placed
	}
	var first, silent, told []labels
	for node, c := range cases {
		first = append(first, on(node, []labels{c.first})...)
		silent, told = append(silent, on(node, c.silent)...), append(told, on(node, c.told)...)
	}
	// A scrape job that is gone, which has no node: each node of its cluster has an alert.
	const lostIn = "a cluster that is not scraped"
	lost := labels{"alertname": "SsdprobeNotScraped", "severity": "warning", "job": "ssdprobe", "cluster": lostIn}
	unwatched := labels{"alertname": "SsdprobeNodeNotWatched", "severity": "warning", "namespace": "storage", "node": "stor-01", "instance": "stor-01"}
	first = append(first, lost)
	silent = append(silent, unwatched.with(labels{"cluster": lostIn}))
	told = append(told, unwatched, drive("SsdprobeProbeStuck", "a").with(labels{"instance": "stor-01", "cluster": lostIn}))
	// The same drives elsewhere, where nothing else fires.
	elsewhere := on("elsewhere", []labels{verdict(severe, "a", "batch"), verdict(degraded, "b", "drive"), drive(beside, "c")})
	// A node of the same name in another cluster, whose Prometheus has the external label cluster.
	for _, a := range on("a host that is severe", []labels{verdict(severe, "a", "drive"), verdict(degraded, "b", "batch"), drive(beside, "c")}) {
		elsewhere = append(elsewhere, a.with(labels{"cluster": "b"}))
	}
	m.tell(t, false, first...)
	m.await(t, first...)
	m.tell(t, false, slices.Concat(silent, told, elsewhere)...)
	m.await(t, slices.Concat(told, elsewhere)...)
	// One more alert, which is sent after all others were processed.
	last := labels{"alertname": "Last", "instance": "elsewhere"}
	m.tell(t, false, last)
	m.await(t, last)
	var want []string
	for _, a := range silent {
		want = append(want, a.name())
		assert.NotContains(t, m.told(), a.name())
	}
	assert.ElementsMatch(t, want, m.silent(t))

	m.tell(t, true, first...)
	// An alert that remains may silence some of the others, as that of a batch does: it is resolved as well.
	for len(silent) > 0 {
		var arrived, waiting []labels
		testenv.Eventually(t, fmt.Sprintf("one of %v arrives", silent), func() bool {
			arrived, waiting = nil, nil
			told := m.told()
			for _, a := range silent {
				if slices.Contains(told, a.name()) {
					arrived = append(arrived, a)
				} else {
					waiting = append(waiting, a)
				}
			}
			return len(arrived) > 0
		})
		m.tell(t, true, arrived...)
		silent = waiting
	}
}

// An alert cannot keep back what was sent before it: that a job is lost has to be known before each of its nodes is told.
func TestALostJobIsToldBeforeItsNodes(t *testing.T) {
	var lost, node time.Duration
	for _, g := range readRules(t, "alerts.yaml").Groups {
		for _, r := range g.Rules {
			switch r.Alert {
			case "SsdprobeNotScraped": // it may have been lost just after an evaluation
				lost = time.Duration(r.For) + time.Duration(g.Interval)
			case "SsdprobeNodeNotWatched":
				node = time.Duration(r.For)
			}
		}
	}
	assert.Positive(t, lost)
	assert.LessOrEqual(t, lost, node)
}

// inhibition is one of the inhibit rules.
type inhibition struct {
	Source []string `yaml:"source_matchers"`
	Target []string `yaml:"target_matchers"`
	Equal  []string `yaml:"equal"`
}

func inhibitions(t *testing.T) []inhibition {
	t.Helper()
	data, err := os.ReadFile(inhibitRules())
	require.NoError(t, err)
	var file struct {
		Rules []inhibition `yaml:"inhibit_rules"`
	}
	require.NoError(t, yaml.Unmarshal(data, &file))
	require.NotEmpty(t, file.Rules)
	return file.Rules
}

func inhibitMatcher() *regexp.Regexp { return regexp.MustCompile(`^(\w+) (=~?) "?([^"]*?)"?$`) }

// mayMatch reports whether alerts of a rule may match: labels that its expression gives may have any value.
func (r rule) mayMatch(matchers []string) bool {
	for _, m := range matchers {
		parts := inhibitMatcher().FindStringSubmatch(m)
		value, fixed := r.Labels[parts[1]], r.Labels[parts[1]] != ""
		if parts[1] == "alertname" {
			value, fixed = r.Alert, true
		}
		if fixed && !regexp.MustCompile("^(?:"+parts[3]+")$").MatchString(value) {
			return false
		}
	}
	return true
}

// Alertmanager has to know an alert before those that it silences. Prometheus evaluates the rules of a group in order, and
// sends the alerts of each before it evaluates the next. The descriptions of thousands of drives may take it longer than
// Alertmanager waits.
func TestAnAlertStandsBeforeThoseThatItSilences(t *testing.T) {
	pairs := 0
	for _, g := range readRules(t, "alerts.yaml").Groups {
		for _, i := range inhibitions(t) {
			for at, source := range g.Rules {
				for before, target := range g.Rules[:at] {
					if !source.mayMatch(i.Source) || slices.Contains(i.Equal, "alertname") && source.Alert != target.Alert {
						continue
					}
					pairs++
					assert.False(t, target.mayMatch(i.Target), "%s: %s (rule %d) silences %s (rule %d)", g.Name, source.Alert, at, target.Alert, before)
				}
			}
		}
	}
	assert.Positive(t, pairs)
}

// Alerts, labels and states in the rules have to exist: a rule with a typo inhibits nothing.
func TestInhibitRulesNameWhatIsThere(t *testing.T) {
	names := map[string]bool{}
	for _, a := range rules(t, "alerts.yaml") {
		names[a.Alert] = true
	}
	known := map[string]bool{"alertname": true}
	for _, f := range firedInTests(t) {
		for label := range f.Labels {
			known[label] = true
		}
	}
	for _, r := range inhibitions(t) {
		for _, m := range slices.Concat(r.Source, r.Target) {
			parts := inhibitMatcher().FindStringSubmatch(m)
			require.NotNil(t, parts, m)
			assert.True(t, known[parts[1]], "no alert has the label %s", parts[1])
			if parts[1] != "alertname" {
				continue
			}
			name := regexp.MustCompile("^(?:" + parts[3] + ")$")
			assert.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(names)), name.MatchString), "no alert is called %s", parts[3])
		}
		within := []string{"cluster", "instance"}
		if slices.Contains(r.Source, "alertname = SsdprobeNotScraped") { // about all nodes of a job
			within = []string{"cluster"}
		}
		assert.Subset(t, r.Equal, within, "%v would silence the alerts of other nodes", r.Target)
	}
}
