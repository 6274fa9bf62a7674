package nvme

import (
	"io"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// field says what some bytes of a structure mean. Every byte of the field is set to a different
// value, so that an offset or a width that is off by one shows.
type field[T any] struct {
	name   string
	offset int
	bytes  []byte
	set    func(*T)
}

// testOffsets sets one field after the other in an otherwise unchanged page. Only the decoded value
// of that field may change. The page has exactly size bytes.
func testOffsets[T any](t *testing.T, size int, base []byte, decode func([]byte) (T, error), fields []field[T]) {
	t.Helper()
	require.Len(t, base, size)
	zero, err := decode(base)
	require.NoError(t, err)
	for _, f := range fields {
		page := append([]byte(nil), base...)
		copy(page[f.offset:], f.bytes)
		got, err := decode(page)
		require.NoError(t, err, f.name)
		want, err := decode(base) // decoded again, so that its slices are not shared
		require.NoError(t, err)
		f.set(&want)
		assert.Equal(t, want, got, f.name)
		assert.NotEqual(t, zero, got, "%s: the case proves nothing", f.name)
	}
	_, err = decode(base[:size-1])
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "a byte is missing")
	longer, err := decode(append(base[:size:size], 0xFF))
	require.NoError(t, err)
	assert.Equal(t, zero, longer, "what follows the structure is not read")
}

// count returns size bytes: 1, 2, 3 and so on.
func count(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i + 1)
	}
	return b
}

// The bytes of count as little-endian numbers.
const (
	count2 = 0x0201
	count3 = 0x030201
	count4 = 0x04030201
	count6 = 0x060504030201
	count7 = 0x07060504030201
	count8 = 0x0807060504030201
)

// count12 has room for the factor of an amount.
func count12() Uint128 { return Uint128{High: 0x0C0B0A09, Low: count8} }

func count16() Uint128 { return Uint128{High: 0x100F0E0D0C0B0A09, Low: count8} }

func TestControllerOffsets(t *testing.T) {
	text := func(size int) ([]byte, string) {
		const letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		b := make([]byte, size)
		for i := range b {
			b[i] = letters[i%len(letters)]
		}
		return b, string(b)
	}
	sn, serial := text(20)
	mn, model := text(40)
	fr, firmware := text(8)
	subnqn, nqn := text(256)
	type c = Controller
	testOffsets(t, 4096, make([]byte, 4096), DecodeController, []field[c]{
		{"VID", 0, count(2), func(c *c) { c.VendorID = count2 }},
		{"SSVID", 2, count(2), func(c *c) { c.SubsystemVendorID = count2 }},
		{"SN", 4, sn, func(c *c) { c.SerialNumber = serial }},
		{"MN", 24, mn, func(c *c) { c.ModelNumber = model }},
		{"FR", 64, fr, func(c *c) { c.FirmwareRevision = firmware }},
		{"IEEE", 73, count(3), func(c *c) { c.OUI = count3 }},
		{"CMIC", 76, []byte{2}, func(c *c) { c.MultipleControllers = true }},
		{"CMIC, asymmetric access", 76, []byte{8}, func(c *c) { c.AsymmetricAccess = true }},
		{"MDTS", 77, []byte{5}, func(c *c) { c.MaximumTransferBytes = new(uint64(128 << 10)) }},
		{"MDTS up to 64 bits", 77, []byte{51}, func(c *c) { c.MaximumTransferBytes = new(uint64(1 << 63)) }},
		{"MDTS just beyond 64 bits", 77, []byte{52}, func(c *c) { c.MaximumTransferBytes = new(uint64(1 << 63)) }},
		{"MDTS beyond 64 bits", 77, []byte{255}, func(c *c) { c.MaximumTransferBytes = new(uint64(1 << 63)) }},
		{"CNTLID", 78, count(2), func(c *c) { c.ControllerID = count2 }},
		{"VER", 80, []byte{1, 2, 1, 0}, func(c *c) { c.Version = NewVersion(1, 2) + 1 }},
		{"CTRATT", 96, count(4), func(c *c) { c.Attributes = count4 }},
		{"CNTRLTYPE", 111, []byte{3}, func(c *c) { c.Type = ControllerTypeAdministrative }},
		{"OACS", 256, count(2), func(c *c) { c.AdminCommands = count2 }},
		{"FRMW", 260, []byte{0x1B}, func(c *c) { c.Firmware = FirmwareSupport{5, true, true} }},
		{"LPA", 261, []byte{0x7F}, func(c *c) { c.LogPages = 0x7F }},
		{"ELPE", 262, []byte{255}, func(c *c) { c.ErrorLogEntries = 256 }},
		{"NPSS", 263, []byte{2}, func(c *c) { c.PowerStates = make([]PowerState, 3) }},
		{"NPSS beyond 32 states", 263, []byte{255}, func(c *c) { c.PowerStates = make([]PowerState, 32) }},
		{"APSTA", 265, []byte{1}, func(c *c) { c.AutonomousPowerStates = true }},
		{"WCTEMP", 266, []byte{0x57, 0x01}, func(c *c) { c.WarningTemperature = new(Celsius(70)) }},
		{"CCTEMP", 268, []byte{0x10, 0x01}, func(c *c) { c.CriticalTemperature = new(Celsius(-1)) }},
		{"TNVMCAP", 280, count(16), func(c *c) { c.TotalCapacityBytes = new(count16()) }},
		{"UNVMCAP", 296, count(16), func(c *c) { c.UnallocatedCapacityBytes = new(count16()) }},
		{"EDSTT", 316, []byte{0x2C, 0x01}, func(c *c) { c.ExtendedSelfTest = new(5 * time.Hour) }},
		{"HCTMA", 322, []byte{1}, func(c *c) { c.HostThermalManagement = true }},
		{"MNTMT", 324, []byte{0x11, 0x01}, func(c *c) { c.MinimumThermalManagement = new(Celsius(0)) }},
		{"MXTMT", 326, []byte{0x75, 0x01}, func(c *c) { c.MaximumThermalManagement = new(Celsius(100)) }},
		{"ENDGIDMAX", 340, count(2), func(c *c) { c.EnduranceGroupLimit = count2 }},
		{"NN", 516, count(4), func(c *c) { c.NamespaceLimit = count4 }},
		{"FNA formats all", 524, []byte{1}, func(c *c) { c.FormatsAll = true }},
		{"FNA erases all", 524, []byte{2}, func(c *c) { c.ErasesAll = true }},
		{"ONCS", 520, count(2), func(c *c) { c.Commands = count2 }},
		{"VWC", 525, []byte{1}, func(c *c) { c.VolatileWriteCache = true }},
		{"SUBNQN", 768, subnqn, func(c *c) { c.SubsystemNQN = nqn }},
		{"SUBNQN, old bytes after its end", 768, []byte("nqn.x\x00qn.yz"), func(c *c) { c.SubsystemNQN = "nqn.x" }},
		{"IOCCSZ", 1792, []byte{4, 0, 0, 0}, func(c *c) { c.MessageBased = true }},
		{"PSD0 MP", 2048, []byte{0xC4, 0x09}, func(c *c) { c.PowerStates[0].MaximumWatts = new(25.0) }},
		{"PSD0 ENLAT", 2052, count(4), func(c *c) { c.PowerStates[0].EntryLatency = new(count4 * time.Microsecond) }},
		{"PSD0 EXLAT", 2056, count(4), func(c *c) { c.PowerStates[0].ExitLatency = new(count4 * time.Microsecond) }},
	})
}

func TestPowerStateOffsets(t *testing.T) {
	decode := func(b []byte) (PowerState, error) {
		p, err := pageOf("power state", b, powerStateBytes)
		if err != nil {
			return PowerState{}, err
		}
		return decodePowerState(p), nil
	}
	type p = PowerState
	testOffsets(t, 32, make([]byte, 32), decode, []field[p]{
		{"MP in centiwatts", 0, []byte{100, 0, 0, 0}, func(p *p) { p.MaximumWatts = new(1.0) }},
		{"MP that is no binary fraction", 0, []byte{57, 0, 0, 0}, func(p *p) { p.MaximumWatts = new(0.57) }},
		{"MP in 0.1 mW", 0, []byte{0x10, 0x27, 0, 1}, func(p *p) { p.MaximumWatts = new(1.0) }},
		{"NOPS", 3, []byte{2}, func(p *p) { p.NonOperational = true }},
		{"RRT", 12, []byte{0xFF}, func(p *p) { p.RelativeReadThroughput = 31 }},
		{"RRL", 13, []byte{0xFF}, func(p *p) { p.RelativeReadLatency = 31 }},
		{"RWT", 14, []byte{0xFF}, func(p *p) { p.RelativeWriteThroughput = 31 }},
		{"RWL", 15, []byte{0xFF}, func(p *p) { p.RelativeWriteLatency = 31 }},
		{"IDLP in 0.1 mW", 16, []byte{0x10, 0x27, 0x40}, func(p *p) { p.IdleWatts = new(1.0) }},
		{"IDLP in centiwatts", 16, []byte{100, 0, 0x80}, func(p *p) { p.IdleWatts = new(1.0) }},
		{"ACTP in centiwatts", 20, []byte{0x2C, 0x01, 0x80}, func(p *p) { p.ActiveWatts = new(3.0) }},
	})
	unscaled, err := decode(pageWith(32, 16, 100, 0, 0, 0, 100, 0, 0))
	require.NoError(t, err)
	assert.Equal(t, PowerState{}, unscaled, "power without a scale is not reported")
}

func TestNamespaceOffsets(t *testing.T) {
	type n = Namespace
	preferred := func(set func(*PreferredIO)) func(*n) {
		return func(n *n) { set(n.Preferred) }
	}
	base := pageWith(4096, 24, 0x10) // NSFEAT: the preferred sizes are valid
	testOffsets(t, 4096, base, DecodeNamespace, []field[n]{
		{"NSZE", 0, count(8), func(n *n) { n.SizeBlocks = count8 }},
		{"NCAP", 8, count(8), func(n *n) { n.CapacityBlocks = count8 }},
		{"NUSE", 16, count(8), func(n *n) { n.UtilizationBlocks = count8 }},
		{"NSFEAT", 24, []byte{0x11}, func(n *n) { n.ThinProvisioning = true }},
		{"OPTPERF of revision 1.1, NPDGL and NPDAL only", 24, []byte{0x20}, preferred(func(p *PreferredIO) {
			p.DeallocateGranularityBlocks, p.DeallocateAlignmentBlocks = nil, nil
		})},
		{"OPTPERF without", 24, []byte{0x01}, func(n *n) { n.Preferred, n.ThinProvisioning = nil, true }},
		{"NLBAF", 25, []byte{63}, func(n *n) { n.Formats = make([]LBAFormat, 64) }},
		{"NLBAF beyond 64 formats", 25, []byte{255}, func(n *n) { n.Formats = make([]LBAFormat, 64) }},
		{"NULBAF", 82, []byte{2}, func(n *n) { n.Formats = make([]LBAFormat, 3) }},
		{"NULBAF beyond 64 formats", 82, []byte{255}, func(n *n) { n.Formats = make([]LBAFormat, 64) }},
		{"FLBAS metadata", 26, []byte{0x10}, func(n *n) { n.MetadataInline = true }},
		{"DPS", 29, []byte{0x0B}, func(n *n) { n.Protection = Protection{Type: 3, First: true} }},
		{"NMIC", 30, []byte{1}, func(n *n) { n.Shared = true }},
		{"DLFEAT", 33, []byte{0x1A}, func(n *n) { n.Deallocated = DeallocatedOnes }},
		{"NOIOB", 46, count(2), func(n *n) { n.OptimalBoundaryBlocks = new(uint16(count2)) }},
		{"NVMCAP", 48, count(16), func(n *n) { n.CapacityBytes = new(count16()) }},
		{"NPWG", 64, count(2), preferred(func(p *PreferredIO) { p.WriteGranularityBlocks = count2 + 1 })},
		{"NPWA", 66, count(2), preferred(func(p *PreferredIO) { p.WriteAlignmentBlocks = count2 + 1 })},
		{"NPDG", 68, count(2), preferred(func(p *PreferredIO) { p.DeallocateGranularityBlocks = new(uint32(count2 + 1)) })},
		{"NPDA", 70, count(2), preferred(func(p *PreferredIO) { p.DeallocateAlignmentBlocks = new(uint32(count2 + 1)) })},
		{"NOWS", 72, []byte{0xFF, 0xFF}, preferred(func(p *PreferredIO) { p.OptimalWriteBlocks = 65536 })},
		{"NSATTR", 99, []byte{1}, func(n *n) { n.WriteProtected = true }},
		{"NVMSETID", 100, count(2), func(n *n) { n.NVMSet = new(uint16(count2)) }},
		{"ENDGID", 102, count(2), func(n *n) { n.EnduranceGroup = new(uint16(count2)) }},
		{"NGUID", 104, count(16), func(n *n) { n.NGUID = new(NGUID(count(16))) }},
		{"EUI64", 120, count(8), func(n *n) { n.EUI64 = new(EUI64(count(8))) }},
		{"LBAF0", 128, []byte{1, 2, 12, 0xFE}, func(n *n) {
			n.Format = LBAFormat{DataBytes: 4096, MetadataBytes: count2, RelativePerformance: 2}
			n.Formats[0] = n.Format
		}},
	})
}

func TestNamespaceFormatInUse(t *testing.T) {
	page := func(formats, flbas byte) []byte {
		p := make([]byte, 4096)
		p[25], p[26] = formats-1, flbas
		for i := range 64 {
			p[128+4*i] = byte(i) // the metadata size tells the formats apart
			p[128+4*i+2] = 9
		}
		return p
	}
	for _, c := range []struct {
		name           string
		formats, flbas byte
		metadata       uint16
	}{
		{"low bits", 16, 0x0F, 15},
		{"high bits are reserved with 16 formats", 16, 0x6F, 15},
		{"high bits", 64, 0x6F, 63},
		{"high and low bits", 33, 0x40, 32},
		{"the bit between is not part of it", 64, 0x3F, 31},
	} {
		n, err := DecodeNamespace(page(c.formats, c.flbas))
		require.NoError(t, err)
		assert.Equal(t, LBAFormat{DataBytes: 512, MetadataBytes: c.metadata}, n.Format, c.name)
	}
	n, err := DecodeNamespace(page(2, 5))
	require.NoError(t, err)
	assert.Equal(t, LBAFormat{}, n.Format, "an index beyond the formats")
	unique := page(16, 0x21)
	unique[82] = 2
	n, err = DecodeNamespace(unique)
	require.NoError(t, err)
	assert.Equal(t, LBAFormat{DataBytes: 512, MetadataBytes: 17}, n.Format, "a format with attributes of its own")
	unusable := page(1, 0)
	unusable[130] = 8
	n, err = DecodeNamespace(unusable)
	require.NoError(t, err)
	assert.Zero(t, n.Format.DataBytes, "256-byte blocks are not allowed")
}

func TestSMARTOffsets(t *testing.T) {
	type s = SMART
	fields := []field[s]{
		{"critical warning", 0, []byte{0x3F}, func(s *s) { s.CriticalWarnings = 0x3F }},
		{"composite temperature", 1, []byte{0x2C, 0x01}, func(s *s) { s.Temperature = new(Celsius(27)) }},
		{"available spare", 3, []byte{100}, func(s *s) { s.AvailableSpare = 100 }},
		{"available spare threshold", 4, []byte{10}, func(s *s) { s.AvailableSpareThreshold = 10 }},
		{"percentage used", 5, []byte{255}, func(s *s) { s.PercentageUsed = 255 }},
		{"endurance groups", 6, []byte{0x0D}, func(s *s) { s.EnduranceGroupWarnings = 0x0D }},
		{"data units read", 32, count(12), func(s *s) { s.DataReadBytes = new(count12().Times(512_000)) }},
		{"data units written", 48, count(12), func(s *s) { s.DataWrittenBytes = new(count12().Times(512_000)) }},
		{"host read commands", 64, count(16), func(s *s) { s.HostReadCommands = count16() }},
		{"host write commands", 80, count(16), func(s *s) { s.HostWriteCommands = count16() }},
		{"controller busy time", 96, count(16), func(s *s) { s.ControllerBusyMinutes = count16() }},
		{"power cycles", 112, count(16), func(s *s) { s.PowerCycles = count16() }},
		{"power on hours", 128, count(16), func(s *s) { s.PowerOnHours = count16() }},
		{"unsafe shutdowns", 144, count(16), func(s *s) { s.UnsafeShutdowns = count16() }},
		{"media errors", 160, count(16), func(s *s) { s.MediaErrors = count16() }},
		{"error log entries", 176, count(16), func(s *s) { s.ErrorLogEntries = count16() }},
		{"warning time", 192, count(4), func(s *s) { s.WarningTemperatureTime = count4 * time.Minute }},
		{"critical time", 196, count(4), func(s *s) { s.CriticalTemperatureTime = count4 * time.Minute }},
		{"critical time beyond 292 years", 196, []byte{0xFF, 0xFF, 0xFF, 0xFF}, func(s *s) { s.CriticalTemperatureTime = math.MaxInt64 / time.Minute * time.Minute }},
		{"light transitions", 216, count(4), func(s *s) { s.ThermalTransitions[0] = count4 }},
		{"heavy transitions", 220, count(4), func(s *s) { s.ThermalTransitions[1] = count4 }},
		{"light time", 224, count(4), func(s *s) { s.ThermalTime[0] = count4 * time.Second }},
		{"heavy time", 228, count(4), func(s *s) { s.ThermalTime[1] = count4 * time.Second }},
	}
	for i := range 8 {
		fields = append(fields, field[s]{"temperature sensor", 200 + 2*i, []byte{0x90, 0x01}, func(s *s) {
			s.TemperatureSensors[i] = new(Celsius(127))
		}})
	}
	testOffsets(t, 512, make([]byte, 512), DecodeSMART, fields)
}

func TestFirmwareSlotsOffsets(t *testing.T) {
	type f = FirmwareSlots
	fields := []field[f]{
		{"active slot", 0, []byte{0x0F}, func(f *f) { f.Active = 7 }},
		{"next slot", 0, []byte{0xA0}, func(f *f) { f.Next = new(uint8(2)) }},
	}
	for i := range 7 {
		fields = append(fields, field[f]{"revision", 8 + 8*i, []byte("ABCD1234"), func(f *f) { f.Revisions[i] = "ABCD1234" }})
	}
	testOffsets(t, 512, make([]byte, 512), DecodeFirmwareSlots, fields)
}

func TestErrorLogOffsets(t *testing.T) {
	type e = []ErrorEntry
	base := pageWith(64, 0, 1)
	exact := func(b []byte) (e, error) {
		if len(b) == 65 { // entries follow each other: there is no end to read beyond
			b = b[:64]
		}
		return DecodeErrorLog(b)
	}
	testOffsets(t, 64, base, exact, []field[e]{
		{"error count", 0, count(8), func(e *e) { (*e)[0].Count = count8 }},
		{"submission queue", 8, count(2), func(e *e) { (*e)[0].SubmissionQueue = new(uint16(count2)) }},
		{"no submission queue", 8, []byte{0xFF, 0xFF}, func(e *e) { (*e)[0].SubmissionQueue = nil }},
		{"command id", 10, count(2), func(e *e) { (*e)[0].CommandID = new(uint16(count2)) }},
		{"status", 12, []byte{0x03, 0xE0}, func(e *e) { (*e)[0].Status = 0x7001 }},
		{"parameter", 14, []byte{40, 7}, func(e *e) { (*e)[0].Parameter = &ParameterLocation{Byte: 40, Bit: 7} }},
		{"no parameter", 14, []byte{0xFF, 0xFF}, func(e *e) { (*e)[0].Parameter = nil }},
		{"lba", 16, count(8), func(e *e) { (*e)[0].LBA = count8 }},
		{"namespace", 24, count(4), func(e *e) { (*e)[0].NamespaceID = count4 }},
		{"of version 1", 63, []byte{1}, func(e *e) { (*e)[0].Opcode = new(uint8(0)) }},
		{"command specific", 32, count(8), func(e *e) { (*e)[0].CommandSpecific = count8 }},
	})
}

func TestSelfTestsOffsets(t *testing.T) {
	type s = SelfTests
	first := func(set func(*SelfTestResult)) func(*s) { return func(s *s) { set(&s.Results[0]) } }
	base := pageWith(564, 4, 0x10) // a short test that passed
	testOffsets(t, 564, base, DecodeSelfTests, []field[s]{
		{"running", 0, []byte{0xF1, 0xFF}, func(s *s) { s.Running = &RunningSelfTest{SelfTestShort, 127} }},
		{"kind and outcome", 4, []byte{0x25}, first(func(r *SelfTestResult) {
			r.Kind, r.Outcome = SelfTestExtended, SelfTestFatal
		})},
		{"unused", 4, []byte{0x1F}, func(s *s) { s.Results = []SelfTestResult{} }},
		{"segment", 4, []byte{0x17, 9}, first(func(r *SelfTestResult) {
			r.Outcome, r.Segment = SelfTestFailedSegment, new(uint8(9))
		})},
		{"power on hours", 8, count(8), first(func(r *SelfTestResult) { r.PowerOnHours = count8 })},
		{"namespace", 6, append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, count(4)...), first(func(r *SelfTestResult) {
			r.NamespaceID = new(uint32(count4))
		})},
		{"lba", 6, append([]byte{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9}, count(8)...), first(func(r *SelfTestResult) {
			r.FailingLBA = new(uint64(count8))
		})},
		{"last result", 4 + 19*28, []byte{0x21, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFA, 5}, func(s *s) {
			s.Results = append(s.Results, SelfTestResult{
				Kind: SelfTestExtended, Outcome: SelfTestAborted,
				StatusType: new(StatusMediaError), StatusCode: new(uint8(5)),
			})
		}},
	})
}

func TestEnduranceGroupOffsets(t *testing.T) {
	type e = EnduranceGroup
	testOffsets(t, 512, make([]byte, 512), DecodeEnduranceGroup, []field[e]{
		{"critical warning", 0, []byte{0x0D}, func(e *e) { e.CriticalWarnings = 0x0D }},
		{"available spare", 3, []byte{1}, func(e *e) { e.AvailableSpare = 1 }},
		{"threshold", 4, []byte{2}, func(e *e) { e.AvailableSpareThreshold = 2 }},
		{"percentage used", 5, []byte{3}, func(e *e) { e.PercentageUsed = 3 }},
		{"endurance estimate", 32, count(12), func(e *e) { e.EnduranceEstimateBytes = new(count12().Times(1e9)) }},
		{"data units read", 48, count(12), func(e *e) { e.DataReadBytes = new(count12().Times(1e9)) }},
		{"data units written", 64, count(12), func(e *e) { e.DataWrittenBytes = new(count12().Times(1e9)) }},
		{"media units written", 80, count(12), func(e *e) { e.MediaWrittenBytes = new(count12().Times(1e9)) }},
		{"host read commands", 96, count(16), func(e *e) { e.HostReadCommands = count16() }},
		{"host write commands", 112, count(16), func(e *e) { e.HostWriteCommands = count16() }},
		{"media errors", 128, count(16), func(e *e) { e.MediaErrors = count16() }},
		{"error log entries", 144, count(16), func(e *e) { e.ErrorLogEntries = count16() }},
		{"capacity", 160, count(16), func(e *e) { e.TotalCapacityBytes = new(count16()) }},
		{"unallocated capacity", 176, count(16), func(e *e) { e.UnallocatedCapacityBytes = new(count16()) }},
	})
}

func TestOCPSMARTOffsets(t *testing.T) {
	type o = OCPSMART
	base := make([]byte, 512)
	base[494] = 5
	copy(base[496:], ocpSMARTGUID)
	testOffsets(t, 512, base, DecodeOCPSMART, []field[o]{
		{"media written", 0, count(16), func(o *o) { o.PhysicalMediaWrittenBytes = count16() }},
		{"media read", 16, count(16), func(o *o) { o.PhysicalMediaReadBytes = count16() }},
		{"bad user blocks", 32, count(6), func(o *o) { o.BadUserBlocks.Count = count6 }},
		{"bad user blocks normalized", 38, count(2), func(o *o) { o.BadUserBlocks.Normalized = count2 }},
		{"bad system blocks", 40, count(6), func(o *o) { o.BadSystemBlocks.Count = count6 }},
		{"bad system blocks normalized", 46, count(2), func(o *o) { o.BadSystemBlocks.Normalized = count2 }},
		{"xor recoveries", 48, count(8), func(o *o) { o.XORRecoveries = count8 }},
		{"uncorrectable reads", 56, count(8), func(o *o) { o.UncorrectableReadErrors = count8 }},
		{"soft ecc errors", 64, count(8), func(o *o) { o.SoftECCErrors = count8 }},
		{"end-to-end detected", 72, count(4), func(o *o) { o.EndToEndErrorsDetected = count4 }},
		{"end-to-end corrected", 76, count(4), func(o *o) { o.EndToEndErrorsCorrected = count4 }},
		{"system area used", 80, count(1), func(o *o) { o.SystemAreaUsed = 1 }},
		{"refreshes", 81, count(7), func(o *o) { o.Refreshes = count7 }},
		{"erase count maximum", 88, count(4), func(o *o) { o.MaximumUserEraseCount = count4 }},
		{"erase count minimum", 92, count(4), func(o *o) { o.MinimumUserEraseCount = count4 }},
		{"throttling events", 96, count(1), func(o *o) { o.ThermalThrottlingEvents = 1 }},
		{"throttling level", 97, count(1), func(o *o) { o.ThermalThrottlingLevel = 1 }},
		{"pcie errors", 104, count(8), func(o *o) { o.PCIeCorrectableErrors = count8 }},
		{"incomplete shutdowns", 112, count(4), func(o *o) { o.IncompleteShutdowns = count4 }},
		{"free blocks", 120, count(1), func(o *o) { o.FreeBlocks = 1 }},
		{"capacitor health", 128, count(2), func(o *o) { o.CapacitorHealthPercent = new(uint16(count2)) }},
		{"unaligned", 136, count(8), func(o *o) { o.UnalignedIOs = count8 }},
		{"security version", 144, count(8), func(o *o) { o.SecurityVersion = count8 }},
		{"utilization", 152, count(8), func(o *o) { o.UtilizationBlocks = count8 }},
		{"power loss protection", 160, count(16), func(o *o) { o.PowerLossProtections = count16() }},
		{"endurance estimate", 176, count(16), func(o *o) { o.EnduranceEstimateBytes = count16() }},
		{"link retrains", 192, count(8), func(o *o) { o.PCIeLinkRetrains = new(uint64(count8)) }},
		{"power state changes", 200, count(8), func(o *o) { o.PowerStateChanges = new(uint64(count8)) }},
		{"lowest firmware", 208, []byte("FW01    "), func(o *o) { o.LowestFirmware = "FW01" }},
		{"dies", 216, count(2), func(o *o) { o.MediaDies.Total = count2 }},
		{"tolerated dies", 218, count(2), func(o *o) { o.MediaDies.TolerableFailures = count2 }},
		{"offline dies", 220, count(2), func(o *o) { o.MediaDies.Offline = count2 }},
		{"maximum temperature", 222, []byte{71}, func(o *o) { o.MaximumTemperature = new(Celsius(71)) }},
		{"average erase count", 224, count(8), func(o *o) { o.AverageEraseCount = new(uint64(count8)) }},
		{"command timeouts", 232, count(4), func(o *o) { o.CommandTimeouts = new(uint32(count4)) }},
		{"version", 494, []byte{5, 3}, func(o *o) { o.LogPageVersion = 0x0305 }},
	})
}

func TestTelemetryHeaderOffsets(t *testing.T) {
	type h = TelemetryHeader
	testOffsets(t, 512, make([]byte, 512), DecodeTelemetryHeader, []field[h]{
		{"oui", 5, count(3), func(h *h) { h.OUI = count3 }},
		{"area 1", 8, count(2), func(h *h) { h.AreaBytes[0] = count2 * 512 }},
		{"area 2", 10, count(2), func(h *h) { h.AreaBytes[1] = count2 * 512 }},
		{"area 3", 12, count(2), func(h *h) { h.AreaBytes[2] = count2 * 512 }},
		{"area 4", 16, count(4), func(h *h) { h.AreaBytes[3] = count4 * 512 }},
		{"available", 382, []byte{1}, func(h *h) { h.ControllerDataAvailable = true }},
		{"generation", 383, []byte{9}, func(h *h) { h.ControllerGeneration = 9 }},
		{"reason", 384, count(128), func(h *h) { h.Reason = [128]byte(count(128)) }},
	})
}

func TestSupportedLogPagesOffsets(t *testing.T) {
	type s = SupportedLogPages
	testOffsets(t, 1024, make([]byte, 1024), DecodeSupportedLogPages, []field[s]{
		{"first", 0, []byte{1}, func(s *s) { s[0] = true }},
		{"smart", 8, []byte{1}, func(s *s) { s[LogSMART] = true }},
		{"last", 1020, []byte{1}, func(s *s) { s[255] = true }},
	})
}

func TestAutonomousPowerOffsets(t *testing.T) {
	type a = AutonomousPower
	testOffsets(t, 256, make([]byte, 256), DecodeAutonomousPower, []field[a]{
		{"first", 0, []byte{0xFF, 1, 2, 3}, func(a *a) {
			a.Transitions[0] = &IdleTransition{After: count3 * time.Millisecond, State: 31}
		}},
		{"last", 248, []byte{0x08, 1, 0, 0}, func(a *a) {
			a.Transitions[31] = &IdleTransition{After: time.Millisecond, State: 1}
		}},
	})
}
