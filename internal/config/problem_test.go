package config_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// testdata/bad.yaml contains nearly every possible mistake.
func TestAllProblemsAtOnce(t *testing.T) {
	const file, golden = "testdata/bad.yaml", "testdata/bad.golden"
	_, err := load(file)
	require.Error(t, err)
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(err.Error()+"\n"), 0o600))
	}
	want, readErr := os.ReadFile(golden)
	require.NoError(t, readErr)
	assert.Equal(t, string(want), err.Error()+"\n")
}

// topKeys returns the top-level keys of the file, in order.
func topKeys(t *testing.T) string {
	t.Helper()
	text, err := config.Default().YAML()
	require.NoError(t, err)
	var keys []string
	for _, match := range regexp.MustCompile(`(?m)^(\w+):`).FindAllStringSubmatch(string(text), -1) {
		keys = append(keys, match[1])
	}
	require.Contains(t, keys, "listen")
	return strings.Join(keys, ", ")
}

func TestProblems(t *testing.T) {
	topKeys := topKeys(t)
	for _, test := range []struct {
		name, text, want string
	}{
		// The file.
		{"two documents", "node: a\n---\nnode: b\n", "line 2: a second document begins here; want one document: no line of three dashes"},
		{"a word", "hello\n", "line 1: the file is a single value; want keys with their values: " + topKeys},
		{"a tab", "drift:\n\twindow: 5m\n", "line 2: not YAML, here or just above: the line is indented by a tab; want spaces"},
		{"a tab after spaces", "probes:\n  - name: a\n  \tios: 4\n", "line 3: not YAML, here or just above: the line is indented by a tab; want spaces"},
		{"a tab that is not the trouble", "node: a\tb\ndrift: [\n", "line 2: not YAML, here or just above: did not find expected node content"},
		{"bad indentation", "probes:\n  - name: x\n   ios: 4\n  - name: y\n",
			"line 3: not YAML, here or just above: did not find expected '-' indicator"},
		{"an error in the first line", "node: a: b\ndrift:\n", "line 1: not YAML, here or just above: mapping values are not allowed in this context"},
		{"an unknown anchor", "node: a\nlisten: *here\n", "line 2: not YAML, here or just above: unknown anchor 'here' referenced"},
		{"an error in a second document", "node: a\n---\nnode: [\n", "line 3: not YAML, here or just above: did not find expected node content"},
		{"not text", "node: a\nlisten: \xff\n", "line 2: not YAML, here or just above: invalid leading UTF-8 octet"},

		// Keys.
		{"a key that is like none", "colour: red\n", "line 1: colour: is not a key here; want one of " + topKeys},
		{"a key that is like one", "\n\ndrift:\n  windw: 5m\n",
			"line 4: drift.windw: is not a key here (did you mean window?); want one of window, baseline_rounds, threshold, smallest_effect, false_alarms_per_device_year, data_sheets"},
		{"a key of another section", "window: 5m\n", "line 1: window: is not a key here; want one of " + topKeys},
		{"an odd key", "\"a b\\n\": 1\n", `line 1: "a b\n": is not a key here; want one of ` + topKeys},
		{"a long key", strings.Repeat("a", 70) + ": 1\n", `line 1: "` + strings.Repeat("a", 60) + `…": is not a key here; want one of ` + topKeys},
		{"a key given three times", "node: a\nnode: b\nnode: c\n",
			"line 2: node: is given again; want it once: the first is in line 1\nline 3: node: is given again; want it once: the first is in line 1"},
		{"what is given again does not hide the first", "fill_rate: 1B\nfill_rate: 1GiB\n",
			"line 1: fill_rate: \"1B\" is too small; want 1MiB or more\nline 2: fill_rate: is given again; want it once: the first is in line 1"},
		{"a section for a value", "node: {a: b}\n", "line 1: node: is a section of keys; want a single value"},
		{"a value for a list", "listen: :10040\n", "line 1: listen: is a single value; want a list: lines that begin with a dash, or [a, b]"},
		{"nothing for a size", "fill_rate:\n", "line 1: fill_rate: is empty; want a whole number of bytes with an optional unit, e.g. 4096, 4KiB, 128KiB"},
		{"nothing for a text", "node: null\n", "line 1: node: is empty; want a value, or the key left out"},
		{"a long value", "fill_rate: " + strings.Repeat("9", 70) + "\n",
			`line 1: fill_rate: "` + strings.Repeat("9", 60) + `…" is too large for a size; want at most 8388607TiB`},

		// Values.
		{"paths for the names of devices", "devices:\n  include: [{name: /dev/sda}]\n  exclude: [{by_id: /dev/disk/by-id/ata-*}]\n",
			"line 2: devices.include[0].name: \"/dev/sda\" is not a name; want one without a directory, e.g. nvme0n1, or with by_id one of those in /dev/disk/by-id\n" +
				"line 3: devices.exclude[0].by_id: \"/dev/disk/by-id/ata-*\" is not a name; want one without a directory, e.g. nvme0n1, or with by_id one of those in /dev/disk/by-id"},
		{"no listener", "listen: []\n", "line 1: listen: has no address; want host:port or :port, e.g. 127.0.0.1:10040, [::1]:10040, :10040"},
		{"often", "discovery_interval: 999ms\n", `line 1: discovery_interval: "999ms" is too small; want 1s or more`},
		{"no rounds", "rounds_at_once: 0\n", `line 1: rounds_at_once: "0" is out of range; want 1 to 64`},
		{"a minute without unit", "drift:\n  window: 60\n",
			`line 2: drift.window: "60" has no unit; want a number with its unit (ms, s, m, h or d), e.g. 500ms, 30s, 1h30m, 7d`},
		{"health all the time", "health:\n  interval: 100ms\n", `line 2: health.interval: "100ms" is too small; want 1s or more`},
		{"a share of nothing", "drift:\n  threshold: 0.5%\n", `line 2: drift.threshold: "0.5%" is out of range; want 0.01 to 10`},
		{"too small to find", "drift:\n  smallest_effect: 0.1%\n", `line 2: drift.smallest_effect: "0.1%" is out of range; want 0.01 to 1`},
		{"no false alarm ever", "drift:\n  false_alarms_per_device_year: 0\n",
			`line 2: drift.false_alarms_per_device_year: "0" is out of range; want 0.001 to 100`},
		{"a share of a year", "drift:\n  false_alarms_per_device_year: 50%\n",
			`line 2: drift.false_alarms_per_device_year: "50%" is not a number; want a number, e.g. 0.5`},
		{"an empty rule", "devices:\n  include: [{}]\n",
			"line 2: devices.include[0]: is an empty rule; want at least one of name, id, model, by_id, transport, min_size, max_size"},
		{"a rule of empty texts", "devices:\n  exclude:\n    - name: ''\n",
			"line 3: devices.exclude[0]: is an empty rule; want at least one of name, id, model, by_id, transport, min_size, max_size"},
		{"a rule with a wrong key is not called empty too", "devices:\n  include:\n    - nam: sda\n",
			"line 3: devices.include[0].nam: is not a key here (did you mean name?); want one of name, id, model, by_id, transport, min_size, max_size"},
		{"nothing between two sizes", "devices:\n  include:\n    - max_size: 1kB\n      min_size: 1KiB\n",
			`line 3: devices.include[0].max_size: "1kB" is below min_size; want 1KiB or more`},
		{"two files of one path", "files:\n  - path: /srv/a\n  - path: /srv/b/../a\n", `line 3: files[1].path: "/srv/b/../a" is the same as files[0].path; want it once`},
		{"a directory and its probe file", "files:\n  - path: /srv\n  - path: /srv/ssdprobe.dat\n", `line 3: files[1].path: "/srv/ssdprobe.dat" is the same as files[0].path; want it once`},
		{"a probe file and its directory", "files:\n  - path: /ssdprobe.dat\n  - path: /\n", `line 3: files[1].path: "/" is the same as files[0].path; want it once`},
		{"a file among devices", "files: [{path: /srv/../dev/sda}]\n",
			`line 1: files[0].path: "/srv/../dev/sda" is not on a filesystem of a drive; want a file or directory on such a filesystem; block devices belong under devices`},
		{"a file without path", "files:\n  - size: 1GiB\n", "line 2: files[0].path: is missing; want a path that begins with /"},
		{"blocks too large for a file", "files:\n  - path: /a\n    size: 16MiB\nprobes:\n  - {name: big, block_size: 16MiB, ios: 2}\n",
			`line 3: files[0].size: "16MiB" holds less than two blocks of probe big; want 32MiB or more`},

		{"no node may run", "fleet:\n  max_runs: 0\n", `line 2: fleet.max_runs: "0" is out of range; want 1 to 64`},
		{"a lease that has no name", "fleet: {lease: ''}\n", "line 1: fleet.lease: is empty; want letters a to z, digits and -, neither first nor last a -"},
		{"a lease that Kubernetes would refuse", "fleet: {lease: ssdprobe_run}\n",
			`line 1: fleet.lease: "ssdprobe_run" is not a name of Leases; want letters a to z, digits and -, neither first nor last a -`},
		{"a namespace that Kubernetes would refuse", "fleet: {namespace: -a}\n",
			`line 1: fleet.namespace: "-a" is not a namespace; want letters a to z, digits and -, neither first nor last a -, or "" for the pod's own`},
		{"a short lease", "fleet: {lease_duration: 5s}\n", `line 1: fleet.lease_duration: "5s" is out of range; want 10s to 1h`},
		{"half a second of a lease", "fleet: {lease_duration: 10500ms}\n", `line 1: fleet.lease_duration: "10500ms" is not a whole number of seconds; want e.g. 2m`},
		{"a taint that evicts", "kubernetes: {taint: NoExecute}\n",
			`line 1: kubernetes.taint: "NoExecute" would evict the pods of the node; want one of none, PreferNoSchedule, NoSchedule`},
		{"a taint of another kind", "kubernetes: {taint: noschedule}\n",
			`line 1: kubernetes.taint: "noschedule" is not an effect of this taint; want one of none, PreferNoSchedule, NoSchedule`},
		{"no node may have the taint", "kubernetes: {max_taints: 0}\n", `line 1: kubernetes.max_taints: "0" is out of range; want 1 to 64`},
		{"a kubeconfig somewhere", "fleet: {kubeconfig: admin.conf}\n", `line 1: fleet.kubeconfig: "admin.conf" is not an absolute path; want a path that begins with /`},

		// Combinations in probes.
		{"datasync without writes", "probes:\n  - name: a\n    datasync: true\n",
			`line 3: probes[0].datasync: "true" is only for write probes; want direction: write, or no datasync`},
		{"writes to devices", "probes:\n  - name: a\n    direction: write\n    targets: devices\n",
			`line 4: probes[0].targets: "devices" is not for write probes: block devices are never written; want files, or direction: read`},
		{"deeper than it is long", "probes:\n  - name: a\n    queue_depth: 8\n    ios: 4\n", `line 3: probes[0].queue_depth: "8" is above ios; want at most 4`},
		{"a round that is too large", "probes:\n  - name: ok\n\n  - name: big\n    block_size: 4MiB\n",
			`line 4: probes[1]: "1056MiB" is too much for a round, (ios + warmup_ios) × block_size; want at most 1GiB`},
		{"too much memory for a round", "probes:\n  - {name: a, block_size: 1MiB, queue_depth: 64, ios: 64}\n  - {name: b, block_size: 16MiB, ios: 32, queue_depth: 5}\n",
			`line 3: probes[1].queue_depth: "5" keeps too much in flight, queue_depth × block_size; want at most 4, which are 64MiB`},
		{"what follows from a wrong value is not said", "probes:\n  - name: a\n    direction: wrong\n    datasync: true\n    targets: devices\n    queue_depth: 64\n    ios: 0\n",
			"line 3: probes[0].direction: \"wrong\" is not a direction; want one of read, write\n" +
				"line 7: probes[0].ios: \"0\" is out of range; want 1 to 100000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := parse(test.text)
			require.EqualError(t, err, test.want)
			assert.Equal(t, config.Config{}, c)
			var problems config.Problems
			assert.ErrorAs(t, err, &problems)
		})
	}
}

// Flags change a Config after parsing, so there are no lines.
func TestValidateWithoutFile(t *testing.T) {
	c := with(func(c *config.Config) {
		c.Node = "a\xffb"
		c.HostRoot = ""
		c.Listen = nil
		c.RoundsAtOnce = 65
		c.Devices.Include = []device.Rule{{}, {MinSizeBytes: -1}}
		c.Files = []config.File{{Path: "/a", SizeBytes: 1 << 30}, {Path: "/a/", SizeBytes: 4096}}
		c.Probes = append(c.Probes, record.Probe{})
		c.Admission.MaxInFlight = new(int64(-1))
		c.Drift.Threshold, c.Drift.SmallestEffect, c.Drift.FalseAlarmsPerYear = -0.5, 2, -1
		c.Health.Interval, c.Health.Interrupts = 0, "some"
		c.Health.Devices = []config.HealthOf{{Rule: device.Rule{Name: "a"}}, {Interrupts: config.InterruptsAll}}
	})
	assert.EqualError(t, c.Validate(), `node: "a\xffb" has characters that cannot be printed; want letters, digits, punctuation and spaces
host_root: is empty; want a path that begins with /
listen: has no address; want host:port or :port, e.g. 127.0.0.1:10040, [::1]:10040, :10040
rounds_at_once: "65" is out of range; want 1 to 64
devices.include[1].min_size: "-1" is too small; want 1 or more
files[1].size: "4KiB" is too small; want 16MiB or more
probes[3].name: is missing; want a name, e.g. read-4k
probes[3].direction: is empty; want one of read, write
probes[3].pattern: is empty; want one of random, sequential
probes[3].block_size: "0" is out of range; want 512 to 16MiB
probes[3].queue_depth: "0" is out of range; want 1 to 64
probes[3].ios: "0" is out of range; want 1 to 100000
probes[3].interval: "0s" is too small; want 1s or more
probes[3].timeout: "0s" is too small; want 100ms or more
probes[3].targets: is empty; want one of all, devices, files
admission.max_in_flight: "-1" is too small; want 0 or more, or auto
drift.threshold: "-0.5" is out of range; want 0.01 to 10
drift.smallest_effect: "2" is out of range; want 0.01 to 1
drift.false_alarms_per_device_year: "-1" is out of range; want 0.001 to 100
health.interval: "0s" is too small; want 1s or more
health.interrupts: "some" is not a level of detail; want one of summary, all
health.devices[0].interrupts: is missing; want summary or all
devices.include[0]: is an empty rule; want at least one of name, id, model, by_id, transport, min_size, max_size
health.devices[1]: is an empty rule; want at least one of name, id, model, by_id, transport, min_size, max_size
files[1].path: "/a/" is the same as files[0].path; want it once`)
}
