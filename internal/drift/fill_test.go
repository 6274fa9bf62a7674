package drift_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Whatever a tracker knows reaches the snapshot: no field may be forgotten.
func TestTheStatusOfAProbeHasAllThatIsKnown(t *testing.T) {
	s := drift.Status{
		Window: &record.Window{Rounds: 1}, Baseline: &record.Baseline{Rounds: 2}, LearningRounds: 3, LearningGoal: 4,
		Drift: []record.Drift{{Ratio: 5}}, Effect: &record.Effect{Accepted: true}, Earlier: []record.Effect{{}},
		Lifetime: map[record.Statistic]record.Lifetime{record.IOPS: {}}, UnjudgedBlocks: 6,
	}
	var p record.ProbeStatus
	s.Fill(&p)
	from, to := reflect.ValueOf(s), reflect.ValueOf(p)
	for i := range from.NumField() {
		name := from.Type().Field(i).Name
		assert.False(t, from.Field(i).IsZero(), "the test does not set %s", name)
		if field := to.FieldByName(name); assert.True(t, field.IsValid(), "%s has no field of that name", name) {
			assert.Equal(t, from.Field(i).Interface(), field.Interface(), name)
		}
	}
}
