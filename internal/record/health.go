package record

import (
	"fmt"
	"slices"
	"time"
)

// Controller is the controller of one or several devices: an NVMe controller, a
// virtio device, or a SATA or SAS drive itself. It is read once, however many
// namespaces it has; a namespace with several paths has a controller for each.
type Controller struct {
	// Name is the kernel's: "nvme0", "virtio1", "sda".
	Name string         `json:"name"`
	Kind ControllerKind `json:"kind"`
	// Devices are the ids of the devices that it reaches, in order.
	Devices []string `json:"devices"`
	// LastRead is when the health was last read; it stays when later readings fail.
	LastRead time.Time `json:"last_read,omitzero"`
	// Health is nil unless the last reading succeeded, and for what is not NVMe.
	Health *Health `json:"health,omitempty"`
	// Disk is the same for SATA and SAS drives.
	Disk *DiskHealth `json:"disk,omitempty"`
	// Interrupts is nil for what has no interrupts of its own.
	Interrupts *Interrupts `json:"interrupts,omitempty"`
	// Warnings say what the last reading found wrong.
	Warnings []Warning `json:"warnings,omitempty"`
}

// ControllerKind is how a controller is asked.
type ControllerKind string

// The kinds of controllers.
const (
	ControllerNVMe   ControllerKind = "nvme"   // by admin commands: Health, and Interrupts on PCIe
	ControllerDrive  ControllerKind = "drive"  // SATA or SAS, by smartctl: Disk
	ControllerVirtio ControllerKind = "virtio" // has Interrupts alone
)

// Health is what an NVMe controller says of itself and of its drive. What it does
// not report or support is nil or missing, never 0. Counters count since the drive
// was made, and stay at their largest value when a drive claims more.
type Health struct {
	Time     time.Time          `json:"time"`
	Identity ControllerIdentity `json:"identity"`

	// CriticalWarnings are those that are set.
	CriticalWarnings []CriticalWarning `json:"critical_warnings"`
	Temperatures     []Temperature     `json:"temperatures"`

	// Shares: AvailableSpare from 0 to 1, and PercentageUsed of the life that the
	// vendor foresaw, which may exceed 1. A drive without spare blocks that would not
	// warn of it either, as those that Linux serves over networks, does not report them.
	AvailableSpare          *float64 `json:"available_spare_ratio,omitempty"`
	AvailableSpareThreshold *float64 `json:"available_spare_threshold_ratio,omitempty"`
	PercentageUsed          float64  `json:"percentage_used_ratio"`

	// DataRead and DataWritten are what the host moved, in steps of 512 000 bytes.
	DataReadBytes     *uint64       `json:"data_read_bytes,omitempty"`
	DataWrittenBytes  *uint64       `json:"data_written_bytes,omitempty"`
	HostReadCommands  uint64        `json:"host_read_commands"`
	HostWriteCommands uint64        `json:"host_write_commands"`
	ControllerBusy    time.Duration `json:"controller_busy_ns"` // whole minutes
	PowerCycles       uint64        `json:"power_cycles"`
	PowerOn           time.Duration `json:"power_on_ns"` // whole hours
	UnsafeShutdowns   uint64        `json:"unsafe_shutdowns"`
	MediaErrors       uint64        `json:"media_errors"`
	ErrorLogEntries   uint64        `json:"error_log_entries"`

	// How long the drive was above its warning and its critical temperature; whole minutes.
	WarningTemperatureTime  *time.Duration `json:"warning_temperature_ns,omitempty"`
	CriticalTemperatureTime *time.Duration `json:"critical_temperature_ns,omitempty"`
	// Throttling is how often and how long the drive slowed down to cool, by level.
	Throttling []Throttling `json:"throttling,omitempty"`

	Features   Features          `json:"features"`
	Namespaces []NamespaceHealth `json:"namespaces,omitempty"`
}

// ControllerIdentity is who a controller is.
type ControllerIdentity struct {
	Model        string `json:"model"`
	Serial       string `json:"serial"`
	Firmware     string `json:"firmware"`
	VendorID     uint16 `json:"vendor_id"`
	ControllerID uint16 `json:"controller_id"`
	// Revision of the specification that it follows, "1.4"; "0.0" before it was told.
	Revision string `json:"revision"`
	// Temperatures from which on it warns and is in danger, in degrees Celsius.
	WarningTemperature  *int `json:"warning_temperature_celsius,omitempty"`
	CriticalTemperature *int `json:"critical_temperature_celsius,omitempty"`
}

// CriticalWarning is a condition for which a drive asks for attention.
type CriticalWarning string

// The critical warnings of NVMe drives.
const (
	CriticalSpare            CriticalWarning = "available_spare"
	CriticalTemperature      CriticalWarning = "temperature"
	CriticalReliability      CriticalWarning = "reliability"
	CriticalReadOnly         CriticalWarning = "read_only"
	CriticalBackup           CriticalWarning = "volatile_memory_backup"
	CriticalPersistentMemory CriticalWarning = "persistent_memory"
)

// CriticalWarnings lists all of them.
func CriticalWarnings() []CriticalWarning {
	return []CriticalWarning{
		CriticalSpare, CriticalTemperature, CriticalReliability, CriticalReadOnly, CriticalBackup, CriticalPersistentMemory,
	}
}

// Temperature is that of one sensor.
type Temperature struct {
	// Sensor is CompositeSensor, or "1" to "8".
	Sensor  string `json:"sensor"`
	Celsius int    `json:"celsius"`
}

// CompositeSensor is the drive as a whole.
const CompositeSensor = "composite"

// Throttling is what a drive did about heat by its own choice.
type Throttling struct {
	// Level is "light", with little loss of speed, or "heavy", whatever it costs.
	Level       string        `json:"level"`
	Transitions uint64        `json:"transitions"`
	Time        time.Duration `json:"time_ns"` // whole seconds
}

// Features is how a controller is set to work.
type Features struct {
	Coalescing *Coalescing `json:"interrupt_coalescing,omitempty"`
	// WriteCache is nil when there is no volatile one.
	WriteCache *bool `json:"write_cache,omitempty"`
	// AllocatedQueues are the I/O queues that the controller granted the driver.
	AllocatedQueues *int `json:"allocated_io_queues,omitempty"`
	// IOQueues are those that the driver uses, PollQueues those of them without interrupt.
	IOQueues   *int `json:"io_queues,omitempty"`
	PollQueues *int `json:"poll_queues,omitempty"`
	// PowerState is the one in force, 0 for full power; it changes by itself while
	// AutonomousPower is true, which is nil when the controller has no such changes.
	PowerState      *int  `json:"power_state,omitempty"`
	AutonomousPower *bool `json:"autonomous_power,omitempty"`
}

// Coalescing is how many completions a controller may gather, and how long,
// before it interrupts.
type Coalescing struct {
	Time      time.Duration `json:"time_ns"`
	Threshold int           `json:"threshold"` // completions, 1 to 256
}

// String says "11 / 200µs", or "off" when every completion interrupts at once.
func (c Coalescing) String() string {
	if c.Threshold <= 1 {
		return "off"
	}
	return fmt.Sprintf("%d / %v", c.Threshold, c.Time)
}

// NamespaceHealth is how a namespace is formatted and how much of it is in use.
type NamespaceHealth struct {
	ID             uint32 `json:"id"`
	SizeBytes      uint64 `json:"size_bytes"`
	AllocatedBytes uint64 `json:"allocated_bytes"` // SizeBytes where the drive does not keep count
	BlockBytes     uint64 `json:"block_bytes"`
	MetadataBytes  uint16 `json:"metadata_bytes,omitempty"` // of each block
	Protection     uint8  `json:"protection,omitempty"`     // type of end-to-end protection, 1 to 3
}

// AllocatedRatio is the share (0 to 1) of the namespace that holds data; false
// when its size is not known.
func (n NamespaceHealth) AllocatedRatio() (float64, bool) {
	if n.SizeBytes == 0 {
		return 0, false
	}
	return float64(n.AllocatedBytes) / float64(n.SizeBytes), true
}

// DiskHealth is what a SATA or SAS drive says of itself. What it does not say is nil.
type DiskHealth struct {
	Time time.Time `json:"time"`
	// Asleep says that the drive was in standby and was left alone, so that nothing
	// else is known.
	Asleep bool `json:"asleep,omitempty"`
	// Passed is the drive's own verdict on itself.
	Passed             *bool  `json:"passed,omitempty"`
	TemperatureCelsius *int   `json:"temperature_celsius,omitempty"`
	PowerOnHours       *int64 `json:"power_on_hours,omitempty"`
	PowerCycles        *int64 `json:"power_cycles,omitempty"`
	// PercentageUsed is the share of the foreseen life that is used; may exceed 1.
	PercentageUsed *float64 `json:"percentage_used_ratio,omitempty"`
	// Sectors that were replaced, that wait to be, and that cannot be read.
	ReallocatedSectors   *int64 `json:"reallocated_sectors,omitempty"`
	PendingSectors       *int64 `json:"pending_sectors,omitempty"`
	UncorrectableSectors *int64 `json:"uncorrectable_sectors,omitempty"`
	// PendingFlips says that PendingSectors of this drive is 1 now and then without cause.
	PendingFlips bool `json:"pending_flips,omitempty"`
}

// Interrupts are those that the queues of a controller have caused since boot.
type Interrupts struct {
	Time   time.Time         `json:"time"`
	Queues []QueueInterrupts `json:"queues"` // those that the machine shows now
	// Count is of all queues that were ever seen, on all CPUs: it never goes down, as Queues do while a controller is reset.
	Count uint64 `json:"count"`
	// EveryQueue says that more than the count of each queue was asked for.
	EveryQueue bool `json:"every_queue,omitempty"`
	// Remote counts those taken on CPUs outside the controller's NUMA node; nil when
	// the machine does not say where that is.
	Remote *uint64 `json:"remote,omitempty"`
	// PerIO is how many interrupts the I/O queues caused for each I/O completed in
	// the Span before Time; nil when none was.
	PerIO *float64      `json:"per_io,omitempty"`
	Span  time.Duration `json:"span_ns,omitempty"`
}

// QueueInterrupts are the interrupts of one queue on all CPUs.
type QueueInterrupts struct {
	// Queue is its number, "0" for the admin queue of NVMe; several with commas when
	// they share an interrupt.
	Queue string `json:"queue"`
	// Number is the interrupt's, as in /proc/interrupts.
	Number string `json:"number"`
	Count  uint64 `json:"count"`
	// CPUs are those that it is sent to, "0-3,8"; empty when the machine does not say.
	CPUs string `json:"cpus,omitempty"`

	// The rest is empty unless Interrupts.EveryQueue is set.

	// Affinity are the CPUs that it may be sent to; empty when the machine does not say.
	Affinity string `json:"affinity,omitempty"`
	// Local counts those taken on CPUs of the controller's NUMA node, Remote the others;
	// nil when the machine does not say where that is.
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
