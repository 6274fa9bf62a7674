package export

import (
	"errors"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Registry is all that the daemon publishes: what a Collector gathers, and what is
// registered beside it, under other names.
type Registry struct {
	*prometheus.Registry
	collector *Collector
	scrapes   sync.Pool // *scrape that were given back
}

// NewRegistry returns what New collects, and the daemon's own use of the Go
// runtime, of CPU and of memory.
func NewRegistry(snapshot func() record.Snapshot, latencies *Latencies, build Build) (*Registry, error) {
	r := &Registry{Registry: prometheus.NewRegistry(), collector: New(snapshot, latencies, build)}
	return r, errors.Join(
		r.Register(collectors.NewGoCollector()),
		r.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})),
	)
}

// Gather implements prometheus.Gatherer.
func (r *Registry) Gather() ([]*dto.MetricFamily, error) {
	return r.gather(new(scrape))
}

// Lend is Gather of families that nobody uses any more after the call of done, which is
// called once: the next scrape is made in their memory, which spares the garbage collector
// most of its work.
func (r *Registry) Lend() (families []*dto.MetricFamily, done func(), err error) {
	in, ok := r.scrapes.Get().(*scrape)
	if !ok {
		in = new(scrape)
	}
	families, err = r.gather(in)
	return families, func() { r.scrapes.Put(in) }, err
}

func (r *Registry) gather(in *scrape) ([]*dto.MetricFamily, error) {
	beside, errBeside := r.Registry.Gather()
	own, err := r.collector.gather(in)
	all := slices.Concat(own, beside)
	sortByName(all)
	return all, errors.Join(err, errBeside)
}
