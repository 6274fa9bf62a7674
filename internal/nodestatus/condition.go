package nodestatus

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssdprobe/ssdprobe/internal/check"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ConditionType is the type of the condition.
const ConditionType = "SlowDrive"

// The reasons of the condition.
const (
	NoSlowDrive   = "NoSlowDrive"
	DriveDegraded = "DriveDegraded"
	DriveSevere   = "DriveSevere"
	NotJudged     = "NotJudged"     // a drive is not judged, or cannot be read
	DaemonStopped = "DaemonStopped" // nobody watches the drives
)

// The values of a condition.
const (
	isTrue    = "True"
	isFalse   = "False"
	isUnknown = "Unknown"
)

// stopped is the message of DaemonStopped.
const stopped = "ssdprobe was stopped on this node"

// conditionOf returns the condition that matches the result of `ssdprobe check`. Its times are not set yet.
func conditionOf(r check.Result) condition {
	c := condition{Type: ConditionType, Status: isUnknown, Reason: NotJudged, Message: check.Text.Line(r)}
	switch r.Verdict {
	case record.Severe:
		c.Status, c.Reason = isTrue, DriveSevere
	case record.Degraded:
		c.Status, c.Reason = isTrue, DriveDegraded
	case record.Healthy:
		c.Status, c.Reason = isFalse, NoSlowDrive
	case record.Watch, record.Unjudged:
	}
	return c
}

// at sets the times of a condition that replaces before, which may be nil. The transition time changes only
// with the status.
func (c condition) at(now time.Time, before *condition) condition {
	c.LastHeartbeatTime, c.LastTransitionTime = metav1.NewTime(now), metav1.NewTime(now)
	if before != nil && before.Status == c.Status {
		c.LastTransitionTime = before.LastTransitionTime
	}
	return c
}
