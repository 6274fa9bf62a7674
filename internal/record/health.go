package record

import (
	"fmt"
	"slices"
	"time"
)

// Controller is the controller of one or more devices: an NVMe controller, a virtio device, or a SATA or SAS drive
// itself. It is read once, however many namespaces it has. A namespace with several paths has one controller per
// path.
type Controller struct {
	// Name is the kernel's name, such as "nvme0", "virtio1" or "sda".
	Name string         `json:"name"`
	Kind ControllerKind `json:"kind"`
	// Devices lists the ids of the devices that the controller reaches, in order.
	Devices []string `json:"devices"`
	// LastRead is the time of the last successful reading of the health.
	LastRead time.Time `json:"last_read,omitzero"`
	// Health is nil unless the last reading succeeded. It is always nil for controllers other than NVMe.
	Health *Health `json:"health,omitempty"`
	// Disk is the counterpart of Health for SATA and SAS drives.
	Disk *DiskHealth `json:"disk,omitempty"`
	// Interrupts is nil for controllers without interrupts of their own.
	Interrupts *Interrupts `json:"interrupts,omitempty"`
	// Warnings are the problems that the last reading found.
	Warnings []Warning `json:"warnings,omitempty"`
}

// ControllerKind says how the health of a controller is read.
type ControllerKind string

// The kinds of controllers.
const (
	ControllerNVMe   ControllerKind = "nvme"   // by admin commands: has Health, and Interrupts on PCIe
	ControllerDrive  ControllerKind = "drive"  // SATA or SAS, by smartctl: has Disk
	ControllerVirtio ControllerKind = "virtio" // has only Interrupts
)

// Health is what an NVMe controller reports about itself and its drive. Values that it does not report or support are
// nil or missing, never 0. Counters cover the life of the drive; a counter that exceeds its type stays at the largest
// value.
type Health struct {
	Time     time.Time          `json:"time"`
	Identity ControllerIdentity `json:"identity"`

	// CriticalWarnings lists the warnings that are set. It is nil for a drive whose health log is blank, which is not to be well.
	// GroupWarnings lists those that the drive gives only of one or more of its endurance groups.
	CriticalWarnings []CriticalWarning `json:"critical_warnings,omitzero"`
	GroupWarnings    []CriticalWarning `json:"endurance_group_warnings,omitempty"`
	Temperatures     []Temperature     `json:"temperatures"`

	// AvailableSpare and its threshold are shares from 0 to 1. PercentageUsed is the used share of the life that the
	// vendor expected, and may exceed 1. They are nil for a drive that says nothing about its media, such as volumes in
	// clouds and those that Linux exports over networks.
	AvailableSpare          *float64 `json:"available_spare_ratio,omitempty"`
	AvailableSpareThreshold *float64 `json:"available_spare_threshold_ratio,omitempty"`
	PercentageUsed          *float64 `json:"percentage_used_ratio,omitempty"`

	// DataReadBytes and DataWrittenBytes are what the host transferred, in units of 512 000 bytes.
	DataReadBytes     *uint64        `json:"data_read_bytes,omitempty"`
	DataWrittenBytes  *uint64        `json:"data_written_bytes,omitempty"`
	HostReadCommands  *uint64        `json:"host_read_commands,omitempty"`
	HostWriteCommands *uint64        `json:"host_write_commands,omitempty"`
	ControllerBusy    *time.Duration `json:"controller_busy_ns,omitempty"` // whole minutes
	PowerCycles       *uint64        `json:"power_cycles,omitempty"`
	PowerOn           *time.Duration `json:"power_on_ns,omitempty"` // whole hours
	UnsafeShutdowns   *uint64        `json:"unsafe_shutdowns,omitempty"`
	MediaErrors       *uint64        `json:"media_errors,omitempty"`
	ErrorLogEntries   *uint64        `json:"error_log_entries,omitempty"`

	// The time that the drive spent above its warning and its critical temperature, in whole minutes.
	WarningTemperatureTime  *time.Duration `json:"warning_temperature_ns,omitempty"`
	CriticalTemperatureTime *time.Duration `json:"critical_temperature_ns,omitempty"`
	// Throttling says how often and for how long the drive slowed down to cool, by level.
	Throttling []Throttling `json:"throttling,omitempty"`

	// SelfTests are the results of at most 20 self-tests, the newest first. It is nil for a drive that keeps no such log, and
	// empty when none was run.
	SelfTests []SelfTest `json:"self_tests,omitzero"`
	MediaDies *MediaDies `json:"media_dies,omitempty"`

	Features   Features          `json:"features"`
	Namespaces []NamespaceHealth `json:"namespaces,omitempty"`
}

// ControllerIdentity identifies a controller.
type ControllerIdentity struct {
	Model        string `json:"model"`
	Serial       string `json:"serial"`
	Firmware     string `json:"firmware"`
	VendorID     uint16 `json:"vendor_id"`
	ControllerID uint16 `json:"controller_id"`
	// Revision is the version of the specification that the controller follows, such as "1.4". It is "0.0" for
	// controllers from before the version was reported.
	Revision string `json:"revision"`
	// The temperatures from which on the controller reports a warning and a critical condition, in degrees Celsius.
	WarningTemperature  *int `json:"warning_temperature_celsius,omitempty"`
	CriticalTemperature *int `json:"critical_temperature_celsius,omitempty"`
}

// CriticalWarning is a condition for which a drive demands attention.
type CriticalWarning string

// The critical warnings of NVMe drives.
const (
	CriticalSpare            CriticalWarning = "available_spare"
	CriticalTemperature      CriticalWarning = "temperature"
	CriticalReliability      CriticalWarning = "reliability"
	CriticalReadOnly         CriticalWarning = "read_only"
	CriticalBackup           CriticalWarning = "volatile_memory_backup"
	CriticalPersistentMemory CriticalWarning = "persistent_memory"
	// CriticalEndurance stands in place of CriticalReliability when the reason is most likely that the rated endurance is used:
	// some makers set that bit then, though the drive may work for years.
	CriticalEndurance CriticalWarning = "rated_endurance"
)

// Warns reports whether the drive gives the warning, of itself or of an endurance group.
func (h Health) Warns(w CriticalWarning) bool {
	return slices.Contains(h.CriticalWarnings, w) || slices.Contains(h.GroupWarnings, w)
}

// CriticalWarnings lists the critical warnings of the health log, in the order of their bits.
func CriticalWarnings() []CriticalWarning {
	return []CriticalWarning{
		CriticalSpare, CriticalTemperature, CriticalReliability, CriticalReadOnly, CriticalBackup, CriticalPersistentMemory,
	}
}

// Temperature is the reading of one temperature sensor.
type Temperature struct {
	// Sensor is CompositeSensor, or "1" to "8".
	Sensor  string `json:"sensor"`
	Celsius int    `json:"celsius"`
}

// CompositeSensor is the sensor of the drive as a whole.
const CompositeSensor = "composite"

// Throttling counts how a drive slowed itself down because of heat.
type Throttling struct {
	// Level is "light", with little effect on performance, or "heavy", whatever the effect.
	Level       string        `json:"level"`
	Transitions uint64        `json:"transitions"`
	Time        time.Duration `json:"time_ns"` // whole seconds
}

// MediaDies counts the dies that the media of a drive consist of.
type MediaDies struct {
	Total     uint16 `json:"total"`
	Tolerated uint16 `json:"tolerated"` // how many may fail before the drive fails
	Offline   uint16 `json:"offline"`
}

// Features holds the settings of a controller.
type Features struct {
	Coalescing *Coalescing `json:"interrupt_coalescing,omitempty"`
	// WriteCache is nil when there is no volatile write cache.
	WriteCache *bool `json:"write_cache,omitempty"`
	// AllocatedQueues is the number of I/O queues that the controller granted to the driver.
	AllocatedQueues *int `json:"allocated_io_queues,omitempty"`
	// IOQueues is the number of I/O queues that the driver uses. PollQueues is how many of them have no interrupt.
	IOQueues   *int `json:"io_queues,omitempty"`
	PollQueues *int `json:"poll_queues,omitempty"`
	// PowerState is the current power state; 0 is full power. It changes by itself while AutonomousPower is true.
	// AutonomousPower is nil when the controller does not support such changes.
	PowerState      *int  `json:"power_state,omitempty"`
	AutonomousPower *bool `json:"autonomous_power,omitempty"`
}

// Coalescing says how many completions a controller may collect before it interrupts, and for how long.
type Coalescing struct {
	Time      time.Duration `json:"time_ns"`
	Threshold int           `json:"threshold"` // completions, 1 to 256
}

// String returns text such as "11 / 200µs", or "off" when every completion interrupts at once.
func (c Coalescing) String() string {
	if c.Threshold <= 1 || c.Time == 0 { // each field switches it off (NVMe Base Specification, Interrupt Coalescing)
		return Off
	}
	return fmt.Sprintf("%d / %v", c.Threshold, c.Time)
}

// NamespaceHealth says how a namespace is formatted and how much of it is in use.
type NamespaceHealth struct {
	ID        uint32 `json:"id"`
	SizeBytes uint64 `json:"size_bytes"`
	// AllocatedBytes equals SizeBytes when the drive does not track allocation. It is nil when that is not known.
	AllocatedBytes *uint64 `json:"allocated_bytes,omitempty"`
	BlockBytes     uint64  `json:"block_bytes"`
	MetadataBytes  uint16  `json:"metadata_bytes,omitempty"` // per block
	Protection     uint8   `json:"protection,omitempty"`     // type of end-to-end data protection, 1 to 3
}

// AllocatedRatio returns the share (0 to 1) of the namespace that holds data, or false when that is not known.
func (n NamespaceHealth) AllocatedRatio() (float64, bool) {
	if n.SizeBytes == 0 || n.AllocatedBytes == nil {
		return 0, false
	}
	return float64(*n.AllocatedBytes) / float64(n.SizeBytes), true
}

// DiskHealth is what a SATA or SAS drive reports about itself. Values that it does not report are nil.
type DiskHealth struct {
	Time time.Time `json:"time"`
	// Asleep is true when the drive was in standby and was not woken. All other values are then unknown.
	Asleep bool `json:"asleep,omitempty"`
	// Passed is the drive's own assessment of its health. Reason says why a SAS drive has not passed; TooHot, that this is
	// its temperature.
	Passed             *bool  `json:"passed,omitempty"`
	Reason             string `json:"reason,omitempty"`
	TooHot             bool   `json:"too_hot,omitempty"`
	TemperatureCelsius *int   `json:"temperature_celsius,omitempty"`
	PowerOnHours       *int64 `json:"power_on_hours,omitempty"`
	PowerCycles        *int64 `json:"power_cycles,omitempty"`
	// PercentageUsed is the used share of the expected life, and may exceed 1.
	PercentageUsed *float64 `json:"percentage_used_ratio,omitempty"`
	// The sectors that were replaced, that wait to be replaced, and that cannot be read.
	ReallocatedSectors   *int64 `json:"reallocated_sectors,omitempty"`
	PendingSectors       *int64 `json:"pending_sectors,omitempty"`
	UncorrectableSectors *int64 `json:"uncorrectable_sectors,omitempty"`
	// PendingFlips is true for drives whose PendingSectors is 1 now and then without a cause.
	PendingFlips bool `json:"pending_flips,omitempty"`
}

// Pending returns PendingSectors, without the one that PendingFlips is about.
func (d DiskHealth) Pending() *int64 {
	if d.PendingFlips && d.PendingSectors != nil && *d.PendingSectors == 1 {
		return new(int64)
	}
	return d.PendingSectors
}

// Interrupts counts the interrupts from the queues of a controller.
type Interrupts struct {
	Time time.Time `json:"time"`
	// Since is when the counts began: in a Snapshot, when the daemon first read them. It is zero if they are since boot.
	Since  time.Time         `json:"since,omitzero"`
	Queues []QueueInterrupts `json:"queues"` // the queues that the machine shows now
	// Count covers all queues ever seen, on all CPUs. Unlike the counts of Queues, it does not fall while the
	// controller is reset.
	Count uint64 `json:"count"`
	// EveryQueue is true when more than the count of each queue is requested.
	EveryQueue bool `json:"every_queue,omitempty"`
	// Remote counts the interrupts handled by CPUs outside the controller's NUMA node; nil when the machine does not
	// report that node.
	Remote *uint64 `json:"remote,omitempty"`
	// PerIO is the number of interrupts from the I/O queues per I/O completed during the Span before Time; nil when
	// none was completed.
	PerIO *float64      `json:"per_io,omitempty"`
	Span  time.Duration `json:"span_ns,omitempty"`
}

// QueueInterrupts are the interrupts of one queue on all CPUs.
type QueueInterrupts struct {
	// Queue is the number of the queue; "0" is the admin queue of NVMe. Queues that share an interrupt are separated
	// by commas.
	Queue string `json:"queue"`
	// Number is the number of the interrupt, as in /proc/interrupts.
	Number string `json:"number"`
	Count  uint64 `json:"count"`
	// CPUs are the CPUs that the interrupt is sent to, such as "0-3,8"; empty when the machine does not report them.
	CPUs string `json:"cpus,omitempty"`

	// The following fields are empty unless Interrupts.EveryQueue is set.

	// Affinity are the CPUs that the interrupt may be sent to; empty when the machine does not report them.
	Affinity string `json:"affinity,omitempty"`
	// Local counts the interrupts handled by CPUs of the controller's NUMA node, Remote the others. Both are nil when
	// the machine does not report that node.
	Local  *uint64 `json:"local,omitempty"`
	Remote *uint64 `json:"remote,omitempty"`
}

// ControllersOf returns the controllers that reach the device with this id.
func (s Snapshot) ControllersOf(id string) []Controller {
	var found []Controller
	for _, c := range s.Controllers {
		if slices.Contains(c.Devices, id) {
			found = append(found, c)
		}
	}
	return found
}
