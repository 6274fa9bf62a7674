package nodestatus

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The parts of Kubernetes objects that are needed here. The original types (k8s.io/api/core/v1) would bring in
// those of all objects of that group, and their encoders.

// node is a Node as the API server stores it.
type node struct {
	Metadata struct {
		Name            string    `json:"name"`
		UID             types.UID `json:"uid"`
		ResourceVersion string    `json:"resourceVersion"`
	} `json:"metadata"`
	Spec struct {
		// Taints holds all taints with all of their fields, so that they are written back unchanged.
		Taints []json.RawMessage `json:"taints"`
	} `json:"spec"`
	Status struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

// condition is a condition of a node. Its times are whole seconds.
type condition struct {
	Type               string      `json:"type"`
	Status             string      `json:"status"` // True, False or Unknown
	Reason             string      `json:"reason"`
	Message            string      `json:"message"`
	LastHeartbeatTime  metav1.Time `json:"lastHeartbeatTime"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
}

// says reports whether both conditions say the same, regardless of their times.
func (c condition) says(o condition) bool {
	return c.Status == o.Status && c.Reason == o.Reason && c.Message == o.Message
}

// equal reports whether all fields that a daemon writes are equal, with times as precise as the API server
// stores them.
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

// taint returns the effect of this package's taint; "" when the node does not have it.
func (n node) taint() string {
	for _, raw := range n.Spec.Taints {
		if t := taintOf(raw); t.Key == TaintKey {
			return t.Effect
		}
	}
	return ""
}

// withTaint returns the taints of the node with this package's taint set to an effect, or without it when
// effect is "".
func (n node) withTaint(effect string) ([]json.RawMessage, error) {
	taints := slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(raw json.RawMessage) bool { return taintOf(raw).Key == TaintKey })
	if effect == "" {
		return taints, nil
	}
	raw, err := json.Marshal(taint{TaintKey, effect})
	return append(taints, raw), err
}

// taintOf decodes a taint. A taint that cannot be decoded has no key.
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

// reference is the object that an event is about.
type reference struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
}
