package export

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// NewRegistry returns a registry of everything that the daemon exports: the metrics of New, and the daemon's own use
// of the Go runtime, CPU and memory.
func NewRegistry(snapshot func() record.Snapshot, latencies *Latencies, build Build) (*prometheus.Registry, error) {
	r := prometheus.NewRegistry()
	return r, errors.Join(
		r.Register(New(snapshot, latencies, build)),
		r.Register(collectors.NewGoCollector()),
		r.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})),
	)
}
