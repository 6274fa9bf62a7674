package report_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// A figure of a drive's health that no fact shows is one that was forgotten.
func TestEveryFigureOfHealthIsShown(t *testing.T) {
	before := report.HealthFacts(recordtest.Snapshot().Controllers[0])
	kind := reflect.TypeFor[record.Health]()
	figures := 0
	for i := range kind.NumField() {
		changed := recordtest.Snapshot().Controllers[0]
		if !raise(reflect.ValueOf(changed.Health).Elem().Field(i)) {
			continue
		}
		figures++
		assert.NotEqual(t, before, report.HealthFacts(changed), "record.Health.%s is in no fact: add it to healthFacts", kind.Field(i).Name)
	}
	assert.Greater(t, figures, 10)
}

// raise gives a figure another value; false for what is none.
func raise(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem())) // the snapshot's are not 0
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1e12)
	case reflect.Int64:
		v.SetInt(v.Int() + int64(100*time.Hour))
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.25)
	default:
		return false
	}
	return true
}
