package deploytest

import (
	"cmp"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// fired is an alert that a promtool test expects.
type fired struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations map[string]string `yaml:"exp_annotations"`
}

type alertTest struct {
	At       model.Duration `yaml:"eval_time"`
	Name     string         `yaml:"alertname"`
	Expected []fired        `yaml:"exp_alerts"`
}

// ruleTest is a promtool test, with the fields that are used here.
type ruleTest struct {
	Name    string      `yaml:"name"`
	Alerts  []alertTest `yaml:"alert_rule_test"`
	Queries []struct {
		At       model.Duration `yaml:"eval_time"`
		Expr     string         `yaml:"expr"`
		Expected []any          `yaml:"exp_samples"`
	} `yaml:"promql_expr_test"`
	interval time.Duration
}

// promtoolTests returns the promtool tests of all files.
func promtoolTests(t *testing.T) []ruleTest {
	t.Helper()
	var all []ruleTest
	for _, path := range ruleTests(t) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var file struct {
			Interval model.Duration `yaml:"evaluation_interval"`
			Tests    []ruleTest     `yaml:"tests"`
		}
		require.NoError(t, yaml.Unmarshal(data, &file), path)
		for _, test := range file.Tests {
			test.interval = time.Duration(file.Interval)
			all = append(all, test)
		}
	}
	return all
}

func firedInTests(t *testing.T) []fired {
	t.Helper()
	var all []fired
	for _, test := range promtoolTests(t) {
		for _, a := range test.Alerts {
			all = append(all, a.Expected...)
		}
	}
	require.NotEmpty(t, all)
	return all
}

// kind is an alert with a severity and, if it has one, a state.
type kind struct{ name, severity, state string }

func kindOf(name string, labels map[string]string) kind {
	return kind{name, labels["severity"], labels["state"]}
}

// seen says whether an alert fires at an evaluation that a test checks.
type seen struct {
	at    time.Duration
	fires bool
}

// Every alert, in every severity and state, has a case in which it fires, a case in which it must
// not, and one that pins its end: it still fires at one evaluation, and no longer at the next or
// the one after that. That is precise enough to notice if keep_firing_for is halved.
func TestEveryAlertIsTested(t *testing.T) {
	kept := map[kind]time.Duration{}
	for _, a := range rules(t, "alerts.yaml") {
		kept[kindOf(a.Alert, a.Labels)] = time.Duration(a.KeepFiringFor)
	}
	fires, rests, ends := map[kind]bool{}, map[kind]bool{}, map[kind]bool{}
	for _, test := range promtoolTests(t) {
		for k, seen := range seenIn(t, test, slices.Collect(maps.Keys(kept))) {
			near := 2 * test.interval
			if kept[k] > 0 {
				near = min(near, kept[k]/2)
			}
			for i, now := range seen {
				fires[k] = fires[k] || now.fires
				rests[k] = rests[k] || i == 0 && !now.fires
				ends[k] = ends[k] || i > 0 && seen[i-1].fires && !now.fires && now.at-seen[i-1].at <= near
			}
		}
	}
	for k := range kept {
		assert.True(t, fires[k], "no test in which %v fires", k)
		assert.True(t, rests[k], "no test in which %v must not fire", k)
		assert.True(t, ends[k], "no test that pins when %v ends", k)
	}
}

var firing = regexp.MustCompile(`ALERTS{alertname="(\w+)",severity="(\w+)",(?:state="(\w+)",)?alertstate="firing"}`)

// seenIn returns the evaluations that a test checks, in order: of the alert itself, or of its series.
func seenIn(t *testing.T, test ruleTest, known []kind) map[kind][]seen {
	t.Helper()
	all := map[kind][]seen{}
	for _, a := range test.Alerts {
		fires := map[kind]bool{}
		for _, e := range a.Expected {
			k := kindOf(a.Name, e.Labels)
			assert.Contains(t, known, k, "%s: a test of an alert that is not there", test.Name)
			fires[k] = true
		}
		for _, k := range known {
			if k.name == a.Name {
				all[k] = append(all[k], seen{time.Duration(a.At), fires[k]})
			}
		}
	}
	for _, q := range test.Queries {
		if asked := firing.FindStringSubmatch(q.Expr); asked != nil {
			k := kind{asked[1], asked[2], asked[3]}
			assert.Contains(t, known, k, "%s: a test of an alert that is not there", test.Name)
			all[k] = append(all[k], seen{time.Duration(q.At), len(q.Expected) > 0})
		}
	}
	for _, of := range all {
		slices.SortFunc(of, func(a, b seen) int { return cmp.Compare(a.at, b.at) })
	}
	return all
}
