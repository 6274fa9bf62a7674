package suite_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/suite"
)

var update = flag.Bool("update", false, "rewrite the expected plans")

// serverDrive returns a drive of a server with polled queues, on a NUMA node of four
// cores.
func serverDrive() suite.Target {
	return suite.Target{
		Path: "/dev/nvme0n1", ID: "eui.1", Raw: true, SizeBytes: 4000787030016,
		Device:     record.Device{Name: "nvme0n1", Number: "259:0", Controllers: []string{"nvme0"}, Serial: "S1"},
		Conditions: record.Conditions{Polling: record.Polling{Mode: record.On, Queues: record.NumberOf(4)}},
		CPUs:       device.CPUSet{CPUs: []int{8, 9, 10, 11, 24, 25, 26, 27}, Cores: 4}, Core: []int{9, 25},
		MemoryNode: new(1),
		Nodes: []device.NodeCPUs{
			{Node: 1, CPUSet: device.CPUSet{CPUs: []int{8, 9, 10, 11, 24, 25, 26, 27}, Cores: 4}},
			{Node: 0, CPUSet: device.CPUSet{CPUs: []int{0, 1, 2, 3, 16, 17, 18, 19}, Cores: 4}},
		},
	}
}

// The default plans of all suites, as --dry-run shows them, are stored, so that a
// change of what is run shows.
func TestPlans(t *testing.T) {
	var text strings.Builder
	for _, s := range suite.All() {
		target := serverDrive()
		if s.Name == "durable-write" {
			target.Raw, target.Path = false, "/srv/ssdprobe.dat"
		}
		targets := []suite.Target{target}
		if s.Name == "scale" {
			other := serverDrive()
			other.Path = "/dev/nvme1n1"
			targets = append(targets, other)
		}
		steps, err := s.DryRun(suite.Values{}, targets...)
		require.NoError(t, err)
		var all time.Duration
		fmt.Fprintf(&text, "== %s: %s\n", s.Name, s.Question)
		for _, step := range steps {
			all += step.Expected
			fmt.Fprintf(&text, "%s: %s, %v", step.Name, step.Plan, step.Expected)
			if step.Writes != "" {
				fmt.Fprintf(&text, "; writes %s", step.Writes)
			}
			if step.Optional {
				text.WriteString("; optional")
			}
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "all: %v\n\n%s\n", all, steps[len(steps)-1].JobFile)
	}
	golden := filepath.Join("testdata", "plans.golden")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(text.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), text.String())
}

// Every step of a plan has a unique name, by which reports are compared.
func TestStepsHaveNamesOfTheirOwn(t *testing.T) {
	for _, s := range suite.All() {
		target := serverDrive()
		target.Raw = s.Name != "durable-write"
		steps, err := s.DryRun(suite.Values{}, target)
		require.NoError(t, err)
		seen := map[string]bool{}
		for _, step := range steps {
			assert.False(t, seen[step.Name], "%s: %s", s.Name, step.Name)
			seen[step.Name] = true
		}
	}
}

func TestDescribe(t *testing.T) {
	all, err := suite.Describe()
	require.NoError(t, err)
	require.Len(t, all, len(suite.All()))
	byName := map[string]suite.Description{}
	for _, d := range all {
		byName[d.Name] = d
		assert.Positive(t, d.Expected, d.Name)
		for _, p := range d.Parameters {
			assert.NotEmpty(t, p.Doc, "%s %s", d.Name, p.Name)
		}
	}
	assert.Equal(t, 30*time.Second, byName["quick"].Expected)
	assert.Equal(t, 4*8*150*time.Second, byName["sequential-vs-random"].Expected)
	assert.Empty(t, byName["quick"].Writes)
	assert.NotEmpty(t, byName["steady-state"].Writes)
}

// Writing to a raw device needs a permission, whatever the suite.
func TestWritesNeedAPermission(t *testing.T) {
	for _, s := range suite.All() {
		target := serverDrive()
		writes, err := s.WritesTo(suite.Values{}, target)
		if s.Name == "durable-write" {
			require.ErrorContains(t, err, "it writes to a file: name a directory")
			continue
		}
		require.NoError(t, err)
		_, err = s.Plan(suite.Values{}, target)
		if writes {
			require.ErrorContains(t, err, "its serial number was not given to permit that", s.Name)
			assert.NotEmpty(t, s.Writes, s.Name)
		} else {
			require.NoError(t, err, s.Name)
		}
	}
	s := find(t, "steady-state")
	_, err := s.Plan(set(t, s, "purge=format"), serverDrive())
	require.ErrorContains(t, err, "it would format the drive, but --format and its serial number were not given to permit that")
	for _, name := range []string{"saturate", "sequential-vs-random"} {
		s := find(t, name)
		_, err := s.Plan(set(t, s, "writes=no"), serverDrive())
		require.NoError(t, err, "it can be told only to read")
	}
	_, err = find(t, "quick").Plan(suite.Values{}, serverDrive(), serverDrive())
	require.EqualError(t, err, "plan quick: 2 targets: it takes one")
}

func TestParametersOfPlans(t *testing.T) {
	names := func(name string, target suite.Target, settings ...string) []string {
		s := find(t, name)
		steps, err := s.DryRun(set(t, s, settings...), target)
		require.NoError(t, err)
		var all []string
		for _, step := range steps {
			all = append(all, step.Name)
		}
		return all
	}
	assert.Equal(t, []string{"random-read-qd1", "random-read-qd3"}, names("depth-sweep", serverDrive(), "depths=1,3"))
	disk := suite.Target{Path: "/dev/sda", Raw: true, SizeBytes: 1 << 40, QueueDepth: 3}
	assert.Equal(t, []string{"random-read-qd1", "random-read-qd2", "random-read-qd3"}, names("depth-sweep", disk), "every depth of its own")
	disk.QueueDepth = 0
	assert.Len(t, names("depth-sweep", disk), 32)
	assert.Equal(t, []string{"1c1t-sequential-read-qd32", "1c1t-random-read-qd32"}, names("single-core", disk), "a core without siblings")
	assert.Equal(t, []string{"random-read-qd1", "polled-random-read-qd1"}, names("interrupts", serverDrive(), "depths=1", "coalescing=as-found", "repeats=1"))
	assert.Equal(t, []string{"coalescing-8x200us-random-read-qd1"}, names("interrupts", serverDrive(), "depths=1", "coalescing=8/200us", "repeats=1", "polled=no"))
	assert.Equal(t, []string{"4k-cache-on-random-write-qd1"}, names("write-cache", serverDrive(), "depths=1", "blocks=4KiB", "cache=on", "repeats=1"))
	assert.Equal(t, []string{"purge", "round-01", "round-02"}, names("steady-state", serverDrive(), "purge=yes", "precondition=0", "rounds=2", "window=2"))

	for setting, want := range map[string]string{
		"interrupts polled=yes":        "the driver has no polled queues here",
		"model sequential-block=5000B": "blocks of 5 000 B: direct I/O on /dev/sda takes multiples of its logical blocks of 512 B",
		"scale counts=2":               "counts: 2 devices at once, but there are only 1",
		"linear-read piece=4MiB":       "piece: 4 MiB is less than 8 blocks of 1 MiB, which are in flight at once; want 8 MiB or more",
		"linear-read depth=9":          "is too small for 40 pieces of 9 blocks of 1 MiB",
	} {
		name, parameter, _ := strings.Cut(setting, " ")
		s, small := find(t, name), disk
		small.SizeBytes = 40 * 8 << 20
		_, err := s.Plan(set(t, s, parameter), small)
		require.ErrorContains(t, err, want)
	}
	disk.Device.LogicalBlockBytes = 4 << 10 // 4Kn
	quick := find(t, "quick")
	_, err := quick.Plan(set(t, quick, "random-block=512B"), disk)
	require.ErrorContains(t, err, "blocks of 512 B: direct I/O on /dev/sda takes multiples of its logical blocks of 4 KiB")
	assert.NotEmpty(t, names("quick", disk))

	file := suite.Target{Path: "/srv/data", SizeBytes: 1 << 30}
	s := find(t, "steady-state")
	_, err = s.Plan(set(t, s, "purge=yes"), file)
	require.ErrorContains(t, err, "blocks of a file can be neither discarded nor formatted")
}

// Plans say how often a target is written in English: it said "all of it 1 times".
func TestPlansSayHowOftenTheyFill(t *testing.T) {
	s := find(t, "steady-state")
	for setting, want := range map[string]string{"precondition=1": "all of it 1 time", "precondition=2": "all of it 2 times"} {
		steps, err := s.DryRun(set(t, s, setting), serverDrive())
		require.NoError(t, err)
		assert.Equal(t, "128 KiB sequential write, depth 32, "+want, steps[0].Plan)
	}
}

// A path that fio would misread is refused before a file is filled there.
func TestAPathThatFioWouldMisread(t *testing.T) {
	s, err := suite.Find("quick")
	require.NoError(t, err)
	for _, dir := range []string{"/srv/a;b", "/srv/$HOME"} {
		_, err := s.WritesTo(suite.Values{}, suite.Target{Path: dir + "/ssdprobe.dat", SizeBytes: 1 << 30})
		assert.ErrorContains(t, err, dir+"/ssdprobe.dat")
	}
}
