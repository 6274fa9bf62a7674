package nvme

import (
	"encoding/hex"
	"fmt"
)

// Namespace is the size and format of a namespace: the Identify Namespace data
// structure of the NVM Command Set Specification, revision 1.0d (Figure 97), CNS 00h. A
// block has Format.DataBytes of data.
type Namespace struct {
	SizeBlocks     uint64 // NSZE
	CapacityBlocks uint64 // NCAP, at most SizeBlocks
	// UtilizationBlocks is the number of allocated blocks (NUSE). Controllers that do
	// not track it report CapacityBlocks; those with AsymmetricAccess report 0 while they do not reach the namespace.
	UtilizationBlocks uint64
	CapacityBytes     *Uint128 // NVMCAP; nil when not reported

	ThinProvisioning bool // NSFEAT bit 0
	Shared           bool // NMIC bit 0
	WriteProtected   bool // NSATTR bit 0

	Formats []LBAFormat // LBAF0 and following, 1 to 64 entries (NLBAF, NULBAF)
	Format  LBAFormat   // the format in use; zero when Formats has no entry FormatIndex
	// FormatIndex is the index of the format in use, 0 to 63 (FLBAS bits 3:0 and 6:5).
	FormatIndex int
	// MetadataInline reports whether the metadata follows the data of each block
	// instead of being in a separate buffer (FLBAS bit 4).
	MetadataInline bool
	Protection     Protection

	Deallocated DeallocatedRead // DLFEAT bits 2:0
	// OptimalBoundaryBlocks is the boundary that I/O should not cross (NOIOB); nil when not reported.
	OptimalBoundaryBlocks *uint16
	Preferred             *PreferredIO // nil when not reported (NSFEAT bits 5:4)

	EnduranceGroup *uint16 // ENDGID
	NVMSet         *uint16 // NVMSETID
	NGUID          *NGUID
	EUI64          *EUI64
}

// SizeBytes returns the size of the data that the namespace can address.
func (n Namespace) SizeBytes() Uint128 { return n.bytes(n.SizeBlocks) }

// UtilizationBytes returns the size of the allocated data.
func (n Namespace) UtilizationBytes() Uint128 { return n.bytes(n.UtilizationBlocks) }

func (n Namespace) bytes(blocks uint64) Uint128 {
	return Uint128{Low: blocks}.Times(n.Format.DataBytes)
}

// LBAFormat is one way to format a namespace: the LBA Format data structure.
type LBAFormat struct {
	DataBytes     uint64 // 512 or more, a power of two; 0 for a format that cannot be used (LBADS)
	MetadataBytes uint16 // MS
	// RelativePerformance ranks the formats of a namespace: 0 best, 1 better, 2 good,
	// 3 degraded (RP).
	RelativePerformance uint8
}

// Protection is the end-to-end data protection in use (DPS).
type Protection struct {
	Type uint8 // 1 to 3; 0 for none
	// First reports whether the protection information is at the start of the metadata
	// instead of at its end.
	First bool
}

// DeallocatedRead says what a read of a deallocated or never written block returns.
type DeallocatedRead uint8

// The answers to reads of deallocated blocks.
const (
	DeallocatedNotReported DeallocatedRead = 0
	DeallocatedZeros       DeallocatedRead = 1
	DeallocatedOnes        DeallocatedRead = 2
)

// String says what is returned.
func (d DeallocatedRead) String() string {
	switch d {
	case DeallocatedNotReported:
		return "not reported"
	case DeallocatedZeros:
		return "zeros"
	case DeallocatedOnes:
		return "ones"
	}
	return fmt.Sprintf("unknown %xh", uint8(d))
}

// PreferredIO holds the sizes and alignments that suit the namespace best, in blocks. Those of
// deallocation are nil when the namespace only reports them in a structure that is not read here
// (NPDGL and NPDAL).
type PreferredIO struct {
	WriteGranularityBlocks      uint32  // NPWG
	WriteAlignmentBlocks        uint32  // NPWA
	DeallocateGranularityBlocks *uint32 // NPDG
	DeallocateAlignmentBlocks   *uint32 // NPDA
	OptimalWriteBlocks          uint32  // NOWS
}

// NGUID is the permanent, globally unique 16-byte identifier of a namespace.
type NGUID [16]byte

// String returns the identifier in hexadecimal.
func (g NGUID) String() string { return hex.EncodeToString(g[:]) }

// MarshalText returns what String does.
func (g NGUID) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads what String returns.
func (g *NGUID) UnmarshalText(text []byte) error { return decodeHex(g[:], string(text)) }

// EUI64 is the permanent, globally unique 8-byte identifier of a namespace.
type EUI64 [8]byte

// String returns the identifier in hexadecimal.
func (e EUI64) String() string { return hex.EncodeToString(e[:]) }

// MarshalText returns what String does.
func (e EUI64) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads what String returns.
func (e *EUI64) UnmarshalText(text []byte) error { return decodeHex(e[:], string(text)) }

// decodeHex reads an identifier. It leaves id unchanged if the text is not one.
func decodeHex(id []byte, text string) error {
	b, err := hex.DecodeString(text)
	if err == nil && len(b) != len(id) {
		err = fmt.Errorf("%d bytes in hexadecimal, want %d", len(b), len(id))
	}
	if err != nil {
		return fmt.Errorf("read an identifier: %w", err)
	}
	copy(id, b)
	return nil
}

// DecodeNamespace decodes the 4096 bytes of Identify, CNS 00h.
func DecodeNamespace(b []byte) (Namespace, error) {
	p, err := pageOf("identify namespace", b, identifyBytes)
	if err != nil {
		return Namespace{}, err
	}
	formats := decodeFormats(p)
	index := int(p[26] & 0xF)
	if len(formats) > 16 {
		index |= int(p[26]>>5&3) << 4
	}
	var format LBAFormat
	if index < len(formats) {
		format = formats[index]
	}
	n := Namespace{
		SizeBlocks:        p.u64(0),
		CapacityBlocks:    p.u64(8),
		UtilizationBlocks: p.u64(16),
		CapacityBytes:     reported(p.u128(48)),

		ThinProvisioning: p[24]&1 != 0,
		Shared:           p[30]&1 != 0,
		WriteProtected:   p[99]&1 != 0,

		Formats:        formats,
		Format:         format,
		FormatIndex:    index,
		MetadataInline: p[26]&0x10 != 0,
		Protection:     Protection{Type: p[29] & 7, First: p[29]&8 != 0},

		Deallocated:           DeallocatedRead(p[33] & 7),
		OptimalBoundaryBlocks: reported(p.u16(46)),

		EnduranceGroup: reported(p.u16(102)),
		NVMSet:         reported(p.u16(100)),
		NGUID:          reported(NGUID(p[104:120])),
		EUI64:          reported(EUI64(p[120:128])),
	}
	// OPTPERF has two bits from revision 1.1 on: the lower one for NPDG and NPDA, the upper one for NPDGL and NPDAL.
	if optperf := p[24] >> 4 & 3; optperf != 0 {
		n.Preferred = &PreferredIO{ // each field holds one less than its value
			WriteGranularityBlocks:      uint32(p.u16(64)) + 1,
			WriteAlignmentBlocks:        uint32(p.u16(66)) + 1,
			DeallocateGranularityBlocks: onlyIf(optperf&1 != 0, uint32(p.u16(68))+1),
			DeallocateAlignmentBlocks:   onlyIf(optperf&1 != 0, uint32(p.u16(70))+1),
			OptimalWriteBlocks:          uint32(p.u16(72)) + 1,
		}
	}
	return n, nil
}

func decodeFormats(p page) []LBAFormat {
	// NLBAF is one less than the number of formats. NULBAF is the number of those after them that have attributes of their own.
	formats := make([]LBAFormat, min(int(p[25])+1+int(p[82]), 64))
	for i := range formats {
		entry := p[128+4*i:]
		formats[i] = LBAFormat{MetadataBytes: entry.u16(0), RelativePerformance: entry[3] & 3}
		if shift := entry[2]; shift >= 9 && shift < 64 { // below 9 is not allowed
			formats[i].DataBytes = 1 << shift
		}
	}
	return formats
}
