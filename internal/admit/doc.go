// Package admit decides whether a device may be touched now, and says why not.
//
// A Gate looks at what others do to the device: how busy they kept it since our
// last I/O, what they have in flight, and how much the host waits for I/O. A
// Budget bounds what is written in a day. Locks keep two processes of ours
// from one device. Nothing here reads or writes a device.
//
//	load, err := gate.Admit(time.Now())
//	if errors.Is(err, admit.ErrBusy) { … }
//	… the round …
//	err = gate.Done(time.Now(), &load)
package admit
