package nvme

// TelemetryHeader describes the telemetry that a controller holds: the first 512 bytes of the
// Telemetry Host-Initiated and Controller-Initiated logs, log identifiers 07h and 08h (Figures
// 215 and 217). The telemetry data itself has the vendor's own format and is not read.
type TelemetryHeader struct {
	OUI uint32 // of the vendor that can read the data
	// AreaBytes holds the sizes of data areas 1 to 4. Each area contains the one before
	// it. Area 4 is 0 for controllers without one (LPA bit 6).
	AreaBytes [4]uint64
	// ControllerDataAvailable reports whether the controller has saved telemetry by
	// itself, because something went wrong.
	ControllerDataAvailable bool
	// ControllerGeneration counts how often it did so, modulo 256.
	ControllerGeneration uint8
	// Reason is defined by the vendor, and is often text.
	Reason [128]byte
}

const (
	telemetryHeaderBytes = 512
	telemetryBlockBytes  = 512
)

// HostTelemetry reads the header of the telemetry that was saved when a host last asked
// for it (LPA bit 3). It does not make the controller save anything.
func (d *Device) HostTelemetry() (TelemetryHeader, error) { return d.telemetry(LogHostTelemetry) }

// ControllerTelemetry reads the header of the telemetry that the controller saved by
// itself (LPA bit 3), and leaves the telemetry in place.
func (d *Device) ControllerTelemetry() (TelemetryHeader, error) {
	return d.telemetry(LogControllerTelemetry)
}

func (d *Device) telemetry(page LogPage) (TelemetryHeader, error) {
	data, err := d.log(LogPageRequest{Page: page, Bytes: telemetryHeaderBytes, RetainEvents: true})
	if err != nil {
		return TelemetryHeader{}, err
	}
	header, err := DecodeTelemetryHeader(data)
	if err == nil && !d.controller.LogPages.Has(LogPagesTelemetryArea4) {
		header.AreaBytes[3] = 0 // the field is reserved
	}
	return header, err
}

// DecodeTelemetryHeader decodes the first 512 bytes of log page 07h or 08h.
func DecodeTelemetryHeader(b []byte) (TelemetryHeader, error) {
	p, err := pageOf("telemetry header", b, telemetryHeaderBytes)
	if err != nil {
		return TelemetryHeader{}, err
	}
	return TelemetryHeader{
		OUI: uint32(p.u16(5)) | uint32(p[7])<<16,
		AreaBytes: [4]uint64{
			uint64(p.u16(8)) * telemetryBlockBytes, // the field is the last block of the area; blocks count from 1
			uint64(p.u16(10)) * telemetryBlockBytes,
			uint64(p.u16(12)) * telemetryBlockBytes,
			uint64(p.u32(16)) * telemetryBlockBytes,
		},
		ControllerDataAvailable: p[382]&1 != 0,
		ControllerGeneration:    p[383],
		Reason:                  [128]byte(p[384:512]),
	}, nil
}
