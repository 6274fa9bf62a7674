package config

import (
	"regexp"
	"time"
)

// Fleet says how many nodes of a Kubernetes cluster may execute runs at the same time.
type Fleet struct {
	Enabled       bool
	MaxRuns       int
	Lease         string // prefix of the names of the Leases
	Namespace     string // empty for the namespace of the pod
	Kubeconfig    string // a path; empty for the service account of the pod
	LeaseDuration time.Duration
}

var (
	// leaseName leaves room for the number that is appended.
	leaseName     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,238}[a-z0-9])?$`)
	namespaceName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$`)
)

// nameLetters describes the names that Kubernetes allows.
const nameLetters = "letters a to z, digits and -, neither first nor last a -"

// namespaceOf is the namespace of Leases.
func namespaceOf(dst *string) scalar[string] {
	return matching(text(dst), "a namespace", nameLetters+`, or "" for the pod's own`, namespaceName)
}

func (c *Fleet) form() section {
	return section{
		{"enabled", flag(&c.Enabled), `true makes each scheduled run wait for a lease, within its window.`},
		{"max_runs", within(count(&c.MaxRuns).as("number of nodes"), 1, 64), `How many nodes may run at the same time. Use the same value on all nodes.`},
		{"lease", matching(text(&c.Lease), "a name of Leases", nameLetters, leaseName), `The name of the leases, to which -0, -1 and so on is added.`},
		{"namespace", namespaceOf(&c.Namespace), `The namespace of the leases. "" is the namespace of the pod.`},
		{"kubeconfig", absoluteOrEmpty(&c.Kubeconfig), `The kubeconfig file, for nodes where ssdprobe runs outside the cluster. "" uses the service account of the pod.`},
		{"lease_duration", within(duration(&c.LeaseDuration), 10*time.Second, time.Hour), `How long a lost node blocks the others. A run in progress continues without the API server for five sixths of this time; no run begins without it.`},
	}
}

func (c Fleet) check(f *findings) {
	f.need(c.LeaseDuration%time.Second == 0, Problem{
		Field: "fleet.lease_duration", Value: FormatDuration(c.LeaseDuration), Wrong: "is not a whole number of seconds", Want: "e.g. 2m",
	})
}
