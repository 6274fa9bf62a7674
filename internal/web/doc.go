// Package web is the HTTP side of the daemon: metrics, health, a read-only JSON
// API, a status page and a page for each target. The pages are complete without scripts; a small one renews them in
// place.
//
// It owns the addresses and shapes below, and how much of a storage node a crowd
// of clients may use up. It refuses to cause I/O: every answer is made from one
// record.Snapshot, no request can start a probe or a run, and only GET and HEAD
// are understood. Nothing of a request is written into an answer.
//
//	GET /                       the status page: all targets, the worst first, and what is wrong
//	GET /devices/{id}           all of one target, with its past; ?span=hour, day or month
//	GET /metrics                Prometheus text, OpenMetrics or protobuf, as asked for
//	GET /-/healthy              200 as long as the process answers
//	GET /-/ready                200 with what is not watched, or 503 with the reason, in words
//	GET /api/v1/status          what is wrong, worst first, and what is watched
//	GET /api/v1/health          the verdict on each drive, the worst first, and on the host
//	GET /api/v1/devices         every target with its probes, and devices not watched
//	GET /api/v1/devices/{id}    one target with its whole latency histograms
//	GET /api/v1/drift           one row per target, probe and statistic
//	GET /api/v1/baselines       one row per target and probe
//	GET /api/v1/explain/{id}    why a target's drift is an alarm or none: blocks, baselines, CUSUMs
//	GET /api/v1/history/{id}    the figures of a target over the last hour, day and month
//	GET /api/v1/recordings      what the flight recorder keeps
//	GET /api/v1/recordings/{id} one recording, second by second
//	GET /recordings/{id}        the same as a page with plots
//	GET /api/v1/snapshot        all of it, as record.Snapshot: what ssdprobe drift reads
//
// The id of a probe file holds slashes. It stands in the path as it is,
// /api/v1/devices/file:/var/lib/ssdprobe/probe/data, and %2F does as well.
// The two below /-/ ask for no password, whatever the web config file says.
// Errors of all paths but /metrics are JSON: {"status": 404, "error": "…"}. Shapes are in api.go;
// keys may be added to them, and are neither renamed nor removed within v1.
//
//	server, err := web.Listen(ctx, web.Config{Listen: []string{":10040"}, Log: log})
//	…
//	err = server.Serve(ctx, web.Handler(web.Options{Snapshot: daemon.Snapshot, Metrics: registry, Log: log}))
package web
