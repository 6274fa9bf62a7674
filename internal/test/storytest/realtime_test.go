//go:build kubernetes

package storytest_test

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// The I/Os per second of the drives when the clock is not set forward. A round of 264 I/Os has to end long before its
// timeout, even at half that rate. The processors are emulated, so at a much higher rate on four drives the rounds would
// wait for a CPU.
const (
	realIOPS     = 60
	halfRealIOPS = realIOPS / 2
)

// asShipped is the default configuration except for three things. Baselines are learned in five minutes instead of an
// hour. A round counts even if it waited for an emulated processor. The processor does not have to verify eBPF programs.
const asShipped = "node: " + node + "\ndrift: {baseline_rounds: 10}\nadmission: {max_cpu_wait: 1}\nio_latency: never\n"

// TestStoryInRealTime is the story of a node whose clock nobody changes: default probes and settings, the alerts as
// shipped, and the default times of Prometheus' own example and of Alertmanager. It measures how long each step takes,
// and asserts no times. It does not wait for `severe`, which takes applications that are as slow as the probes;
// TestStoryOfANode covers that.
func TestStoryInRealTime(t *testing.T) {
	program := program(t)
	s := startRealTime(t, program)
	slow := `ssdprobe_drive_health{id="` + s.worn.id + `",state=~"degraded|severe"} == 1`
	s.limit(t, s.worn, halfRealIOPS)
	s.measure(t, "one of four drives is half as fast", []step{
		{"verdict degraded or worse", func() bool { return s.holds(t, slow) }},
		{"condition", func() bool { return s.told() == "DriveDegraded" || s.told() == "DriveSevere" }},
		{"event", func() bool { return strings.Contains(s.events(), `"note":"`+s.worn.name+` is `) }},
		{"check ends with 1 or 2", s.checks(t, slow, 1, 2)},
		{"alert fires", func() bool { return s.firing(t, `SsdprobeDrive(Degraded|Severe)`) == 1 }},
		{"alert is sent", func() bool { _, found := s.inbox.slower(); return found }},
		{"fleet lists it first", func() bool {
			first := listedFirst(program, s.prometheus)
			return strings.HasPrefix(first, node+","+s.worn.name+",") && (strings.Contains(first, ",degraded,") || strings.Contains(first, ",severe,"))
		}},
	})
	t.Log(fleet(program, s.prometheus, "text"))
	s.limit(t, s.worn, realIOPS)
	s.measure(t, "the drive is as fast as before", s.isOver(t))
	s.inbox.onlyAbout(t, s.worn)
}

// realTime is a node whose drives have learned how fast they are.
type realTime struct {
	*clusterNode
	program    string // ssdprobe for this host
	prometheus prometheus
	inbox      inbox
}

// check returns the result of `ssdprobe check`. It runs on this host and asks the daemon of the node, because the
// emulated processors take longer to start a program than to answer.
func (s *realTime) check(t *testing.T) (line string, code int) {
	t.Helper()
	command := exec.CommandContext(bounded(t), s.program, "check", "--url", s.url)
	out, err := command.Output()
	if ended := (*exec.ExitError)(nil); !errors.As(err, &ended) {
		require.NoError(t, err)
	}
	return strings.TrimSpace(string(out)), command.ProcessState.ExitCode()
}

func startRealTime(t *testing.T, program string) *realTime {
	t.Helper()
	s := &realTime{clusterNode: bootNode(t, startCluster(t)), inbox: inbox{promtest.NewInbox(t)}, program: program}
	for _, d := range s.drives {
		s.limit(t, d, realIOPS)
	}
	s.use(t, "--rate_iops=5")
	begun := time.Now()
	s.startDaemon(t, asShipped+tellKubernetes)
	s.prometheus = monitorAsShipped(t, s.machine, s.inbox)
	testenv.EventuallyWithin(t, longBound, 2*time.Second, "four drives that are judged and healthy", func() bool { return s.told() == "NoSlowDrive" })
	t.Logf("%4.0f s: four drives are judged and healthy", time.Since(begun).Seconds())
	line, code := s.check(t)
	assert.Equal(t, 0, code, line)
	assert.Empty(t, s.inbox.All())
	return s
}

// step is something that has to become visible.
type step struct {
	what string
	seen func() bool
}

// longBound is far more than any part of the story takes.
const longBound = time.Hour

// measure waits until each step was seen, in any order, and reports when.
func (s *realTime) measure(t *testing.T, change string, steps []step) {
	t.Helper()
	begun := time.Now()
	t.Log("Now " + change + ".")
	testenv.EventuallyWithin(t, longBound, 2*time.Second, change, func() bool {
		var left []step
		for _, step := range steps {
			if !step.seen() {
				left = append(left, step)
				continue
			}
			t.Logf("%4.0f s: %s", time.Since(begun).Seconds(), step.what)
		}
		steps = left
		return len(steps) == 0
	})
}

// isOver returns the steps in which everything ends.
func (s *realTime) isOver(t *testing.T) []step {
	const well = `sum(ssdprobe_drive_health{state="healthy"}) == 4`
	return []step{
		{"verdict healthy", func() bool { return s.holds(t, well) }},
		{"condition has ended", func() bool { return s.told() == "NoSlowDrive" }},
		{"check ends with 0", s.checks(t, well, 0)},
		{"no alert fires", func() bool { return s.firing(t, ".*") == 0 }},
		{"the end of the alert is sent", func() bool { return !s.inbox.open() }},
	}
}

func (s *realTime) holds(t *testing.T, expr string) bool { return len(s.prometheus.now(t, expr)) > 0 }

// checks returns a function that reports whether check ends with one of the codes. It runs check only once the expression
// holds: an answer takes the emulated processors seconds, and constant asking would take them away from the rounds.
func (s *realTime) checks(t *testing.T, expr string, codes ...int) func() bool {
	return func() bool {
		if !s.holds(t, expr) {
			return false
		}
		line, code := s.check(t)
		t.Logf("check ends with %d: %s", code, line)
		return slices.Contains(codes, code)
	}
}

// firing returns how many alerts fire whose name matches.
func (s *realTime) firing(t *testing.T, name string) int {
	return len(s.prometheus.now(t, fmt.Sprintf(`ALERTS{alertname=~%q,alertstate="firing"}`, name)))
}
