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

// maxLeaseName leaves room for the number that is put behind it.
const maxLeaseName = 240

var (
	leaseName     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	namespaceName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$`)
)

func (c *Fleet) form() section {
	return section{
		{"enabled", flag(&c.Enabled)},
		{"max_runs", count(&c.MaxRuns)},
		{"lease", text(&c.Lease)},
		{"namespace", text(&c.Namespace)},
		{"kubeconfig", cleanPath(&c.Kubeconfig)},
		{"lease_duration", duration(&c.LeaseDuration)},
	}
}

func (c Fleet) check(f *findings) {
	const want = "letters a to z, digits and -, neither first nor last a -"
	within(f, "fleet.max_runs", c.MaxRuns, 1, 64, formatCount)
	f.need(leaseName.MatchString(c.Lease) && len(c.Lease) <= maxLeaseName, notAt("fleet.lease", "a name of Leases", c.Lease, want))
	f.need(namespaceName.MatchString(c.Namespace), notAt("fleet.namespace", "a namespace", c.Namespace, want+`, or "" for the pod's own`))
	absolute(f, "fleet.kubeconfig", c.Kubeconfig, true)
	within(f, "fleet.lease_duration", c.LeaseDuration, 10*time.Second, time.Hour, FormatDuration)
	f.need(c.LeaseDuration%time.Second == 0, Problem{
		Field: "fleet.lease_duration", Value: FormatDuration(c.LeaseDuration), Wrong: "is not of whole seconds", Want: "e.g. 2m",
	})
}
