// Package web is the HTTP side of the daemon: metrics, health, a read-only JSON API, a status page and a page for
// each target. The pages work without scripts; a small script refreshes them in place.
//
// It owns the paths and JSON shapes below, and limits how much of a storage node a crowd of clients may use up. It
// never causes I/O: every answer is made from one record.Snapshot, no request can start a probe or a run, and only
// GET and HEAD are accepted. No part of a request is written into an answer.
//
//	GET /                       the status page: all targets, the worst first, and all findings
//	GET /devices/{id}           everything about one target, with its history; ?span=hour, day or month
//	GET /metrics                Prometheus text, OpenMetrics or protobuf, as negotiated
//	GET /-/healthy              200 as long as the process answers
//	GET /-/ready                200 with a list of what is not watched, or 503 with the reason, as text
//	GET /api/v1/status          the findings, the worst first, and what is watched
//	GET /api/v1/health          the state and the verdict of each drive, the worst first, and the verdict on the host
//	GET /api/v1/devices         every target with its probes, and the devices that are not watched
//	GET /api/v1/devices/{id}    one target with its complete latency histograms
//	GET /api/v1/drift           one row per target, probe and statistic
//	GET /api/v1/baselines       one row per target and probe
//	GET /api/v1/explain/{id}    why the drift of a target is an alarm or not: blocks, baselines, CUSUMs
//	GET /api/v1/history/{id}    the figures of a target over the last hour, day and month
//	GET /api/v1/recordings      the recordings that the flight recorder keeps
//	GET /api/v1/recordings/{id} one recording, second by second
//	GET /recordings/{id}        the same as a page with plots
//	GET /api/v1/snapshot        everything, as record.Snapshot; ssdprobe drift reads this
//
// The id of a probe file contains slashes. It may appear in the path as it is, as in
// /api/v1/devices/file:/var/lib/ssdprobe/probe/data, or with %2F. The two paths below /-/ never require a password,
// whatever the web config file says. Errors of all paths but /metrics are JSON: {"status": 404, "error": "…"}. The
// shapes are in api.go. Keys may be added to them, but are neither renamed nor removed within v1.
//
//	server, err := web.Listen(ctx, web.Config{Listen: []string{":10040"}, Log: log})
//	…
//	err = server.Serve(ctx, web.Handler(web.Options{Snapshot: daemon.Snapshot, Metrics: registry, Log: log}))
package web
