package export_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

// A figure of a drive's health that no metric shows is one whose family was forgotten.
func TestEveryFigureOfHealthIsExported(t *testing.T) {
	s := recordtest.Snapshot()
	before, _ := exposition(t, gather(t, s, observed(s)))
	kind := reflect.TypeFor[record.Health]()
	figures := 0
	for i := range kind.NumField() {
		changed := recordtest.Snapshot()
		if !more(reflect.ValueOf(changed.Controllers[0].Health).Elem().Field(i)) {
			continue
		}
		figures++
		after, _ := exposition(t, gather(t, changed, observed(changed)))
		assert.NotEqual(t, before, after, "record.Health.%s is in no metric: add its family to nvme.go", kind.Field(i).Name)
	}
	assert.Greater(t, figures, 10)
}

// more raises a figure; false for what is none.
func more(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem())) // the snapshot's are not 0
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Int64:
		v.SetInt(v.Int() + int64(time.Hour))
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.25)
	default:
		return false
	}
	return true
}
