// Package admit decides whether a round may touch a device now, and explains a refusal.
//
// A Gate looks at the load that others put on the device: how many I/Os they keep in
// flight, how close that is to the most work the device was seen to do, and whether the
// device contributes to the host's I/O pressure. A drive that is slow, or that shares a
// host with a slow one, is still measured. Limits set by the user hold for every device. A
// Budget limits the bytes written per day. Nothing here reads from or writes to a device.
//
//	load, err := gate.Admit(time.Now())
//	if errors.Is(err, admit.ErrBusy) && !(overdue && gate.MayForce(err)) { … }
//	… the round …
//	err = gate.Done(time.Now(), ours, &load)
package admit
