package deploytest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// testRules lets promtool run a test after it has replaced the files of rules by one with those that the test needs.
// Evaluated with all rules, the tests take three times as long.
func testRules(t *testing.T, test string) {
	t.Helper()
	listed := regexp.MustCompile(`(?m)^rule_files: .*$`)
	require.Len(t, listed.FindAllString(test, -1), 1)
	dir := t.TempDir()
	rules, err := yaml.Marshal(neededRules(t, test))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.yaml"), rules, 0o600))
	path := filepath.Join(dir, "test.yaml")
	require.NoError(t, os.WriteFile(path, []byte(listed.ReplaceAllString(test, "rule_files: [rules.yaml]")), 0o600))
	promtool(t, "test", "rules", path)
}

// neededRules returns the rules that a test names, and those that these read.
func neededRules(t *testing.T, test string) ruleFile {
	t.Helper()
	var all ruleFile
	for _, name := range []string{"rules.yaml", "alerts.yaml"} {
		all.Groups = append(all.Groups, readRules(t, name).Groups...)
	}
	needed := map[string]bool{}
	texts := []string{test}
	for len(texts) > 0 {
		text := texts[0]
		texts = texts[1:]
		for _, g := range all.Groups {
			for _, r := range g.Rules {
				if needed[r.name()] || !r.readBy(text) {
					continue
				}
				needed[r.name()] = true
				texts = append(texts, r.text())
			}
		}
	}
	for i := range all.Groups {
		all.Groups[i].Rules = slices.DeleteFunc(all.Groups[i].Rules, func(r rule) bool { return !needed[r.name()] })
	}
	all.Groups = slices.DeleteFunc(all.Groups, func(g ruleGroup) bool { return len(g.Rules) == 0 })
	require.NotEmpty(t, all.Groups)
	return all
}

func (r rule) name() string { return r.Record + r.Alert }

// text returns everything in a rule that can read a series.
func (r rule) text() string {
	texts := []string{r.Expr}
	for _, annotation := range r.Annotations { // their templates have queries
		texts = append(texts, annotation)
	}
	return strings.Join(texts, "\n")
}

// readBy reports whether a text names the rule, or reads alerts of which it may be one.
func (r rule) readBy(text string) bool {
	named := regexp.MustCompile(`(?:^|[^A-Za-z0-9_:])` + r.name() + `(?:[^A-Za-z0-9_:]|$)`)
	if named.MatchString(text) {
		return true
	}
	if r.Alert == "" {
		return false
	}
	for _, selector := range regexp.MustCompile(`ALERTS(?:_FOR_STATE)?(?:{([^}]*)})?`).FindAllStringSubmatch(text, -1) {
		pattern := regexp.MustCompile(`alertname(=~|=)"([^"]*)"`).FindStringSubmatch(selector[1])
		if pattern == nil || pattern[1] == "=~" && regexp.MustCompile(`^(?:`+pattern[2]+`)$`).MatchString(r.Alert) {
			return true
		}
	}
	return false
}

func TestRulesThatATestNeeds(t *testing.T) {
	names := func(test string) []string {
		var all []string
		for _, g := range neededRules(t, test).Groups {
			for _, r := range g.Rules {
				all = append(all, r.name())
			}
		}
		return all
	}
	everything := len(rules(t, "alerts.yaml"))
	assert.Equal(t, []string{"SsdprobeRestarting"}, names(`alertname: SsdprobeRestarting`))
	assert.Contains(t, names(`alertname: SsdprobeDriveSlowerThanPeers`), "instance:ssdprobe_probe_level_seconds:vs_peers", "what an alert reads")
	assert.ElementsMatch(t, []string{"SsdprobeDriveDegraded", "SsdprobeDriveSevere"}, only(names(`expr: 'ALERTS{alertname=~"SsdprobeDrive(Degraded|Severe)"}'`), "Ssdprobe"))
	assert.Len(t, only(names(`expr: count(ALERTS)`), "Ssdprobe"), everything)
	assert.Len(t, only(names(`expr: 'count(ALERTS{alertname!="SsdprobeDown"})'`), "Ssdprobe"), everything)
}

func only(names []string, prefix string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) })
}
