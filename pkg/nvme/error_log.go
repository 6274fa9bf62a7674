package nvme

import "fmt"

// ErrorEntry is one entry of the Error Information log, log identifier 01h (Figure
// 206): a command that went wrong, or that the controller refused.
type ErrorEntry struct {
	// Count numbers the errors of the controller's life, from 1.
	Count uint64
	// SubmissionQueue and CommandID name the command; nil when no single one did it.
	SubmissionQueue *uint16
	CommandID       *uint16
	Status          Status
	// Parameter is where the command was wrong; nil when it was not a parameter.
	Parameter   *ParameterLocation
	LBA         uint64 // first one that went wrong, if it is about one
	NamespaceID uint32 // if it is about one
	// CommandSpecific is what the status code defines.
	CommandSpecific uint64
}

// ParameterLocation is the place of a wrong parameter in a command.
type ParameterLocation struct {
	Byte uint8 // 0 to 63
	Bit  uint8 // 0 to 7
}

const errorEntryBytes = 64

// ErrorLog returns the newest entries of the error log, the newest first, and not
// more than limit. One command reads them, so that they belong together; what the
// controller can transfer at once is a bound as well, of at least 128 entries.
func (d *Device) ErrorLog(limit int) ([]ErrorEntry, error) {
	if limit < 1 {
		return nil, fmt.Errorf("%v: limit %d: want at least 1", LogErrorInformation, limit)
	}
	c, err := d.supports()
	if err != nil {
		return nil, err
	}
	size := min(limit, c.ErrorLogEntries) * errorEntryBytes
	if most := c.MaximumTransferBytes; most != nil && uint64(size) > *most {
		size = int(*most)
	}
	data, err := d.log(LogPageRequest{Page: LogErrorInformation, Bytes: size})
	if err != nil {
		return nil, err
	}
	return DecodeErrorLog(data)
}

// DecodeErrorLog decodes any number of entries of 64 bytes. Those that hold no
// error, with a count of 0, are left out.
func DecodeErrorLog(b []byte) ([]ErrorEntry, error) {
	entries := []ErrorEntry{}
	for len(b) > 0 {
		p, err := pageOf(LogErrorInformation.String(), b, errorEntryBytes)
		if err != nil {
			return nil, err
		}
		b = b[errorEntryBytes:]
		if p.u64(0) != 0 {
			entries = append(entries, decodeErrorEntry(p))
		}
	}
	return entries, nil
}

func decodeErrorEntry(p page) ErrorEntry {
	queue, command, location := p.u16(8), p.u16(10), p.u16(14)
	return ErrorEntry{
		Count:           p.u64(0),
		SubmissionQueue: onlyIf(queue != 0xFFFF, queue),
		CommandID:       onlyIf(command != 0xFFFF, command),
		Status:          Status(p.u16(12) >> 1), // bit 0 is the phase tag
		Parameter: onlyIf(location != 0xFFFF, ParameterLocation{
			Byte: uint8(location),
			Bit:  uint8(location >> 8 & 7),
		}),
		LBA:             p.u64(16),
		NamespaceID:     p.u32(24),
		CommandSpecific: p.u64(32),
	}
}
