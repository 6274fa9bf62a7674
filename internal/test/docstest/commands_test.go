package docstest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the root of the repository.
const root = "../../.."

// documents returns the documents that users follow.
func documents(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return append(all, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"))
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// commands returns the code lines of a document, without comments and with continued lines joined.
// It leaves out blocks that are files, which begin with a key or a section.
func commands(document string) []string {
	document = strings.ReplaceAll(document, "\\\n", "")
	var blocks []string
	for _, fenced := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindAllStringSubmatch(document, -1) {
		blocks = append(blocks, fenced[1])
	}
	document = regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(document, "")
	blocks = append(blocks, regexp.MustCompile(`(?m)(^    .*\n?)+`).FindAllString(document, -1)...)
	var all []string
	for _, block := range blocks {
		if regexp.MustCompile(`^\s*(\w+:|\[)`).MatchString(block) {
			continue
		}
		for line := range strings.Lines(block) {
			line, _, _ = strings.Cut(line, " # ")
			if words := strings.Fields(line); len(words) > 0 {
				all = append(all, strings.Join(words, " "))
			}
		}
	}
	return all
}

func TestCommands(t *testing.T) {
	assert.Equal(t, []string{"in a fence", "one two three", "four"}, commands(`
Text.

    one two \
      three # remark
    four

    key: value
      indented

    [Section]
    Key=value

`+"```sh\nin a fence\n```\n\n```promql\nsum(a)\n```\n"))
}

// letOff returns the beginnings of the commands in a document that no test runs, as CONTRIBUTING.md describes.
func letOff(t *testing.T, document string) []string {
	t.Helper()
	var all []string
	row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(document) + ` \| ([^|]+) \| [^|]+ \|$`)
	for _, match := range row.FindAllStringSubmatch(text(t, filepath.Join(root, "CONTRIBUTING.md")), -1) {
		for _, quoted := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(match[1], -1) {
			all = append(all, quoted[1])
		}
	}
	return all
}

// elsewhere maps the beginnings of commands in docs to the tests of other packages that run them.
var elsewhere = map[string]string{
	"make dist":                                 "internal/test/manifesttest TestDist",
	"make bench ARGS='-list'":                   "internal/test/docstest TestTheListOfBenchmarks",
	"apt install":                               "internal/test/manifesttest TestDeb",
	"apt remove":                                "internal/test/manifesttest TestDeb",
	"dnf install":                               "internal/test/manifesttest TestRPM",
	"dnf remove":                                "internal/test/manifesttest TestRPM",
	"systemctl enable --now ssdprobe":           "internal/test/manifesttest TestServiceMeasuresWithFewRights",
	"systemctl reload ssdprobe":                 "internal/test/manifesttest TestServiceMeasuresWithFewRights",
	"systemctl stop ssdprobe":                   "internal/test/manifesttest TestServiceMeasuresWithFewRights",
	"journalctl --unit ssdprobe":                "internal/test/manifesttest TestServiceMeasuresWithFewRights",
	"ssdprobe ready":                            "internal/test/manifesttest TestServiceMeasuresWithFewRights",
	"ssdprobe config check":                     "internal/test/manifesttest TestDeb",
	"ssdprobe devices":                          "internal/cli TestDevices",
	"ssdprobe top --interval":                   "internal/cli TestTopWithoutATerminal",
	"ssdprobe fleet":                            "internal/cli TestFleetThroughPrometheus",
	"ssdprobe check":                            "internal/cli TestCheckOfARunningDaemon",
	"ssdprobe top":                              "internal/cli TestTopInATerminal",
	"ssdprobe run --config":                     "internal/test/manifesttest TestServiceMeasuresWithFewRights",
	"echo 'SSDPROBE_ARGS=--web.systemd-socket'": "internal/test/manifesttest TestServiceWithTheDropInsOfTheDocument",
	"systemctl enable --now ssdprobe.socket":    "internal/test/manifesttest TestServiceWithTheDropInsOfTheDocument",
	"systemctl restart ssdprobe.socket":         "internal/test/manifesttest TestServiceWithTheDropInsOfTheDocument",
	"systemctl restart ssdprobe":                "internal/test/manifesttest TestServiceWithTheDropInsOfTheDocument",
	"install --directory":                       "internal/test/manifesttest TestServiceWithTheDropInsOfTheDocument",
	"ssdprobe drift explain":                    "internal/cli TestDriftOfARunningDaemon",
	"ssdprobe drift accept":                     "internal/cli TestDriftOfARunningDaemon",
	"ssdprobe drift replay history.csv":         "internal/cli TestDriftReplayOfAFile",
	"ssdprobe drift replay stor-07/":            "internal/cli TestDriftReplayOfANode",
	"ssdprobe drift replay --prometheus":        "internal/cli TestDriftReplayFromPrometheus",
	"ssdprobe drift":                            "internal/cli TestDriftOfARunningDaemon",
	"ssdprobe run --job my.fio":                 "internal/cli TestRunOwnJob",
	"ssdprobe record":                           "internal/cli TestRecordOfARunningDaemon",
	"ssdprobe baseline":                         "internal/cli TestBaselineOfARunningDaemon",
	"kubectl create namespace ssdprobe":         "internal/test/clustertest TestCluster",
	"kubectl label --overwrite namespace":       "internal/test/clustertest TestCluster",
	"kubectl apply -k .":                        "internal/test/clustertest TestCluster",
	"kubectl --namespace ssdprobe":              "internal/test/clustertest TestCluster",
	"kubectl describe node NODE":                "internal/test/clustertest TestCluster",
	"ssdprobe kubernetes cleanup":               "internal/nodestatus TestCluster",
	"kubectl delete namespace ssdprobe":         "internal/test/clustertest TestCluster",
	"helm install ssdprobe":                     "internal/test/clustertest TestCluster",
	"helm upgrade ssdprobe":                     "internal/test/clustertest TestCluster",
	"helm test ssdprobe":                        "internal/test/clustertest TestCluster",
	"helm uninstall ssdprobe":                   "internal/test/clustertest TestCluster",
	"helm package deploy/helm/ssdprobe":         "internal/test/manifesttest TestChartIsADependency",
}

func TestEveryCommandOfTheDocumentsIsRunOrItIsSaidWhyNot(t *testing.T) {
	used := map[string]bool{}
	for _, path := range documents(t) {
		excused := letOff(t, filepath.Base(path))
		for _, command := range commands(text(t, path)) {
			command = strings.TrimPrefix(command, "sudo ")
			reason := ""
			for begin := range elsewhere {
				if strings.HasPrefix(command, begin) {
					reason, used[begin] = "run elsewhere", true
				}
			}
			for _, begin := range excused {
				if strings.HasPrefix(command, begin) {
					reason = "let off"
				}
			}
			if slices.Contains([]string{"README.md", "reports.md"}, filepath.Base(path)) && reason == "" {
				continue // TestReadme and TestReports run it
			}
			assert.NotEmptyf(t, reason, "%s: no test is known to run %q, and CONTRIBUTING.md does not say why", path, command)
		}
	}
	for begin, test := range elsewhere {
		assert.True(t, used[begin], "no document has the command %q", begin)
		folder, name, _ := strings.Cut(test, " ")
		files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		require.NoError(t, err)
		found := false
		for _, file := range files {
			found = found || strings.Contains(text(t, file), "\nfunc "+name+"(")
		}
		assert.True(t, found, "there is no %s", test)
	}
}
