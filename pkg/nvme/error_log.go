package nvme

import "fmt"

// ErrorEntry is one entry of the Error Information log, log identifier 01h (Figure
// 206): a command that failed, or that the controller refused.
type ErrorEntry struct {
	// Count numbers the errors over the controller's life, from 1.
	Count uint64
	// SubmissionQueue and CommandID identify the command; nil when the error does not
	// belong to a single command.
	SubmissionQueue *uint16
	CommandID       *uint16
	// Opcode is that of the command, and CommandSet its command set if it is not an admin
	// command (on queue 0); nil also for a log page older than revision 2.0.
	Opcode     *uint8
	CommandSet *CommandSet
	Status     Status
	// Parameter locates the wrong parameter; nil when the error is not about a parameter.
	Parameter   *ParameterLocation
	LBA         uint64 // first block that failed, if the error is about blocks
	NamespaceID uint32 // if the error is about a namespace
	// CommandSpecific holds further information, whose meaning the status code defines.
	CommandSpecific uint64
}

// ParameterLocation is the place of a wrong parameter in a command.
type ParameterLocation struct {
	Byte uint8 // 0 to 63
	Bit  uint8 // 0 to 7
}

const errorEntryBytes = 64

// ErrorLog returns the newest entries of the error log, newest first and at most limit.
// It reads them with one command, so that they are consistent. The controller's maximum
// transfer size, which has room for at least 128 entries, also bounds them.
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

// DecodeErrorLog decodes any number of entries of 64 bytes. It skips entries with a
// count of 0, which hold no error.
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
	names := p[63] >= 1 && command != 0xFFFF // version of the log page
	return ErrorEntry{
		Count:           p.u64(0),
		SubmissionQueue: onlyIf(queue != 0xFFFF, queue),
		CommandID:       onlyIf(command != 0xFFFF, command),
		Opcode:          onlyIf(names, p[31]),
		CommandSet:      onlyIf(names && queue != 0, CommandSet(p[30])),
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
