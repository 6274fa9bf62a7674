package suite_test

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// ours lists the options that plans always have, and why. They change the figures only in the way stated.
var ours = map[string]string{
	"filename":            "the target",
	"size":                "the part of the target that may be used",
	"offset":              "where that part begins",
	"cpus_allowed":        "the CPUs of the drive's NUMA node",
	"cpus_allowed_policy": "a CPU for each job",
	"numa_mem_policy":     "the memory of the drive's NUMA node",
	"thread":              "no job outlives fio",
	"group_reporting":     "one result",
	"lat_percentiles":     "percentiles of the whole latency",
	"allow_file_create":   "a typing error makes no file",
	"invalidate":          "a device is not flushed for everyone",
	"norandommap":         "a map of a large drive takes long to make",
	"randrepeat":          "no cache knows the offsets from the last run",
}

// byDefault lists defaults of fio that commands do not name.
var byDefault = []string{"direct=0", "iodepth=1"}

// Every suite names the command that it replaces, and its plan has a step with exactly the options of that command, so
// that people can compare the results with what they measured by hand.
func TestSuitesReplaceWhatGuidesRun(t *testing.T) {
	for _, s := range suite.All() {
		t.Run(s.Name, func(t *testing.T) {
			require.NotEmpty(t, s.Replaces, "the suite %s does not say which command it replaces: set Suite.Replaces", s.Name)
			steps := plansFor(t, s)
			for command := range strings.SplitSeq(s.Replaces, " && ") {
				words := strings.Fields(command)
				switch words[0] {
				case "fio":
					sameAsAStep(t, words[1:], steps)
				case "nvme":
					setsAsAStep(t, words[1:], steps)
				case "blkdiscard":
					assert.True(t, slices.ContainsFunc(steps, func(step suite.DryStep) bool { return strings.Contains(step.JobFile, "rw=trim\n") }),
						"no step discards, and %q does", command)
				default:
					require.Fail(t, "unknown tool", "the test does not know how to hold %q against the plan", command)
				}
			}
		})
	}
}

// plansFor returns the default steps of a suite, on a drive of a machine with a core of its own; for scale, on two.
func plansFor(t *testing.T, s suite.Suite) []suite.DryStep {
	t.Helper()
	target := serverDrive()
	target.Core, target.Conditions = []int{1}, record.Conditions{}
	if s.Name == "durable-write" {
		target.Raw, target.Path = false, "/srv/log"
	}
	targets := []suite.Target{target}
	if s.Name == "scale" {
		other := target
		other.Path = "/dev/nvme1n1"
		targets = append(targets, other)
	}
	steps, err := s.DryRun(suite.Values{}, targets...)
	require.NoError(t, err)
	return steps
}

// sameAsAStep looks for a step whose jobs have the options of a fio command, and no others except ours.
func sameAsAStep(t *testing.T, arguments []string, steps []suite.DryStep) {
	t.Helper()
	want := jobOptions(t, jobFile(t, arguments))
	var closest []string
	for i, step := range steps {
		found := differences(want, jobOptions(t, step.JobFile))
		if len(found) == 0 {
			return
		}
		if i == 0 || len(found) < len(closest) {
			closest = append([]string{"step " + step.Name}, found...)
		}
	}
	assert.Fail(t, "no step does what the command does", "fio %s\nthe closest differs in: %s", strings.Join(arguments, " "), strings.Join(closest, "; "))
}

// jobFile converts a command line of fio to a job file.
func jobFile(t *testing.T, arguments []string) string {
	t.Helper()
	var b strings.Builder
	for _, argument := range arguments {
		option := strings.TrimPrefix(argument, "--")
		if percent, ok := strings.CutSuffix(option, "%"); ok { // percent of the drive, rounded down to whole blocks
			share, block := 0, int64(8<<10)
			if slices.Contains(arguments, "--bs=128k") {
				block = 128 << 10
			}
			_, err := fmt.Sscanf(percent, "size=%d", &share)
			require.NoError(t, err, argument)
			option = fmt.Sprintf("size=%d", int64(float64(serverDrive().SizeBytes)*float64(share)/100)/block*block)
		}
		if name, ok := strings.CutPrefix(option, "name="); ok {
			option = "[" + name + "]"
		}
		b.WriteString(option + "\n")
	}
	return b.String()
}

// jobOptions returns the effective options of each job in a file, in fio's canonical spelling.
func jobOptions(t *testing.T, file string) []map[string]string {
	t.Helper()
	job, err := fio.ParseJob(strings.NewReader(file))
	require.NoError(t, err, file)
	var all []map[string]string
	for i, section := range job.Sections {
		if section.Name == fio.Global {
			continue
		}
		alone := fio.Job{Sections: []fio.Section{{Name: "job", Options: job.Effective(i)}}}
		text, err := alone.Render()
		require.NoError(t, err)
		options := map[string]string{}
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			key, value, _ := strings.Cut(line, "=")
			if line != "" && !strings.HasPrefix(line, "[") && !slices.Contains(byDefault, line) {
				options[key] = value
			}
		}
		all = append(all, options)
	}
	return all
}

func differences(want, got []map[string]string) []string {
	if len(want) != len(got) {
		return []string{fmt.Sprintf("%d jobs instead of %d", len(got), len(want))}
	}
	var found []string
	for i := range want {
		for key, value := range got[i] {
			if wanted, named := want[i][key]; wanted != value && (named || ours[key] == "") {
				found = append(found, fmt.Sprintf("%s=%s instead of %q", key, value, wanted))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(want[i])) {
			if _, has := got[i][key]; !has {
				found = append(found, fmt.Sprintf("no %s=%s", key, want[i][key]))
			}
		}
	}
	return found
}

// setsAsAStep looks for a step that changes the same setting as "nvme set-feature".
func setsAsAStep(t *testing.T, words []string, steps []suite.DryStep) {
	t.Helper()
	require.Equal(t, "set-feature", words[0])
	number := func(option string) int {
		for _, word := range words {
			if text, ok := strings.CutPrefix(word, "--"+option+"="); ok {
				n, err := strconv.ParseInt(text, 0, 32)
				require.NoError(t, err)
				return int(n)
			}
		}
		require.Fail(t, "no --"+option, "nvme %s", strings.Join(words, " "))
		return 0
	}
	value := number("value")
	var name settings.Name
	var text string
	switch feature := nvme.Feature(number("feature-id")); feature {
	case nvme.FeatureInterruptCoalescing: // NVMe base specification: threshold minus one in the low byte, time in units of 100 µs above it
		name = settings.InterruptCoalescing
		text = fmt.Sprintf("%d/%v", value&0xff+1, time.Duration(value>>8)*100*time.Microsecond)
	case nvme.FeatureVolatileWriteCache:
		name, text = settings.WriteCache, map[int]string{0: "off", 1: "on"}[value]
	default:
		require.Fail(t, "unknown feature", "%d", feature)
	}
	assert.True(t, slices.ContainsFunc(steps, func(step suite.DryStep) bool { return step.Settings[string(name)] == text }),
		"no step has %s %s, which nvme %s sets", name, text, strings.Join(words, " "))
}

// fio accepts the commands as written.
func TestFioKnowsTheCommands(t *testing.T) {
	testenv.Installed(t, "fio")
	for _, s := range suite.All() {
		for command := range strings.SplitSeq(s.Replaces, " && ") {
			if words := strings.Fields(command); words[0] == "fio" {
				said, err := exec.CommandContext(t.Context(), "fio", append([]string{"--parse-only"}, words[1:]...)...).CombinedOutput()
				require.NoError(t, err, "%s: %s", command, said)
			}
		}
	}
}
