package recordtest

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Recording returns the recording made when the regressed drive was found slow: the drive stalls for three seconds,
// and its link retrains.
func Recording() record.Recording {
	at := Now().Add(-57 * time.Minute).Truncate(time.Second)
	drive := regressedDrive()
	rec := record.Recording{
		RecordingHead: record.RecordingHead{
			ID: at.Format("20060102T150405Z") + "-" + drive.Name, Node: "stor-07", Generator: "ssdprobe 1.2.3",
			From: at.Add(-20 * time.Second), Until: at.Add(10 * time.Second), Bytes: 21504, Cut: "the daemon stopped",
			Triggers: []record.Trigger{
				{Time: at, Kind: record.TriggerVerdict, TargetID: RegressedID, DeviceID: drive.ID, Device: drive.Name, Text: "degraded, 1.62× as slow as before (probes)"},
				{Time: at.Add(2 * time.Second), Kind: record.TriggerStall, TargetID: RegressedID, DeviceID: drive.ID, Device: drive.Name, Text: "no I/O completed for 3 s, with 4 in flight"},
			},
		},
		Devices: []record.DeviceRecording{
			{Device: record.Device{ID: HealthyID, Name: "nvme0n1", Kind: record.KindDisk}}, {Device: drive},
		},
		Idle: []string{"sda"},
	}
	for i := range 30 {
		end := rec.From.Add(time.Duration(i+1) * time.Second)
		h := record.HostSecond{
			Time: end, Length: time.Second,
			IOPressureSome: new(0.01 * float64(i)), IOPressureFull: new(0.002 * float64(i)), CPUBusy: new(0.25), CPUWait: new(0.125), CPUSteal: new(0.),
		}
		if i == 5 {
			h.ClockStep, h.StoodStill = -3*time.Second, true
		}
		if i == 25 {
			h.SlowUnreported = 42
		}
		rec.Host = append(rec.Host, h)
		served := record.ServedNow{IOs: 1000 + int64(i), Bytes: 4096 * (1000 + int64(i)), MeanLatency: 90 * time.Microsecond}
		rec.Devices[0].Seconds = append(rec.Devices[0].Seconds, record.DeviceSecond{Time: end, Read: served, Busy: 90 * time.Millisecond, InFlight: 1})
		s := record.DeviceSecond{
			Time: end, Read: served, Write: record.ServedNow{IOs: 20, Bytes: 81920, MeanLatency: time.Millisecond},
			Flush: record.ServedNow{IOs: 2, MeanLatency: 5 * time.Millisecond}, Busy: 400 * time.Millisecond, InFlight: 2, Ours: i%10 == 0,
		}
		if i >= 22 && i < 25 {
			s = record.DeviceSecond{Time: end, Busy: time.Second, InFlight: 4, Stall: record.StallByDevice}
		}
		rec.Devices[1].Seconds = append(rec.Devices[1].Seconds, s)
	}
	rec.Devices[1].Seconds[0] = record.DeviceSecond{Time: rec.From.Add(time.Second), Unknown: true}
	rec.Devices[1].Readings = []record.DeviceReading{
		{Time: rec.From.Add(-9 * time.Second), Celsius: new(48), Link: "16 GT/s x4"},
		{Time: rec.From.Add(25 * time.Second), Celsius: new(51), Link: "8 GT/s x4", InterruptsPerSecond: new(1021.5)},
	}
	rec.Devices[1].Slow = []record.SlowIO{
		{Time: rec.From.Add(19500 * time.Millisecond), Operation: record.OperationFlush, Device: 38 * time.Millisecond},
		{
			Time: rec.From.Add(25100 * time.Millisecond), Operation: record.OperationWrite, Bytes: 131072, Sector: 1953525160, Device: 3100 * time.Millisecond, Queue: 2 * time.Millisecond,
			Process: "postgres", PID: 4711, CGroup: "/system.slice/postgresql.service",
		},
	}
	return rec
}
