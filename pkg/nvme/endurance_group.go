package nvme

import (
	"fmt"
	"io/fs"
)

// EnduranceGroup describes the wear of one endurance group: the Endurance Group
// Information log, log identifier 09h (Figure 219).
type EnduranceGroup struct {
	CriticalWarnings        EnduranceGroupWarnings
	AvailableSpare          Percent // values above 100 are reserved
	AvailableSpareThreshold Percent // values above 100 are reserved
	PercentageUsed          Percent // may exceed 100; 255 means more than 254

	// EnduranceEstimateBytes is how much data can be written over the group's life under the
	// workload that the vendor assumes. The drive rounds it and the amounts below up to
	// billions of bytes. They are nil when not reported; the amounts also while they are zero.
	EnduranceEstimateBytes *Uint128
	DataReadBytes          *Uint128
	DataWrittenBytes       *Uint128
	MediaWrittenBytes      *Uint128 // by the host and by the controller

	HostReadCommands  Uint128
	HostWriteCommands Uint128
	MediaErrors       Uint128
	ErrorLogEntries   Uint128

	TotalCapacityBytes       *Uint128 // nil when not reported
	UnallocatedCapacityBytes *Uint128 // nil when not reported, and when nothing is unallocated
}

// EnduranceGroupWarnings is a set of conditions of an endurance group that need attention.
type EnduranceGroupWarnings uint8

// The critical warnings of endurance groups.
const (
	GroupWarningSpare       EnduranceGroupWarnings = 1 << 0 // available spare is below its threshold
	GroupWarningReliability EnduranceGroupWarnings = 1 << 2 // degraded by media or internal errors
	GroupWarningReadOnly    EnduranceGroupWarnings = 1 << 3 // all namespaces in the group are read-only
)

// Has reports whether all of w are set.
func (e EnduranceGroupWarnings) Has(w EnduranceGroupWarnings) bool { return e&w == w }

// String lists the warnings: "spare, read-only", or "none".
func (e EnduranceGroupWarnings) String() string {
	return words(uint8(e), "spare", "", "reliability", "read-only")
}

const (
	enduranceGroupBytes = 512
	billion             = 1_000_000_000
)

// EnduranceGroup reads the log of one endurance group (CTRATT bit 4).
// Namespace.EnduranceGroup gives the group of a namespace. For an id of 0 or above the
// controller's limit the error matches [fs.ErrNotExist].
func (d *Device) EnduranceGroup(id uint16) (EnduranceGroup, error) {
	c, err := d.supports()
	if err != nil {
		return EnduranceGroup{}, err
	}
	if !c.Attributes.Has(AttributeEnduranceGroups) {
		return EnduranceGroup{}, unsupported(LogEnduranceGroup.String())
	}
	if id == 0 || id > c.EnduranceGroupLimit {
		return EnduranceGroup{}, fmt.Errorf("%v: group %d: ids are 1 to %d: %w",
			LogEnduranceGroup, id, c.EnduranceGroupLimit, fs.ErrNotExist)
	}
	data, err := d.log(LogPageRequest{Page: LogEnduranceGroup, Identifier: id, Bytes: enduranceGroupBytes})
	if err != nil {
		return EnduranceGroup{}, err
	}
	return DecodeEnduranceGroup(data)
}

// DecodeEnduranceGroup decodes the 512 bytes of log page 09h.
func DecodeEnduranceGroup(b []byte) (EnduranceGroup, error) {
	p, err := pageOf(LogEnduranceGroup.String(), b, enduranceGroupBytes)
	if err != nil {
		return EnduranceGroup{}, err
	}
	return EnduranceGroup{
		CriticalWarnings:        EnduranceGroupWarnings(p[0]),
		AvailableSpare:          Percent(p[3]),
		AvailableSpareThreshold: Percent(p[4]),
		PercentageUsed:          Percent(p[5]),

		EnduranceEstimateBytes: reported(p.u128(32).Times(billion)),
		DataReadBytes:          reported(p.u128(48).Times(billion)),
		DataWrittenBytes:       reported(p.u128(64).Times(billion)),
		MediaWrittenBytes:      reported(p.u128(80).Times(billion)),

		HostReadCommands:  p.u128(96),
		HostWriteCommands: p.u128(112),
		MediaErrors:       p.u128(128),
		ErrorLogEntries:   p.u128(144),

		TotalCapacityBytes:       reported(p.u128(160)),
		UnallocatedCapacityBytes: reported(p.u128(176)),
	}, nil
}
