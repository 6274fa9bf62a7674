//go:build kubernetes

package storytest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// halfIOPS is half of usualIOPS.
const halfIOPS = usualIOPS / 2

// TestStoryOfANode: one of four drives, with applications on them, becomes half as fast. An alert,
// a condition, an event and a taint of the node, check and fleet report it, and all of that ends
// when the drive is fast again.
func TestStoryOfANode(t *testing.T) {
	program := program(t)
	n := bootNode(t, startCluster(t))
	p, inbox := n.begin(t, usualFlight, configuration)
	await(t, "four drives that are healthy", func() bool { return n.told() == "NoSlowDrive" })
	line, code := n.check(t)
	assert.Equal(t, 0, code, line)

	begun := time.Now()
	tell := func(what string) { t.Logf("%5.1f s after the change: %s", time.Since(begun).Seconds(), what) }
	n.limit(t, n.worn, halfIOPS)
	await(t, "the condition", func() bool { return n.told() == "DriveDegraded" || n.told() == "DriveSevere" })
	tell("the condition is " + n.told())
	await(t, "an alert", func() bool { _, found := inbox.slower(); return found })
	tell("the alert has arrived")
	await(t, "check says that it is severe", func() bool { line, code = n.check(t); return code == 2 })
	tell(fmt.Sprintf("check ends with %d: %s", code, line))
	assert.Contains(t, line, n.worn.name+" is severe: ")
	await(t, "the taint", n.tainted)
	tell("the node has the taint")
	assert.Contains(t, n.events(), `"note":"`+n.worn.name+` is `)
	await(t, "the fleet lists it first", func() bool { return strings.HasPrefix(listedFirst(program, p), node+","+n.worn.name+",") })

	begun = time.Now()
	n.limit(t, n.worn, usualIOPS)
	await(t, "the end of the condition", func() bool { return n.told() == "NoSlowDrive" })
	tell("the condition has ended")
	await(t, "the end of the taint", func() bool { return !n.tainted() })
	await(t, "the end of all alerts", func() bool { return !inbox.open() })
	tell("the alert is resolved")
	await(t, "check is content", func() bool { line, code = n.check(t); return code == 0 })
	assert.Contains(t, n.events(), `"reason":"DriveRecovered"`)
	inbox.onlyAbout(t, n.worn)
}
