package export

import "github.com/ssdprobe/ssdprobe/internal/record"

// recorderFamilies returns the families that describe the kept recordings.
func recorderFamilies() []family[record.Snapshot] {
	of := func(value func(*record.RecorderStatus) float64) func(record.Snapshot) (float64, bool) {
		return func(s record.Snapshot) (float64, bool) {
			if s.Recorder == nil {
				return 0, false
			}
			return value(s.Recorder), true
		}
	}
	return []family[record.Snapshot]{
		single("ssdprobe_recordings", gauge,
			"Number of recordings of the flight recorder that are kept. `ssdprobe record list` lists them.",
			of(func(r *record.RecorderStatus) float64 { return float64(len(r.Recordings)) })),
		single("ssdprobe_recordings_size_bytes", gauge, "Size of all recordings that are kept, compressed, in bytes.",
			of(func(r *record.RecorderStatus) float64 { return float64(r.Bytes()) })),
		single("ssdprobe_recordings_written_total", counter, "Number of recordings written since ssdprobe started.",
			of(func(r *record.RecorderStatus) float64 { return float64(r.Written) })),
		single("ssdprobe_recordings_failures_total", counter,
			"Number of failed attempts to write a recording since ssdprobe started. An attempt is repeated every 30 s, for some minutes. The log says why it failed.",
			of(func(r *record.RecorderStatus) float64 { return float64(r.Failed) })),
		single("ssdprobe_recording_last_timestamp_seconds", gauge, "End of the newest recording, in seconds since 1970. Absent without one.",
			func(s record.Snapshot) (float64, bool) {
				if s.Recorder == nil || len(s.Recorder.Recordings) == 0 {
					return 0, false
				}
				return moment(s.Recorder.Recordings[len(s.Recorder.Recordings)-1].Until)
			}),
	}
}
