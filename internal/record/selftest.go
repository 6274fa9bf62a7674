package record

import (
	"fmt"
	"time"
)

// SelfTest is the result of a test that a drive made of itself. Somebody else started it: ssdprobe starts none.
type SelfTest struct {
	// Kind is how thorough the test was: "short", SelfTestExtended, "vendor specific".
	Kind string `json:"kind"`
	// Outcome is SelfTestPassed, or says how the test failed or what ended it.
	Outcome string `json:"outcome"`
	// Failed is false also for a test that was aborted.
	Failed bool `json:"failed,omitempty"`
	// PowerOn is the drive's power-on time when the test ended, in whole hours.
	PowerOn time.Duration `json:"power_on_ns"`
	// Segment is the first part of the test that failed; makers number the parts. FailingLBA is the first block that
	// failed, of the namespace NamespaceID. All are nil when the drive does not report them.
	Segment     *uint8  `json:"segment,omitempty"`
	FailingLBA  *uint64 `json:"failing_lba,omitempty"`
	NamespaceID *uint32 `json:"namespace_id,omitempty"`
}

// The kinds and outcomes of self-tests that mean something to FailedSelfTest.
const (
	SelfTestExtended = "extended"
	SelfTestPassed   = "passed"
)

// String returns text such as "extended self-test at 8590 power-on hours: failed in one segment (segment 4)".
func (t SelfTest) String() string {
	text := fmt.Sprintf("%s self-test at %d power-on hours: %s", t.Kind, t.PowerOn/time.Hour, t.Outcome)
	var where string
	if t.Segment != nil {
		where = fmt.Sprintf("segment %d", *t.Segment)
	}
	if t.FailingLBA != nil {
		if where != "" {
			where += ", "
		}
		where += fmt.Sprintf("LBA %d", *t.FailingLBA)
		if t.NamespaceID != nil {
			where += fmt.Sprintf(" of namespace %d", *t.NamespaceID)
		}
	}
	if where != "" {
		text += " (" + where + ")"
	}
	return text
}

// FailedSelfTest returns the newest self-test that failed. It is nil if none did, or if a later one of the same kind or an
// extended one passed: these are at least as thorough. An aborted test shows nothing. However old a failure is, it stands
// until then, as it does for smartd, because nothing else says that the drive is sound.
func (h Health) FailedSelfTest() *SelfTest {
	passed := map[string]bool{}
	for i, t := range h.SelfTests {
		if t.Failed && !passed[t.Kind] && !passed[SelfTestExtended] {
			return &h.SelfTests[i]
		}
		passed[t.Kind] = passed[t.Kind] || t.Outcome == SelfTestPassed
	}
	return nil
}

// OperationSince returns for how long the drive was on after a self-test; 0 also when that is not known.
func (h Health) OperationSince(t SelfTest) time.Duration {
	if h.PowerOn == nil {
		return 0
	}
	return max(0, *h.PowerOn-t.PowerOn)
}
