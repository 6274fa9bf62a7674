package deploytest

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// fired is an alert that a test of promtool expects.
type fired struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations map[string]string `yaml:"exp_annotations"`
}

type alertTest struct {
	At       model.Duration `yaml:"eval_time"`
	Name     string         `yaml:"alertname"`
	Expected []fired        `yaml:"exp_alerts"`
}

// ruleTest is a test of promtool, as far as it is looked at here.
type ruleTest struct {
	Name    string      `yaml:"name"`
	Alerts  []alertTest `yaml:"alert_rule_test"`
	Queries []struct {
		At       model.Duration `yaml:"eval_time"`
		Expr     string         `yaml:"expr"`
		Expected []any          `yaml:"exp_samples"`
	} `yaml:"promql_expr_test"`
}

// promtoolTests are those of all files.
func promtoolTests(t *testing.T) []ruleTest {
	t.Helper()
	var all []ruleTest
	for _, path := range ruleTests(t) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var file struct {
			Tests []ruleTest `yaml:"tests"`
		}
		require.NoError(t, yaml.Unmarshal(data, &file), path)
		all = append(all, file.Tests...)
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

// kind is an alert with a severity, and for those that have it a state.
type kind struct{ name, severity, state string }

func kindOf(name string, labels map[string]string) kind {
	return kind{name, labels["severity"], labels["state"]}
}

// Of every alert, of every severity and state of one, there is a case that fires, a case that must not, and one in which
// it ends: in one test it fires, and does not fire later.
func TestEveryAlertIsTested(t *testing.T) {
	known := map[kind]bool{}
	for _, a := range rules(t, "alerts.yaml") {
		known[kindOf(a.Alert, a.Labels)] = true
	}
	fires, rests, ends := map[kind]bool{}, map[kind]bool{}, map[kind]bool{}
	for _, test := range promtoolTests(t) {
		slices.SortStableFunc(test.Alerts, func(a, b alertTest) int { return cmp.Compare(a.At, b.At) })
		before := map[kind]bool{}
		for _, a := range test.Alerts {
			now := map[kind]bool{}
			for _, e := range a.Expected {
				k := kindOf(a.Name, e.Labels)
				assert.True(t, known[k], "%s: a test of an alert that is not there: %v", test.Name, k)
				now[k], fires[k] = true, true
			}
			for k := range known {
				if k.name == a.Name && !now[k] {
					rests[k] = rests[k] || !before[k]
					ends[k] = ends[k] || before[k]
				}
			}
			for k := range now {
				before[k] = true
			}
		}
		for k := range endsOf(t, test) {
			ends[k] = true
		}
	}
	for k := range known {
		assert.True(t, fires[k], "no test in which %v fires", k)
		assert.True(t, rests[k], "no test in which %v must not fire", k)
		assert.True(t, ends[k], "no test in which %v fires and then ends", k)
	}
}

var firing = regexp.MustCompile(`ALERTS{alertname="(\w+)",severity="(\w+)",alertstate="firing"}`)

// endsOf are alerts that a test has firing and later not, asked for by their series.
func endsOf(t *testing.T, test ruleTest) map[kind]bool {
	t.Helper()
	since, ends := map[kind]model.Duration{}, map[kind]bool{}
	for _, q := range test.Queries {
		asked := firing.FindStringSubmatch(q.Expr)
		if asked == nil {
			continue
		}
		k := kind{name: asked[1], severity: asked[2]}
		if len(q.Expected) > 0 {
			since[k] = q.At
			continue
		}
		if began, ok := since[k]; ok && q.At > began {
			ends[k] = true
		}
	}
	return ends
}
