package nvme

import "fmt"

// SelfTests holds the results of the newest self-tests: the Device Self-test log, log identifier
// 06h (Figures 212 and 213).
type SelfTests struct {
	// Running is the test in progress; nil when there is none.
	Running *RunningSelfTest
	// Results holds at most 20 results, newest first.
	Results []SelfTestResult
}

// RunningSelfTest is a self-test in progress.
type RunningSelfTest struct {
	Kind      SelfTestKind
	Completed Percent
}

// SelfTestKind is how thorough a self-test is.
type SelfTestKind uint8

// The kinds of self-tests.
const (
	SelfTestShort          SelfTestKind = 0x1
	SelfTestExtended       SelfTestKind = 0x2
	SelfTestRefresh        SelfTestKind = 0x3 // no test: the host had the drive refresh its media
	SelfTestVendorSpecific SelfTestKind = 0xE
)

// String names the kind.
func (k SelfTestKind) String() string {
	switch k {
	case SelfTestShort:
		return "short"
	case SelfTestExtended:
		return "extended"
	case SelfTestRefresh:
		return "host-initiated refresh"
	case SelfTestVendorSpecific:
		return "vendor specific"
	}
	return fmt.Sprintf("unknown kind %xh", uint8(k))
}

// SelfTestOutcome is how a self-test ended.
type SelfTestOutcome uint8

// The outcomes of self-tests.
const (
	SelfTestPassed           SelfTestOutcome = 0x0
	SelfTestAborted          SelfTestOutcome = 0x1
	SelfTestReset            SelfTestOutcome = 0x2
	SelfTestNamespaceRemoved SelfTestOutcome = 0x3
	SelfTestFormatted        SelfTestOutcome = 0x4
	SelfTestFatal            SelfTestOutcome = 0x5
	SelfTestFailed           SelfTestOutcome = 0x6
	SelfTestFailedSegment    SelfTestOutcome = 0x7
	SelfTestAbortedUnknown   SelfTestOutcome = 0x8
	SelfTestSanitized        SelfTestOutcome = 0x9

	selfTestUnused SelfTestOutcome = 0xF
)

// Failed reports whether the test ended with an error. An aborted test has not failed.
func (o SelfTestOutcome) Failed() bool { return o >= SelfTestFatal && o <= SelfTestFailedSegment }

// String returns the outcome in words.
func (o SelfTestOutcome) String() string {
	switch o {
	case SelfTestPassed:
		return "passed"
	case SelfTestAborted:
		return "aborted by a command"
	case SelfTestReset:
		return "aborted by a controller reset"
	case SelfTestNamespaceRemoved:
		return "aborted by the removal of a namespace"
	case SelfTestFormatted:
		return "aborted by a format command"
	case SelfTestFatal:
		return "not completed: fatal or unknown error"
	case SelfTestFailed:
		return "failed"
	case SelfTestFailedSegment:
		return "failed in one segment"
	case SelfTestAbortedUnknown:
		return "aborted for an unknown reason"
	case SelfTestSanitized:
		return "aborted by a sanitize operation"
	default:
		return fmt.Sprintf("unknown outcome %xh", uint8(o))
	}
}

// SelfTestResult is the result of one self-test. Fields that the controller does not declare valid are nil.
type SelfTestResult struct {
	Kind    SelfTestKind
	Outcome SelfTestOutcome
	// Segment is the first segment that failed; nil unless Outcome is SelfTestFailedSegment.
	Segment *uint8
	// PowerOnHours is the drive's power-on time when the test ended, in hours.
	PowerOnHours uint64
	NamespaceID  *uint32
	FailingLBA   *uint64
	StatusType   *StatusType
	StatusCode   *uint8
}

const (
	selfTestResultBytes = 28
	selfTestResults     = 20
	selfTestsBytes      = 4 + selfTestResults*selfTestResultBytes
)

// SelfTests reads the results of self-tests (OACS bit 4). It does not start one.
func (d *Device) SelfTests() (SelfTests, error) {
	data, err := d.log(LogPageRequest{Page: LogSelfTests, Bytes: selfTestsBytes})
	if err != nil {
		return SelfTests{}, err
	}
	return DecodeSelfTests(data)
}

// DecodeSelfTests decodes the 564 bytes of log page 06h.
func DecodeSelfTests(b []byte) (SelfTests, error) {
	p, err := pageOf(LogSelfTests.String(), b, selfTestsBytes)
	if err != nil {
		return SelfTests{}, err
	}
	s := SelfTests{Results: []SelfTestResult{}}
	if kind := p[0] & 0xF; kind != 0 {
		s.Running = &RunningSelfTest{Kind: SelfTestKind(kind), Completed: Percent(p[1] & 0x7F)}
	}
	for i := range selfTestResults {
		result := decodeSelfTestResult(p[4+i*selfTestResultBytes:])
		// Some drives that never ran a test return zeros instead of unused entries.
		if result.Outcome != selfTestUnused && result.Kind != 0 {
			s.Results = append(s.Results, result)
		}
	}
	return s, nil
}

func decodeSelfTestResult(p page) SelfTestResult {
	outcome := SelfTestOutcome(p[0] & 0xF)
	valid := p[2]
	return SelfTestResult{
		Kind:         SelfTestKind(p[0] >> 4),
		Outcome:      outcome,
		Segment:      onlyIf(outcome == SelfTestFailedSegment, p[1]),
		PowerOnHours: p.u64(4),
		NamespaceID:  onlyIf(valid&1 != 0, p.u32(12)),
		FailingLBA:   onlyIf(valid&2 != 0, p.u64(16)),
		StatusType:   onlyIf(valid&4 != 0, StatusType(p[24]&7)),
		StatusCode:   onlyIf(valid&8 != 0, p[25]),
	}
}
