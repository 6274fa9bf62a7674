// Package fleet keeps full runs of many nodes apart: of all nodes of a Kubernetes
// cluster, at most N hold a permit to run at a time.
//
// It owns N Lease objects in one namespace of the cluster, NAME-0 to NAME-(N-1). A
// node holds a permit by being named in one of them, and renews it while it runs. An
// update names the version that it was made from, so that of several nodes that take
// the same Lease one succeeds. A Lease that was not renewed for as long as it says
// is free, whoever is named in it.
//
// It trusts no clock but its own: whether a Lease was renewed is judged by how long
// this process has seen it unchanged, and a holder stops by its own clock, counted
// from before it asked, a sixth of the duration before anybody else may begin. A
// process that is stopped for longer than that and goes on later may run together
// with another one until its next renewal; there is nothing that fences it off.
//
// It refuses to guess: without an answer of the API server there is no permit, and
// one that cannot be renewed runs out. It neither logs nor waits for a permit: who
// wants one asks again.
//
//	fleet, err := fleet.Connect(fleet.Options{Permits: 1, Lease: "ssdprobe-run", Duration: 2 * time.Minute, Node: "storage-1"})
//	…
//	permit, err := fleet.Try(ctx)
//	if errors.Is(err, fleet.ErrTaken) { … }
package fleet
