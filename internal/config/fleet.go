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
		{"enabled", flag(&c.Enabled), `true has each run of the calendar wait for a lease first, within its window.`},
		{"max_runs", within(count(&c.MaxRuns), 1, 64), `Nodes that run at a time. The same on all nodes.`},
		{"lease", matching(text(&c.Lease), "a name of Leases", want, leaseName), `The leases are called lease-0, lease-1 and so on.`},
		{"namespace", matching(text(&c.Namespace), "a namespace", want+`, or "" for the pod's own`, namespaceName), `Where they are. "" is the namespace of the pod.`},
		{"kubeconfig", absoluteOrEmpty(&c.Kubeconfig), `A file that says where the cluster is, for nodes where ssdprobe runs outside of it. "" is the service account of the pod.`},
		{"lease_duration", within(duration(&c.LeaseDuration), 10*time.Second, time.Hour), `A node that is lost blocks the others for so long. Also how long a run goes on without the API server, less a sixth; without it none begins.`},
	}
}

func (c Fleet) check(f *findings) {
	f.need(c.LeaseDuration%time.Second == 0, Problem{
		Field: "fleet.lease_duration", Value: FormatDuration(c.LeaseDuration), Wrong: "is not of whole seconds", Want: "e.g. 2m",
	})
}
