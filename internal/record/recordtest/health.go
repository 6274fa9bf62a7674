package recordtest

import (
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// controllers returns the controllers of the two drives. Both are healthy, because the slowness of the second drive
// is not its own fault.
func controllers() []record.Controller {
	second := controller("nvme1", RegressedID, "S64HNE0R500102")
	second.Health.Temperatures = []record.Temperature{{Sensor: record.CompositeSensor, Celsius: 44}, {Sensor: "1", Celsius: 44}, {Sensor: "2", Celsius: 51}}
	second.Health.PowerOn = new(11020 * time.Hour)
	*second.Interrupts.Remote = 120
	return []record.Controller{controller("nvme0", HealthyID, "S64HNE0R500101"), second}
}

func controller(name, id, serial string) record.Controller {
	remote, perIO := uint64(0), 0.998
	c := record.Controller{
		Name: name, Kind: record.ControllerNVMe, Devices: []string{id}, LastRead: Now().Add(-21 * time.Second),
		Interrupts: &record.Interrupts{
			Time: Now().Add(-17 * time.Second), Remote: &remote, PerIO: &perIO, Span: time.Minute,
		},
		Health: health(serial),
	}
	c.Health.Time = c.LastRead
	for queue := range 17 {
		q := record.QueueInterrupts{Queue: fmt.Sprint(queue), Number: fmt.Sprint(60 + queue), Count: uint64(1_830_000 + 1000*queue), CPUs: fmt.Sprint(queue - 1)}
		if queue == 0 {
			q.Count, q.CPUs = 6187, "0"
		}
		c.Interrupts.Queues = append(c.Interrupts.Queues, q)
		c.Interrupts.Count += q.Count
	}
	return c
}

// health returns the health of a 3.84 TB data centre drive after 15 months.
func health(serial string) *record.Health {
	on, autonomous := false, false
	warm, hot := time.Duration(0), time.Duration(0)
	queues, polled, power := 16, 0, 0
	warning, critical := 74, 83
	allocated := 128
	read, written := uint64(812_345_678_848_000), uint64(96_123_456_512_000)
	return &record.Health{
		Identity: record.ControllerIdentity{
			Model: "SAMSUNG MZQL23T8HCLS-00A07", Serial: serial, Firmware: "GDC5602Q", VendorID: 0x144d, ControllerID: 6, Revision: "1.4",
			WarningTemperature: &warning, CriticalTemperature: &critical,
		},
		CriticalWarnings: []record.CriticalWarning{},
		Temperatures: []record.Temperature{
			{Sensor: record.CompositeSensor, Celsius: 38}, {Sensor: "1", Celsius: 38}, {Sensor: "2", Celsius: 46},
		},
		AvailableSpare: new(1.0), AvailableSpareThreshold: new(0.1), PercentageUsed: new(0.02),
		DataReadBytes: &read, DataWrittenBytes: &written, HostReadCommands: new(uint64(17_123_456_789)), HostWriteCommands: new(uint64(3_012_345_678)),
		ControllerBusy: new(34_567 * time.Minute), PowerCycles: new(uint64(31)), PowerOn: new(11034 * time.Hour),
		UnsafeShutdowns: new(uint64(12)), MediaErrors: new(uint64(0)), ErrorLogEntries: new(uint64(4)),
		WarningTemperatureTime: &warm, CriticalTemperatureTime: &hot,
		Throttling: []record.Throttling{{Level: "light"}, {Level: "heavy"}},
		SelfTests:  []record.SelfTest{{Kind: record.SelfTestExtended, Outcome: record.SelfTestPassed, PowerOn: 10800 * time.Hour}},
		MediaDies:  &record.MediaDies{Total: 256, Tolerated: 2},
		Features: record.Features{
			Coalescing: &record.Coalescing{Threshold: 1}, WriteCache: &on, AllocatedQueues: &allocated, IOQueues: &queues, PollQueues: &polled,
			PowerState: &power, AutonomousPower: &autonomous,
		},
		Namespaces: []record.NamespaceHealth{{ID: 1, SizeBytes: 3840755982336, AllocatedBytes: new(uint64(3187827465338)), BlockBytes: 512}},
	}
}

// healthReading returns the result of reading a device's health.
func healthReading(device string) record.CollectorStatus {
	return record.CollectorStatus{Collector: "health", Device: device, Success: true, Duration: 2900 * time.Microsecond}
}
