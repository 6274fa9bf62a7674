package web_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// fill sets every field of a value, so that no key is left out of its JSON.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(recordtest.Now()))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key)
		fill(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	default:
		require.True(t, v.CanConvert(reflect.TypeFor[float64]()), "fill does not know %s", v.Type())
		v.Set(reflect.ValueOf(1).Convert(v.Type()))
	}
}

func filled[T any](t *testing.T) T {
	t.Helper()
	var v T
	fill(t, reflect.ValueOf(&v).Elem())
	return v
}

// keys lists the paths of all values in a JSON document, with their types.
func keys(path string, v any) []string {
	var all []string
	switch v := v.(type) {
	case map[string]any:
		for key := range maps.Keys(v) {
			all = append(all, keys(strings.TrimPrefix(path+"."+key, "."), v[key])...)
		}
	case []any:
		for _, element := range v {
			all = append(all, keys(path+"[]", element)...)
		}
	default:
		return []string{fmt.Sprintf("%s %T", path, v)}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Clients depend on these keys. Mention every renamed or removed key in CHANGELOG.md.
func TestKeysOfTheAPI(t *testing.T) {
	s := filled[record.Snapshot](t)
	s.Time = s.Time.Add(time.Hour) // so that a round hangs, since a known time
	explained, recording := filled[report.Explained](t), filled[record.Recording](t)
	o := options()
	o.Snapshot = func() record.Snapshot { return s }
	o.Explain = func(string) (report.Explained, bool) { return explained, true }
	o.History = func(string) (*history.History, bool) {
		var h history.History
		h.Add(history.Key{Source: "read-4k", Figure: history.P50}, s.Time, 1, 1)
		return &h, true
	}
	o.Recording = func(string) (record.Recording, bool, error) { return recording, true, nil }
	server := serve(t, o)
	var b strings.Builder
	for _, path := range []string{"status", "health", "devices", "devices/x", "drift", "baselines", "explain/x", "history/x", "recordings", "recordings/x", "snapshot", "no/such/path"} {
		fmt.Fprintf(&b, "/api/v1/%s\n", path)
		for _, key := range keys("", decode[any](t, get(t, server.URL+"/api/v1/"+path))) {
			fmt.Fprintf(&b, "  %s\n", key)
		}
	}
	golden(t, "keys.txt", b.String())
}
