// Package recorder is the flight recorder: it keeps the last ten minutes of all watched devices and of the host in
// memory, a second at a time, and hands out the minute before and the minute after whatever triggers it.
//
// It owns the ring, what belongs to one incident, which recordings are too many, and the form of a recording as a file
// (gzip of JSON lines). It reads nothing of a drive: package traffic gives it what the kernel counted, and the daemon
// what it has read for other purposes. It writes no files either: a recording that is due is handed out, and asked for again
// when it could not be written.
//
//	r := recorder.New(recorder.Options{Clock: recorder.SystemClock()})
//	r.Take(second, host)                        // once a second
//	r.Trigger(record.Trigger{…}, 3*time.Second) // what happened three seconds ago
//	for _, due := range r.Due() {
//		r.Written(due.ID, save(due))
//	}
package recorder
