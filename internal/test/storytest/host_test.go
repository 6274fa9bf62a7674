//go:build kubernetes

package storytest_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const (
	// farFlight makes a day pass in 36 minutes, which is what it takes to learn a host. At a
	// hundred, rounds of slow drives would be more than two minutes apart by that clock. That is
	// too far to attribute the change to the host, so that one of the drives is blamed at first.
	farFlight = 40
	ofAHost   = "rounds_at_once: 4\n"
)

// listedHost matches a node that `ssdprobe fleet` finds slow: a line below the heading of hosts.
var listedHost = regexp.MustCompile(`(?m)^\s*` + node + `\s+4\s+(degraded|severe)\b`)

// TestStoryOfAHost: all four drives of a node become half as fast. One alert, a condition, check and
// fleet say that it is the host, and all of that ends when they are fast again. No drive is blamed.
func TestStoryOfAHost(t *testing.T) {
	program := program(t)
	n := bootNode(t, startCluster(t))
	p, inbox := n.begin(t, farFlight, strings.Replace(configuration, "rounds_at_once: 2\n", ofAHost, 1))
	begun := time.Now()
	tell := func(what string) { t.Logf("%5.1f s: %s", time.Since(begun).Seconds(), what) }
	testenv.EventuallyWithin(t, longBound, time.Second, "a host that is judged", func() bool {
		return len(p.now(t, `ssdprobe_host_health{state="healthy"} == 1`)) == 1
	})
	tell("the host is judged")
	await(t, "four drives that are healthy", func() bool { return n.told() == "NoSlowDrive" })

	begun = time.Now()
	for _, d := range n.drives {
		n.limit(t, d, halfIOPS)
	}
	await(t, "an alert about the host", func() bool { return inbox.has("SsdprobeHostSlower") })
	tell("the alert has arrived")
	await(t, "the condition", func() bool { return n.told() == "DriveDegraded" || n.told() == "DriveSevere" })
	tell("the condition is " + n.told())
	line, code := "", 0
	await(t, "check blames the host", func() bool { line, code = n.check(t); return code == 1 || code == 2 })
	tell("check: " + line)
	assert.Contains(t, line, "the host is ")
	await(t, "the fleet lists the host", func() bool { return listedHost.MatchString(fleet(program, p, "text")) })
	t.Log(fleet(program, p, "text"))

	begun = time.Now()
	for _, d := range n.drives {
		n.limit(t, d, usualIOPS)
	}
	await(t, "the end of the condition", func() bool { return n.told() == "NoSlowDrive" })
	tell("the condition has ended")
	await(t, "the end of all alerts", func() bool { return !inbox.open() })
	tell("the alert is resolved")
	await(t, "check is content", func() bool { line, code = n.check(t); return code == 0 })
	for _, a := range inbox.All() {
		assert.Equal(t, "SsdprobeHostSlower", a.Labels["alertname"], "%v", a)
	}
}
