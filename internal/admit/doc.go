// Package admit decides whether a device may be touched now, and says why not.
//
// A Gate looks at what others do to the device: how many I/Os they keep in flight, how
// much of what the device was seen to do that is, and whether it has part in what the host
// waits for. A drive that is slow, or that shares a host with a slow one, goes on being
// measured. Limits that a user sets hold whatever the device is. A Budget bounds what is
// written in a day. Nothing here reads or writes a device.
//
//	load, err := gate.Admit(time.Now())
//	if errors.Is(err, admit.ErrBusy) && !(overdue && gate.MayForce(err)) { … }
//	… the round …
//	err = gate.Done(time.Now(), &load)
package admit
