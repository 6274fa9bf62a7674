package nvme

import (
	"errors"
	"fmt"
)

// ErrOtherLog says that a vendor specific log page has another GUID than the one asked for.
var ErrOtherLog = errors.New("log page of another format")

// OCPSMART holds what drives for large data centres report beyond [SMART]: the SMART /
// Health Information Extended log, log identifier C0h, of the OCP Datacenter NVMe SSD
// Specification, revision 2.0, and what later revisions added.
type OCPSMART struct {
	PhysicalMediaWrittenBytes Uint128 // by the host and by the controller
	PhysicalMediaReadBytes    Uint128
	BadUserBlocks             BadBlocks
	BadSystemBlocks           BadBlocks
	XORRecoveries             uint64
	UncorrectableReadErrors   uint64
	SoftECCErrors             uint64
	EndToEndErrorsDetected    uint32
	EndToEndErrorsCorrected   uint32

	SystemAreaUsed        Percent
	Refreshes             uint64
	MaximumUserEraseCount uint32
	MinimumUserEraseCount uint32

	// ThermalThrottlingEvents saturates at 255.
	ThermalThrottlingEvents uint8
	// ThermalThrottlingLevel is 0 when the drive is not throttled now.
	ThermalThrottlingLevel uint8

	PCIeCorrectableErrors uint64
	IncompleteShutdowns   uint32
	FreeBlocks            Percent
	// CapacitorHealthPercent is 100 for a new drive, and may be above 100; nil for a
	// drive without capacitors.
	CapacitorHealthPercent *uint16
	UnalignedIOs           uint64
	SecurityVersion        uint64
	// UtilizationBlocks is the sum over all namespaces, each counted in its own block size.
	UtilizationBlocks      uint64
	PowerLossProtections   Uint128 // how often the capacitors had to take over
	EnduranceEstimateBytes Uint128

	// LogPageVersion determines which of the following fields exist.
	LogPageVersion    uint16
	PCIeLinkRetrains  *uint64 // from version 2
	PowerStateChanges *uint64 // from version 2
	// LowestFirmware is the oldest firmware revision that the drive accepts; "" before version 4.
	LowestFirmware     string
	MediaDies          *MediaDies // from version 5, as are the following
	MaximumTemperature *Celsius   // the highest composite temperature ever; nil also when not reported
	AverageEraseCount  *uint64
	CommandTimeouts    *uint32
}

// MediaDies counts the dies of the media.
type MediaDies struct {
	Total             uint16
	TolerableFailures uint16 // how many may fail before the drive fails
	Offline           uint16
}

// BadBlocks counts the media blocks that were taken out of use.
type BadBlocks struct {
	Count uint64
	// Normalized starts at 100 and falls as blocks go bad.
	Normalized uint16
}

const ocpSMARTBytes = 512

const (
	// ocpSMARTGUID is AFD514C9-7C6F-4F9C-A4F2-BFEA2810AFC5 as a little-endian number.
	ocpSMARTGUID = "\xC5\xAF\x10\x28\xEA\xBF\xF2\xA4\x9C\x4F\x6F\x7C\xC9\x14\xD5\xAF"
	// ocpUUID names the Open Compute Project in a controller's list of UUIDs.
	ocpUUID = "c194d55b-e094-4794-a21d-29998f56be6f"
)

// OCPSMART reads the extended health of a drive that follows the OCP specification.
//
// Drives of other vendors may have another page at C0h, or none. So the page is read
// only when the controller lists OCP among its UUIDs, or when its list of log pages
// includes C0h. If the page does not have OCP's GUID, the error matches [ErrOtherLog],
// and the page is not read again.
func (d *Device) OCPSMART() (OCPSMART, error) {
	index, err := d.ocpUUIDIndex()
	if err != nil {
		return OCPSMART{}, err
	}
	if index == 0 {
		ok, err := d.supportsLog(LogOCPSMART)
		if err != nil {
			return OCPSMART{}, err
		}
		if !ok {
			return OCPSMART{}, unsupported(LogOCPSMART.String())
		}
	}
	if d.otherOCP != nil {
		return OCPSMART{}, d.otherOCP
	}
	data, err := d.readLog(LogPageRequest{Page: LogOCPSMART, UUIDIndex: index, Bytes: ocpSMARTBytes})
	if err != nil {
		return OCPSMART{}, err
	}
	s, err := DecodeOCPSMART(data)
	if errors.Is(err, ErrOtherLog) {
		d.otherOCP = err
	}
	return s, err
}

// ocpUUIDIndex returns the index of OCP in the controller's list of UUIDs, or 0 when it is not listed.
func (d *Device) ocpUUIDIndex() (uint8, error) {
	c, err := d.supports()
	if err != nil {
		return 0, err
	}
	if d.ocpIndex != nil {
		return *d.ocpIndex, nil
	}
	var index uint8
	if c.Attributes.Has(AttributeUUIDList) {
		data, err := d.read(IdentifyCommand(IdentifyUUIDs, 0), identifyBytes)
		if errors.As(err, new(*StatusError)) {
			return 0, nil // the controller refuses the list that it claims to have
		}
		if err != nil {
			return 0, err
		}
		uuids, err := DecodeUUIDs(data)
		if err != nil {
			return 0, err
		}
		for i, uuid := range uuids {
			if uuid.String() == ocpUUID && (index == 0 || i < index) { // some drives list it more than once
				index = i
			}
		}
	}
	d.ocpIndex = &index
	return index, nil
}

// DecodeOCPSMART decodes the 512 bytes of log page C0h.
func DecodeOCPSMART(b []byte) (OCPSMART, error) {
	p, err := pageOf(LogOCPSMART.String(), b, ocpSMARTBytes)
	if err != nil {
		return OCPSMART{}, err
	}
	if guid := string(p[496:]); guid != ocpSMARTGUID {
		return OCPSMART{}, fmt.Errorf("decode %v: guid %x: %w: %w", LogOCPSMART, guid, ErrOtherLog, errors.ErrUnsupported)
	}
	version := p.u16(494)
	s := OCPSMART{
		PhysicalMediaWrittenBytes: p.u128(0),
		PhysicalMediaReadBytes:    p.u128(16),
		BadUserBlocks:             BadBlocks{Count: p.u48(32), Normalized: p.u16(38)},
		BadSystemBlocks:           BadBlocks{Count: p.u48(40), Normalized: p.u16(46)},
		XORRecoveries:             p.u64(48),
		UncorrectableReadErrors:   p.u64(56),
		SoftECCErrors:             p.u64(64),
		EndToEndErrorsDetected:    p.u32(72),
		EndToEndErrorsCorrected:   p.u32(76),

		SystemAreaUsed:        Percent(p[80]),
		Refreshes:             p.u56(81),
		MaximumUserEraseCount: p.u32(88),
		MinimumUserEraseCount: p.u32(92),

		ThermalThrottlingEvents: p[96],
		ThermalThrottlingLevel:  p[97],

		PCIeCorrectableErrors:  p.u64(104),
		IncompleteShutdowns:    p.u32(112),
		FreeBlocks:             Percent(p[120]),
		CapacitorHealthPercent: onlyIf(p.u16(128) != 0xFFFF, p.u16(128)),
		UnalignedIOs:           p.u64(136),
		SecurityVersion:        p.u64(144),
		UtilizationBlocks:      p.u64(152),
		PowerLossProtections:   p.u128(160),
		EnduranceEstimateBytes: p.u128(176),

		LogPageVersion:    version,
		PCIeLinkRetrains:  onlyIf(version >= 2, p.u64(192)),
		PowerStateChanges: onlyIf(version >= 2, p.u64(200)),
	}
	if version >= 4 {
		s.LowestFirmware = p.text(208, 8)
	}
	if version >= 5 {
		s.MediaDies = &MediaDies{Total: p.u16(216), TolerableFailures: p.u16(218), Offline: p.u16(220)}
		if t := p[222]; t != 0 {
			s.MaximumTemperature = new(Celsius(t))
		}
		s.AverageEraseCount, s.CommandTimeouts = new(p.u64(224)), new(p.u32(232))
	}
	return s, nil
}
