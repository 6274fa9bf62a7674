package nodestatus

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// These are the parts of Kubernetes' objects that are needed here. With its own types (k8s.io/api/core/v1) come those of
// all objects of that group, and their encoders.

// node is a Node, as an API server keeps it.
type node struct {
	Metadata struct {
		Name            string    `json:"name"`
		UID             types.UID `json:"uid"`
		ResourceVersion string    `json:"resourceVersion"`
	} `json:"metadata"`
	Spec struct {
		// Taints are all of them, with every field: they are given back as they were.
		Taints []json.RawMessage `json:"taints"`
	} `json:"spec"`
	Status struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

// condition is a condition of a node. Times are of whole seconds.
type condition struct {
	Type               string      `json:"type"`
	Status             string      `json:"status"` // True, False or Unknown
	Reason             string      `json:"reason"`
	Message            string      `json:"message"`
	LastHeartbeatTime  metav1.Time `json:"lastHeartbeatTime"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
}

// says reports whether both say the same, at whatever time.
func (c condition) says(o condition) bool {
	return c.Status == o.Status && c.Reason == o.Reason && c.Message == o.Message
}

// equal compares all that a daemon writes, with times as the API server keeps them.
func (c condition) equal(o condition) bool {
	return c.says(o) && c.LastHeartbeatTime.Unix() == o.LastHeartbeatTime.Unix()
}

// condition returns the condition of this package; nil when there is none.
func (n node) condition() *condition {
	i := slices.IndexFunc(n.Status.Conditions, func(c condition) bool { return c.Type == ConditionType })
	if i < 0 {
		return nil
	}
	return &n.Status.Conditions[i]
}

// taint is a taint of a node.
type taint struct {
	Key    string `json:"key"`
	Effect string `json:"effect"`
}

// taint returns the effect of the taint of this package; "" when there is none.
func (n node) taint() string {
	for _, raw := range n.Spec.Taints {
		if t := taintOf(raw); t.Key == TaintKey {
			return t.Effect
		}
	}
	return ""
}

// withTaint returns the taints of the node with that of this package of an effect, or without it when that is "".
func (n node) withTaint(effect string) ([]json.RawMessage, error) {
	taints := slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(raw json.RawMessage) bool { return taintOf(raw).Key == TaintKey })
	if effect == "" {
		return taints, nil
	}
	raw, err := json.Marshal(taint{TaintKey, effect})
	return append(taints, raw), err
}

// taintOf is a taint whose form is not known: it has no key.
func taintOf(raw json.RawMessage) taint {
	var t taint
	if json.Unmarshal(raw, &t) != nil {
		return taint{}
	}
	return t
}

// event is an Event of events.k8s.io/v1.
type event struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	EventTime           metav1.MicroTime `json:"eventTime"`
	ReportingController string           `json:"reportingController"`
	ReportingInstance   string           `json:"reportingInstance"`
	Action              string           `json:"action"`
	Reason              string           `json:"reason"`
	Regarding           reference        `json:"regarding"`
	Note                string           `json:"note"`
	Type                string           `json:"type"`
}

// reference is what an event is about.
type reference struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
}
