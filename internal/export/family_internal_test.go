package export

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faulty collects families, one of which may have a series with too many labels.
type faulty []family[int]

func (f faulty) Describe(out chan<- *prometheus.Desc) { describe(f, out) }

func (f faulty) Collect(out chan<- prometheus.Metric) { collect(f, 1, out) }

func TestABrokenFamilyHidesNoOther(t *testing.T) {
	r := prometheus.NewRegistry()
	require.NoError(t, r.Register(faulty(described([]family[int]{
		{name: "broken", kind: gauge, help: "Broken.", series: func(_ int, emit emit) { emit(1, "too many") }},
		{name: "good", kind: gauge, help: "Good.", series: func(_ int, emit emit) { emit(1) }},
	}))))
	families, err := r.Gather()
	require.ErrorContains(t, err, "broken")
	require.Len(t, families, 1)
	assert.Equal(t, "good", families[0].GetName())
}
