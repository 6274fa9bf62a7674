package finding

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ofRuns returns the warnings that only reports of runs carry. No snapshot has them, so they are not findings.
func ofRuns() []string {
	return []string{
		record.WarnUnmapped, record.WarnDisturbed, record.WarnOthersActive, record.WarnFewSamples, record.WarnConditionsDiffer,
		record.WarnConditionsUnknown, record.WarnCPUBound, record.WarnShort, record.WarnBrief, record.WarnErrors, record.WarnMethod,
	}
}

// decided returns, for each code that is not just a warning, a change of a snapshot that produces its finding.
func decided() map[string]func(*record.Snapshot) {
	probe := func(change func(*record.ProbeStatus)) func(*record.Snapshot) {
		return func(s *record.Snapshot) { change(&s.Targets[0].Probes[0]) }
	}
	return map[string]func(*record.Snapshot){
		Hung:        probe(func(p *record.ProbeStatus) { p.InflightSince = now().Add(-time.Hour) }),
		CannotProbe: func(s *record.Snapshot) { s.Targets[0].Problem = "permission denied" },
		IOErrors:    probe(func(p *record.ProbeStatus) { p.Errors = map[string]uint64{"EIO": 1} }),
		HeldBack: func(s *record.Snapshot) {
			s.Targets[0].Probes[0].InflightSince, s.Targets[0].Probes[0].Probe.Timeout = now().Add(-time.Minute), time.Second
			s.Targets[0].Traffic = &record.TrafficStatus{HeldBack: &record.HeldBack{Since: now().Add(-time.Minute), Suspended: true}}
		},
		Regressed: probe(func(p *record.ProbeStatus) { p.Drift = []record.Drift{{State: record.Regressed}} }),
		SinceChange: probe(func(p *record.ProbeStatus) {
			p.Effect = &record.Effect{Ratios: map[record.Statistic]record.Ratio{record.LatencyP50: {Ratio: 1.2, Lower: 1.1}}}
		}),
		ManyChanges: probe(func(p *record.ProbeStatus) {
			p.Lifetime = map[record.Statistic]record.Lifetime{record.LatencyP50: {Ratio: record.Ratio{Ratio: 1.2, Lower: 1.1}}}
		}),
		Suspect: probe(func(p *record.ProbeStatus) { p.Drift = []record.Drift{{State: record.Suspect}} }),
		NotJudged: probe(func(p *record.ProbeStatus) {
			p.Drift = []record.Drift{unjudged(record.IOPS, record.ReasonLoad, "", 30*time.Hour)}
		}),
		HostSlower:  func(s *record.Snapshot) { s.Together = []record.Together{{Scope: record.ScopeHost}} },
		BatchSlower: func(s *record.Snapshot) { s.Together = []record.Together{{Scope: record.ScopeBatch}} },
		TrafficSlower: func(s *record.Snapshot) {
			s.Targets[0].Verdict = &record.Judgement{Verdict: record.Degraded, ThanBefore: []string{"traffic"}}
		},
		Held: func(s *record.Snapshot) {
			s.Targets[0].Verdict = &record.Judgement{Verdict: record.Degraded, Held: true}
		},
		Stalled: func(s *record.Snapshot) {
			s.Targets[0].Traffic = &record.TrafficStatus{Stalls: []record.Stall{{Cause: record.StallByDevice, Length: 3 * time.Second}}}
		},
		Stale:    probe(func(p *record.ProbeStatus) { p.LastSuccess = now().Add(-time.Hour) }),
		NotReady: func(s *record.Snapshot) { s.NotReady = "devices are being looked for" },
		Quiet:    func(s *record.Snapshot) { s.QuietUntil = now().Add(time.Hour) },
		Collector: func(s *record.Snapshot) {
			s.Collectors = []record.CollectorStatus{{Collector: "health", Error: "denied"}}
		},
		RunSlower: func(s *record.Snapshot) {
			s.Targets[0].Runs = []record.RunStatus{{Next: now().Add(time.Hour), Last: &record.RunReport{}, Comparison: &record.Comparison{Verdict: record.Slower}}}
		},
		RunOverdue: func(s *record.Snapshot) { s.Targets[0].Runs = []record.RunStatus{{Next: now().Add(-49 * time.Hour)}} },
		NotWatched: func(s *record.Snapshot) { s.Ignored = []record.Ignored{{Denied: true}} },
		record.WarnDuplicate: func(s *record.Snapshot) {
			s.Targets = append(s.Targets, s.Targets[0])
		},
	}
}

// warnings returns the codes of record.Warning by the names of their constants.
func warnings(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../record/warning.go", nil, 0)
	require.NoError(t, err)
	codes := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			codes[spec.Names[0].Name] = code
		}
		return true
	})
	require.NotEmpty(t, codes)
	return codes
}

// Every code has a complete row, is documented, and can be produced.
func TestTheTableOfFindingsIsWhole(t *testing.T) {
	documents, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	var warned []string
	for _, code := range warnings(t) {
		warned = append(warned, code)
	}
	seen := map[string]bool{}
	for _, k := range Kinds() {
		t.Run(k.Code, func(t *testing.T) {
			assert.False(t, seen[k.Code], "two rows")
			seen[k.Code] = true
			assert.NotEmpty(t, k.Means)
			assert.NotEmpty(t, k.Action)
			assert.NotContains(t, ofRuns(), k.Code, "it is a finding, so a snapshot can have it")
			row := fmt.Sprintf("| `%s` | %s | %s | %s | ", k.Code, k.Severity, k.Means, k.Action)
			if k.Alert != "" {
				row += "[" + k.Alert + "]"
			}
			found := strings.Contains(string(documents), row) // keeps the whole page out of the failure message
			assert.True(t, found, "docs/metrics.md does not have it: run make generate")

			s := snapshot(sound())
			produce := decided()[k.Code]
			if produce == nil {
				require.Contains(t, warned, k.Code, "nothing here produces it, and no warning has the code")
				produce = func(s *record.Snapshot) { s.Warnings = []record.Warning{{Code: k.Code, Text: "what was seen"}} }
			}
			produce(&s)
			i := slices.IndexFunc(Of(s), func(f Finding) bool { return f.Code == k.Code })
			require.GreaterOrEqual(t, i, 0, "it is not found")
			assert.Equal(t, k.Severity, Of(s)[i].Severity)
			assert.NotEmpty(t, Of(s)[i].Action)
		})
	}
	for code := range decided() {
		assert.True(t, seen[code], "%s has no row in kinds.go", code)
	}
	for name, code := range warnings(t) {
		assert.True(t, seen[code] || slices.Contains(ofRuns(), code), "record.%s (%s) has no row in kinds.go", name, code)
	}
}

// alerts returns the severities of each alert that ships.
func alerts(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("../../deploy/prometheus/alerts.yaml")
	require.NoError(t, err)
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert  string            `yaml:"alert"`
				Labels map[string]string `yaml:"labels"`
			} `yaml:"rules"`
		} `yaml:"groups"`
	}
	require.NoError(t, yaml.Unmarshal(data, &file))
	severities := map[string][]string{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			severities[r.Alert] = append(severities[r.Alert], r.Labels["severity"])
		}
	}
	require.NotEmpty(t, severities)
	return severities
}

// Whoever is woken by an alert finds its reason beside the verdict, with the same severity. Alerts on what no snapshot
// of a node knows have no finding. docs/metrics.md says why two severities differ.
func TestEveryAlertHasAFinding(t *testing.T) {
	without := []string{
		// Known only to other nodes or to Prometheus.
		"SsdprobeDriveSlowerThanPeers", "SsdprobeNodeSlowerThanPeers", "SsdprobeFirmwareSlower", "SsdprobeChangeSlowedDrives",
		"SsdprobeDown", "SsdprobeNotScraped", "SsdprobeRestarting", "SsdprobePodsUnavailable", "SsdprobeNodeNotWatched", "SsdprobeTargetGone",
		// About the cost of ssdprobe itself, which is reported elsewhere.
		"SsdprobeCPUBudgetExceeded", "SsdprobeMemoryBudgetExceeded", "SsdprobeWriteBudgetExceeded",
		// Shown on the page as a state, not as a finding.
		"SsdprobeBaselineNeverLearned", "SsdprobeInterruptsRemote",
	}
	differ := []string{CannotProbe, Collector}
	known, found := alerts(t), map[string]bool{}
	for _, k := range Kinds() {
		if k.Alert == "" {
			continue
		}
		found[k.Alert] = true
		if assert.Contains(t, known, k.Alert, k.Code) {
			assert.Equal(t, !slices.Contains(differ, k.Code), slices.Contains(known[k.Alert], k.Severity.String()), "severity of %s, and of %s", k.Code, k.Alert)
		}
	}
	for alert := range known {
		assert.Equal(t, !slices.Contains(without, alert), found[alert], "%s", alert)
	}
}

// The table of docs/reports.md has the warnings that are not in the table of findings.
func TestTheWarningsOfRunsAreDocumented(t *testing.T) {
	document, err := os.ReadFile("../../docs/reports.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(document), "\n## Warnings\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	var codes []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| .+ \\| .+ \\|$").FindAllStringSubmatch(table, -1) {
		codes = append(codes, row[1])
	}
	assert.ElementsMatch(t, ofRuns(), codes)
}

// A warning that no code gives is a row that nobody will ever see.
func TestEveryWarningIsGiven(t *testing.T) {
	files, err := filepath.Glob("../*/*.go")
	require.NoError(t, err)
	var code strings.Builder
	for _, path := range files {
		if dir := filepath.Base(filepath.Dir(path)); dir == "finding" || strings.HasSuffix(path, "_test.go") || path == "../record/warning.go" {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		code.Write(text)
	}
	for name, warning := range warnings(t) {
		if decided()[warning] == nil {
			assert.True(t, strings.Contains(code.String(), "."+name) || strings.Contains(code.String(), "Code: "+name), "nothing gives %s", name)
		}
	}
}
