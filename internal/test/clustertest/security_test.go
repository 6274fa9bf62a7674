//go:build kubernetes

package clustertest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The mode raw-devices runs only at the level privileged, and at the others an event says why not.
// The mode files runs at the strictest level (testFiles).
func testPodSecurity(t *testing.T) {
	makeNamespace(t, "restricted")
	install(t, "")
	refused := func(level string) {
		eventually(t, "an event says that "+level+" refuses", func() bool {
			text := events(t, "DaemonSet")
			return strings.Contains(text, `violates PodSecurity "`+level+`:latest"`) &&
				strings.Contains(text, `(container "ssdprobe" must not set securityContext.privileged=true)`)
		})
		assert.Empty(t, pods(t))
	}
	refused("restricted")
	label := command(t, "kubectl label --overwrite namespace ssdprobe")
	again := command(t, "kubectl --namespace ssdprobe rollout restart")
	restart := func() {
		eventually(t, "it is restarted, which kubectl does once a second", func() bool {
			_, errs, err := try(shell(t, again))
			if err != nil {
				require.Contains(t, errs, "within the past second")
			}
			return err == nil
		})
	}
	sh(t, strings.Replace(label, "privileged", "baseline", 1))
	restart()
	refused("baseline")
	sh(t, label)
	restart()
	rolledOut(t)
}
