package health

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// maxNamespaces bounds the namespaces that one reading of a controller includes: as
// many as fill one list of the specification. More are an error.
const maxNamespaces = 1024

// read asks a controller for everything that record.Health holds. ok is false if the
// controller's identity or its SMART log could not be read: without them there is no
// health. It stops between two commands when ctx ends.
func read(ctx context.Context, d *nvme.Device, namespaces []uint32) (h record.Health, ok bool, err error) {
	c, err := d.Controller()
	if err != nil {
		return h, false, err
	}
	smart, err := d.SMART()
	if err != nil {
		return h, false, err
	}
	h = ofSMART(smart, c)
	h.Time = time.Now()
	h.Identity = identity(c)
	var problems []error
	for _, feature := range []func(*nvme.Device, *record.Features) error{
		coalescing, writeCache, queues, powerState, autonomousPower,
	} {
		if ctx.Err() != nil {
			return h, true, context.Cause(ctx)
		}
		problems = append(problems, unlessUnsupported(feature(d, &h.Features)))
	}
	h.Namespaces, err = readNamespaces(ctx, d, c, namespaces)
	problems = append(problems, err)
	for _, log := range []func(*nvme.Device, *record.Health) error{selfTests, mediaDies} {
		if ctx.Err() != nil {
			return h, true, context.Cause(ctx)
		}
		problems = append(problems, unlessUnsupported(log(d, &h)))
	}
	return h, true, errors.Join(problems...)
}

// unlessUnsupported drops the error of a controller that lacks what it was asked for;
// the value stays absent.
func unlessUnsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

func identity(c nvme.Controller) record.ControllerIdentity {
	return record.ControllerIdentity{
		Model: printable.Name(c.ModelNumber), Serial: printable.Name(c.SerialNumber), Firmware: printable.Name(c.FirmwareRevision),
		VendorID:     c.VendorID,
		ControllerID: c.ControllerID, Revision: c.Version.String(),
		WarningTemperature: degrees(c.WarningTemperature), CriticalTemperature: degrees(c.CriticalTemperature),
	}
}

func degrees(t *nvme.Celsius) *int {
	if t == nil {
		return nil
	}
	return new(int(*t))
}

// ofSMART converts the SMART log, without the values that the controller does not really report.
func ofSMART(s nvme.SMART, c nvme.Controller) record.Health {
	h := record.Health{Temperatures: temperatures(s)}
	if s == (nvme.SMART{}) { // from a volume in a cloud, and from drives that mean something else by the command
		return h
	}
	h.CriticalWarnings, h.GroupWarnings = criticalWarnings(s)
	h.ControllerBusy, h.ErrorLogEntries = new(span(s.ControllerBusyMinutes.Times(60))), new(whole(s.ErrorLogEntries))
	// Volumes in clouds, and those that Linux exports, leave most of the log at 0. A real drive has spare blocks or a threshold
	// for them, and was switched on at least once.
	none := nvme.Uint128{}
	media, switched := s.AvailableSpare > 0 || s.AvailableSpareThreshold > 0, s.PowerCycles != none
	known := func(counter nvme.Uint128, reported bool) *uint64 {
		if counter == none && !reported {
			return nil
		}
		return new(whole(counter))
	}
	if media {
		h.AvailableSpare, h.AvailableSpareThreshold = share(s.AvailableSpare), share(s.AvailableSpareThreshold)
	}
	if media || s.PercentageUsed > 0 {
		h.PercentageUsed = new(s.PercentageUsed.Ratio())
	}
	if switched || s.PowerOnHours != none {
		h.PowerOn = new(span(s.PowerOnHours.Times(3600)))
	}
	h.PowerCycles, h.UnsafeShutdowns = known(s.PowerCycles, false), known(s.UnsafeShutdowns, switched)
	h.MediaErrors = known(s.MediaErrors, media || switched)
	if i := slices.Index(h.CriticalWarnings, record.CriticalReliability); i >= 0 && onlyUsedUp(h) {
		h.CriticalWarnings[i] = record.CriticalEndurance
	}
	// The kernel reads every drive that it finds.
	used := s.HostReadCommands != none || s.HostWriteCommands != none || s.DataReadBytes != nil || s.DataWrittenBytes != nil
	h.HostReadCommands, h.HostWriteCommands = known(s.HostReadCommands, used), known(s.HostWriteCommands, used)
	h.DataReadBytes = moved(s.DataReadBytes, h.HostReadCommands)
	h.DataWrittenBytes = moved(s.DataWrittenBytes, h.HostWriteCommands)
	// Without either temperature, a drive leaves the first time at 0.
	if c.WarningTemperature != nil && c.CriticalTemperature != nil || s.WarningTemperatureTime > 0 {
		h.WarningTemperatureTime = &s.WarningTemperatureTime
	}
	if c.CriticalTemperature != nil || s.CriticalTemperatureTime > 0 {
		h.CriticalTemperatureTime = &s.CriticalTemperatureTime
	}
	for i, level := range []string{"light", "heavy"} {
		if c.HostThermalManagement || s.ThermalTransitions[i] > 0 || s.ThermalTime[i] > 0 {
			h.Throttling = append(h.Throttling, record.Throttling{
				Level: level, Transitions: uint64(s.ThermalTransitions[i]), Time: s.ThermalTime[i],
			})
		}
	}
	return h
}

// share returns a normalized percentage, nil for the reserved values above 100: some drives report a threshold of 255.
func share(p nvme.Percent) *float64 {
	if p > 100 {
		return nil
	}
	return new(p.Ratio())
}

// onlyUsedUp reports whether the rated endurance of a drive is used, and nothing else is known to be wrong with its media.
func onlyUsedUp(h record.Health) bool {
	return h.PercentageUsed != nil && *h.PercentageUsed >= 1 && h.MediaErrors != nil && *h.MediaErrors == 0 &&
		!fewSpares(h) && !h.Warns(record.CriticalSpare)
}

// criticalWarnings returns the warnings of the drive, and those that it gives of an endurance group only.
func criticalWarnings(s nvme.SMART) (drive, groups []record.CriticalWarning) {
	const ofGroups = nvme.GroupWarningSpare | nvme.GroupWarningReliability | nvme.GroupWarningReadOnly
	drive = []record.CriticalWarning{}
	for i, bit := range []nvme.CriticalWarnings{
		nvme.WarningSpare, nvme.WarningTemperature, nvme.WarningReliability,
		nvme.WarningReadOnly, nvme.WarningBackup, nvme.WarningPersistentMemory,
	} {
		switch w := record.CriticalWarnings()[i]; {
		case s.CriticalWarnings.Has(bit):
			drive = append(drive, w)
		case nvme.CriticalWarnings(s.EnduranceGroupWarnings & ofGroups).Has(bit): // the same places
			groups = append(groups, w)
		}
	}
	return drive, groups
}

func temperatures(s nvme.SMART) []record.Temperature {
	list := []record.Temperature{}
	if s.Temperature != nil {
		list = append(list, record.Temperature{Sensor: record.CompositeSensor, Celsius: int(*s.Temperature)})
	}
	for i, t := range s.TemperatureSensors {
		if t != nil {
			list = append(list, record.Temperature{Sensor: strconv.Itoa(i + 1), Celsius: int(*t)})
		}
	}
	return list
}

// moved returns an amount of data. It is 0, and not unknown, before the first command.
func moved(bytes *nvme.Uint128, commands *uint64) *uint64 {
	switch {
	case bytes != nil:
		return new(whole(*bytes))
	case commands != nil && *commands == 0:
		return new(uint64)
	}
	return nil
}

// whole returns a counter, or the largest number if it does not fit.
func whole(u nvme.Uint128) uint64 {
	if n, ok := u.Uint64(); ok {
		return n
	}
	return math.MaxUint64
}

// span returns seconds as a duration, or the longest duration if they do not fit.
func span(seconds nvme.Uint128) time.Duration {
	n, ok := seconds.Uint64()
	if !ok || n > math.MaxInt64/uint64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(n) * time.Second
}

// readNamespaces reads the namespaces with the given ids, or all active ones if ids is
// nil. It leaves out namespaces that are gone.
func readNamespaces(ctx context.Context, d *nvme.Device, c nvme.Controller, ids []uint32) ([]record.NamespaceHealth, error) {
	if ids == nil {
		var err error
		if ids, err = d.Namespaces(); err != nil {
			return nil, unlessUnsupported(err)
		}
	}
	var list []record.NamespaceHealth
	var problems []error
	if len(ids) > maxNamespaces {
		problems = append(problems, fmt.Errorf("%d of %d namespaces are not read: at most %d are", len(ids)-maxNamespaces, len(ids), maxNamespaces))
		ids = ids[:maxNamespaces]
	}
	for _, id := range ids {
		if ctx.Err() != nil {
			return list, context.Cause(ctx)
		}
		n, err := d.Namespace(id)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			problems = append(problems, unlessUnsupported(err))
		default:
			list = append(list, record.NamespaceHealth{
				ID: id, SizeBytes: whole(n.SizeBytes()), AllocatedBytes: allocated(n, c),
				BlockBytes: n.Format.DataBytes, MetadataBytes: n.Format.MetadataBytes, Protection: n.Protection.Type,
			})
		}
	}
	return list, errors.Join(problems...)
}

// allocated returns how much of a namespace is in use. It is nil over a path without access (ANA), for which the
// controller reports 0.
func allocated(n nvme.Namespace, c nvme.Controller) *uint64 {
	if c.AsymmetricAccess && n.UtilizationBlocks == 0 && n.CapacityBlocks > 0 {
		return nil
	}
	return new(whole(n.UtilizationBytes()))
}
