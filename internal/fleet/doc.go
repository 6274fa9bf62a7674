// Package fleet limits the full runs of the nodes of a Kubernetes cluster: at most N nodes hold a permit to run
// at a time.
//
// It owns N Lease objects in one namespace of the cluster, NAME-0 to NAME-(N-1). A node holds a permit while it
// is named in one of them, and renews it while it runs. An update names the version that it was made from, so
// if several nodes take the same Lease, only one succeeds. A Lease that was not renewed within its own duration
// is free, whoever is named in it.
//
// The package trusts no clock but its own. Whether a Lease was renewed is judged by how long this process has
// seen it unchanged. A holder stops by its own clock, counted from before it asked, a sixth of the duration
// before anybody else may begin. A process that is suspended for longer than that and then continues may run at
// the same time as another one until its next renewal; nothing fences it off.
//
// The package does not guess: without an answer of the API server there is no permit, and a permit that cannot
// be renewed runs out. It neither logs nor waits for a permit; a caller that wants one asks again.
//
//	fleet, err := fleet.Connect(fleet.Options{Permits: 1, Lease: "ssdprobe-run", Duration: 2 * time.Minute, Node: "storage-1"})
//	…
//	permit, err := fleet.Try(ctx)
//	if errors.Is(err, fleet.ErrTaken) { … }
package fleet
