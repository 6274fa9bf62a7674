package config

// Kubernetes says what the cluster is told about the drives of this node.
type Kubernetes struct {
	Enabled    bool
	Taint      string // the effect of the taint, or TaintNone
	MaxTaints  int
	Namespace  string // namespace of the Leases; empty for the namespace of the pod
	Kubeconfig string // a path; empty for the service account of the pod
}

// TaintNone is the value of Taint for no taint.
const TaintNone = "none"

func (c *Kubernetes) form() section {
	return section{
		{"enabled", flag(&c.Enabled), "true sets the condition SlowDrive of the node, in the words of `ssdprobe check`, and creates events when a verdict begins and ends. The key node is the name of the Node object."},
		{"taint", effect(text(&c.Taint)), `The effect of the taint ssdprobe/slow-drive, which the node has while a drive or the host is severe: none for no taint, PreferNoSchedule or NoSchedule. NoExecute is refused, because it evicts pods.`},
		{"max_taints", within(count(&c.MaxTaints).as("number of nodes"), 1, 64), `How many nodes may have the taint at the same time. Leases enforce it. Use the same value on all nodes.`},
		{"namespace", namespaceOf(&c.Namespace), `The namespace of the leases. "" is the namespace of the pod.`},
		{"kubeconfig", absoluteOrEmpty(&c.Kubeconfig), `The kubeconfig file, for nodes where ssdprobe runs outside the cluster. "" uses the service account of the pod.`},
	}
}

// effect limits a text to the allowed effects of the taint.
func effect(s scalar[string]) scalar[string] {
	const choices = "one of none, PreferNoSchedule, NoSchedule"
	s = s.obeying(rule[string]{
		holds: func(v string) bool { return v != "NoExecute" },
		problem: func(v string) Problem {
			return Problem{Value: v, Wrong: "would evict the pods of the node", Want: choices}
		},
	})
	return oneOf(s, "an effect of this taint", TaintNone, "PreferNoSchedule", "NoSchedule")
}
