package config

import (
	"regexp"
	"time"
)

// Fleet says how many nodes of a Kubernetes cluster may execute runs at a time.
type Fleet struct {
	// Enabled makes each run of the calendar wait for a Lease of the cluster; false
	// when nobody is to be asked.
	Enabled bool
	// MaxRuns is how many nodes may run at a time, 1 to 64.
	MaxRuns int
	// Lease begins the names of the Leases.
	Lease string
	// Namespace of the Leases; empty for that of the pod.
	Namespace string
	// Kubeconfig is the path of a file that says where the cluster is and who asks;
	// empty for the service account of the pod.
	Kubeconfig string
	// LeaseDuration is how long a node that does not renew its Lease keeps it, whole
	// seconds, 10 s to 1 h.
	LeaseDuration time.Duration
}

var (
	// leaseName leaves room for the number that is put behind it.
	leaseName     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,238}[a-z0-9])?$`)
	namespaceName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$`)
)

func (c *Fleet) form() section {
	const want = "letters a to z, digits and -, neither first nor last a -"
	return section{
		{"enabled", flag(&c.Enabled), `true makes each scheduled run wait for a lease, within its window.`},
		{"max_runs", within(count(&c.MaxRuns).as("number of nodes"), 1, 64), `How many nodes may run at the same time. Use the same value on all nodes.`},
		{"lease", matching(text(&c.Lease), "a name of Leases", want, leaseName), `The name of the leases, to which -0, -1 and so on is added.`},
		{"namespace", matching(text(&c.Namespace), "a namespace", want+`, or "" for the pod's own`, namespaceName), `The namespace of the leases. "" is the namespace of the pod.`},
		{"kubeconfig", absoluteOrEmpty(&c.Kubeconfig), `The kubeconfig file, for nodes where ssdprobe runs outside the cluster. "" uses the service account of the pod.`},
		{"lease_duration", within(duration(&c.LeaseDuration), 10*time.Second, time.Hour), `How long a lost node blocks the others. A run in progress continues without the API server for five sixths of this time; no run begins without it.`},
	}
}

func (c Fleet) check(f *findings) {
	f.need(c.LeaseDuration%time.Second == 0, Problem{
		Field: "fleet.lease_duration", Value: FormatDuration(c.LeaseDuration), Wrong: "is not of whole seconds", Want: "e.g. 2m",
	})
}
