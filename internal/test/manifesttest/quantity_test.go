package manifesttest

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
)

// patternOf returns the pattern that the chart has for a kind of value.
func patternOf(t *testing.T, definition string) *regexp.Regexp {
	t.Helper()
	text, err := os.ReadFile(at("deploy", "helm", "ssdprobe", "values.schema.json"))
	require.NoError(t, err)
	var schema struct {
		Definitions map[string]struct{ Pattern string }
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	require.NotEmpty(t, schema.Definitions[definition].Pattern)
	return regexp.MustCompile(schema.Definitions[definition].Pattern)
}

// The chart takes the quantities that Kubernetes takes and no others. Kubernetes also takes some without any digit, such as
// "Gi", against its own grammar.
func TestChartTakesTheQuantitiesOfKubernetes(t *testing.T) {
	t.Parallel()
	quantity, size := patternOf(t, "quantity"), patternOf(t, "size")
	taken := 0
	for _, number := range []string{"0", "1", "+1", "-1", "007", "12", "0.5", "1.50", "5.", ".5", "+.5", "0.0", "-0.5", "1,5", "1.2.3", "0x1", "--1", " 1", "1 ", "one", "9999999999999999999999"} {
		for _, suffix := range []string{
			"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E3", "e+3", "e-3", "E-03",
			"K", "ki", "mi", "ni", "B", "GB", "GiB", "g", "e", "e1.5", "e3Gi", " Gi", "\n", "Gi\n", "m5", "GG", "e99999999999999999999",
		} {
			text := number + suffix
			q, err := resource.ParseQuantity(text)
			assert.Equal(t, err == nil && q.Sign() >= 0, quantity.MatchString(text), "%q: %v", text, err)
			assert.Equal(t, err == nil && q.Sign() > 0, size.MatchString(text), "the size %q: %v", text, err)
			if err == nil {
				taken++
			}
		}
	}
	assert.Greater(t, taken, 200)
}

// The operator parses an interval as Prometheus does. Units above the minute are left out: an interval has two minutes at
// most.
func TestChartTakesTheIntervalsOfTheOperator(t *testing.T) {
	t.Parallel()
	interval := patternOf(t, "interval")
	for _, text := range []string{
		"30s", "1m", "1m30s", "1m30s500ms", "500ms", "0s", "99999999m99999999s99999999ms", "30", "s", "30S", "1.5m", "-1m", "+1m", "30s1m", "1m1m",
		"30 s", " 30s", "30s\n", "1min", "9999999999999m", "99999999999999999999s",
	} {
		_, err := model.ParseDuration(text)
		assert.Equal(t, err == nil, interval.MatchString(text), "%q: %v", text, err)
	}
	assert.True(t, interval.MatchString(""), "Prometheus' own")
}
