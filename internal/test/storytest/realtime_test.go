//go:build kubernetes

package storytest_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// What the drives do in a second when time is not set forward: a round of 264 I/Os has to end long before its time-out, at half of
// it too. The processors are emulated: much more, on four drives, and the rounds would wait for a CPU.
const (
	realIOPS     = 60
	halfRealIOPS = realIOPS / 2
)

// asShipped is the default configuration but for three things: baselines are learned in five minutes and not in an hour, a round
// counts although it waited for an emulated processor, and that is spared the verification of eBPF programs.
const asShipped = "node: " + node + "\ndrift: {baseline_rounds: 10}\nadmission: {max_cpu_wait: 1}\nio_latency: never\n"

// These let a node get to know its host, which takes a day once enough blocks are known to read, in half an hour: its clock is set
// back and flies until it is right again. The rounds, whose interval no clock changes, are as many more and smaller meanwhile.
const (
	longAgo   = 40 * time.Hour
	asItFlies = "rounds_at_once: 4\nprobes: [{name: read-4k, ios: 24, warmup_ios: 2, interval: %s}]\n"
	flyToNow  = `
read -r up idle </proc/uptime
begun=${up%%.*} ago=$(date +%%s) now=$((ago + %d))
while sleep 1; do
	read -r up idle </proc/uptime
	passed=$((${up%%.*} - begun))
	if [ $((ago + 100 * passed)) -ge $((now + passed)) ]; then
		date -s @$((now + passed)) >/dev/null
		exit
	fi
	date -s @$((ago + 100 * passed)) >/dev/null
done`
)

// TestStoryInRealTime is the story of a node, with a clock that nobody sets: default probes and settings, the alerts as they are
// shipped, and the default times of Prometheus' own example and of Alertmanager. It measures how long each step takes, and
// asserts no time. Once one of four drives gets half as fast, once all of them, which is the host. It waits for no `severe`, which
// takes users who are as slow as the probes: TestStoryOfANode has it.
func TestStoryInRealTime(t *testing.T) {
	program := program(t)
	t.Run("drive", func(t *testing.T) {
		t.Parallel()
		s := startRealTime(t, program, asShipped, 0)
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
	})
	t.Run("host", func(t *testing.T) {
		t.Parallel()
		s := startRealTime(t, program, asShipped+fmt.Sprintf(asItFlies, "1s"), longAgo)
		s.reload(t, asShipped+fmt.Sprintf(asItFlies, "30s")+tellKubernetes)
		await(t, "a host that is judged", func() bool { return s.holds(t, `ssdprobe_host_health{state="healthy"} == 1`) })
		const slow = `ssdprobe_host_health{state=~"degraded|severe"} == 1`
		for _, d := range s.drives {
			s.limit(t, d, halfRealIOPS)
		}
		s.measure(t, "all drives are half as fast", []step{
			{"verdict on the host", func() bool { return s.holds(t, slow) }},
			{"condition", func() bool { return s.told() == "DriveDegraded" || s.told() == "DriveSevere" }},
			{"check ends with 1 or 2", s.checks(t, slow, 1, 2)},
			{"alert fires", func() bool { return s.firing(t, `SsdprobeHostSlower`) == 1 }},
			{"alert is sent", func() bool { return s.inbox.has("SsdprobeHostSlower") }},
			{"fleet lists the host", func() bool { return listedHost.MatchString(fleet(program, s.prometheus, "text")) }},
		})
		t.Log(fleet(program, s.prometheus, "text"))
		for _, d := range s.drives {
			s.limit(t, d, realIOPS)
		}
		s.measure(t, "all drives are as fast as before", s.isOver(t))
		for _, a := range s.inbox.All() {
			assert.Equal(t, "SsdprobeHostSlower", a.Labels["alertname"], "%v", a)
		}
	})
}

// listedHost is a node that `ssdprobe fleet` finds slow: a line below the heading of hosts.
var listedHost = regexp.MustCompile(`(?m)^\s*` + node + `\s+4\s+(degraded|severe)\b`)

// realTime is a node whose drives have learned how fast they are.
type realTime struct {
	*clusterNode
	program    string // ssdprobe for this host
	prometheus prometheus
	inbox      inbox
}

// check is what `ssdprobe check` says. It runs on this host and asks the daemon of the node: to begin a program takes the emulated
// processors longer than to answer.
func (s *realTime) check(t *testing.T) (line string, code int) {
	t.Helper()
	command := exec.CommandContext(bounded(t), s.program, "check", "--url", s.url)
	out, err := command.Output()
	if ended := (*exec.ExitError)(nil); !errors.As(err, &ended) {
		require.NoError(t, err)
	}
	return strings.TrimSpace(string(out)), command.ProcessState.ExitCode()
}

// startRealTime starts the node, and watches it once its clock is right.
func startRealTime(t *testing.T, program, configuration string, ago time.Duration) *realTime {
	t.Helper()
	s := &realTime{clusterNode: bootNode(t, startCluster(t)), inbox: inbox{promtest.NewInbox(t)}, program: program}
	for _, d := range s.drives {
		s.limit(t, d, realIOPS)
	}
	s.use(t, "--rate_iops=5")
	begun := time.Now()
	if ago == 0 {
		s.startDaemon(t, configuration+tellKubernetes)
	} else {
		s.flyFrom(t, ago, func() { s.startDaemon(t, configuration+tellKubernetes) })
		t.Logf("%4.0f s: a day is over", time.Since(begun).Seconds())
	}
	s.prometheus = monitorAsShipped(t, s.machine, s.inbox)
	testenv.EventuallyWithin(t, longBound, 2*time.Second, "four drives that are judged and healthy", func() bool { return s.told() == "NoSlowDrive" })
	t.Logf("%4.0f s: four drives are judged and healthy", time.Since(begun).Seconds())
	line, code := s.check(t)
	assert.Equal(t, 0, code, line)
	assert.Empty(t, s.inbox.All())
	return s
}

// flyFrom sets the clock back by so much, begins something, and lets the clock fly until it is right.
func (s *realTime) flyFrom(t *testing.T, ago time.Duration, begin func()) {
	t.Helper()
	_, err := s.Output(bounded(t), "date", "-s", fmt.Sprintf("@%d", s.clock(t).Add(-ago).Unix()))
	require.NoError(t, err)
	begin()
	flight, err := s.StartProcess(bounded(t), "sh", "-c", fmt.Sprintf(flyToNow, int(ago.Seconds())))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), longBound)
	defer cancel()
	result, err := flight.Wait(ctx)
	require.NoError(t, err)
	require.Zero(t, result.ExitCode, result.Stderr)
}

// reload gives the daemon another configuration.
func (s *realTime) reload(t *testing.T, configuration string) {
	t.Helper()
	require.NoError(t, s.WriteFile(bounded(t), configurationPath, []byte(configuration), 0o644))
	result, err := s.Run(bounded(t), "sh", "-c", "kill -HUP $(pidof ssdprobe)")
	require.NoError(t, err)
	require.Zero(t, result.ExitCode, result.Stderr)
}

// step is something that is to be seen.
type step struct {
	what string
	seen func() bool
}

// longBound is far more than any part of the story takes.
const longBound = time.Hour

// measure waits until each step was seen, in any order, and tells when.
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

// isOver are the steps in which everything ends.
func (s *realTime) isOver(t *testing.T) []step {
	const well = `sum(ssdprobe_drive_health{state="healthy"}) == 4 unless on () ssdprobe_host_health{state=~"degraded|severe"} == 1`
	return []step{
		{"verdict healthy", func() bool { return s.holds(t, well) }},
		{"condition has ended", func() bool { return s.told() == "NoSlowDrive" }},
		{"check ends with 0", s.checks(t, well, 0)},
		{"no alert fires", func() bool { return s.firing(t, ".*") == 0 }},
		{"the end of the alert is sent", func() bool { return !s.inbox.open() }},
	}
}

func (s *realTime) holds(t *testing.T, expr string) bool { return len(s.prometheus.now(t, expr)) > 0 }

// checks is whether check ends with one of the codes. It is asked once the expression holds: an answer takes the emulated
// processors seconds, and asking all the time takes them away from the rounds.
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

// firing is how many alerts with such a name there are.
func (s *realTime) firing(t *testing.T, name string) int {
	return len(s.prometheus.now(t, fmt.Sprintf(`ALERTS{alertname=~%q,alertstate="firing"}`, name)))
}
