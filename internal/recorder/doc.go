// Package recorder is the flight recorder: it keeps the last ten minutes of all watched devices and of the host
// in memory, second by second, and returns the minute before and the minute after each trigger.
//
// The package decides what belongs to one incident and which recordings are surplus, and defines the file
// format of a recording (gzip of JSON lines). It reads nothing from a drive: package traffic supplies what the
// kernel counted, and the daemon what it has read for other purposes. It writes no files either: a recording
// that is due is returned, and returned again later if it could not be written.
//
//	r := recorder.New(recorder.Options{Clock: recorder.SystemClock()})
//	r.Switch(true)
//	r.Take(second, host)                        // once a second
//	r.Trigger(record.Trigger{…}, 3*time.Second) // what happened three seconds ago
//	for _, due := range r.Due() {
//		r.Written(due.ID, save(due))
//	}
package recorder
