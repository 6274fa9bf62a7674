package recordtest

import (
	"reflect"
	"testing"
)

// EachField calls check for every field of T, with the value that fresh returns but with that field set to zero. It
// fails for a field that fresh leaves zero, because the test could not show that it is used.
func EachField[T any](t *testing.T, fresh func() T, check func(field string, without T)) {
	t.Helper()
	for i := range reflect.TypeFor[T]().NumField() {
		name, v := reflect.TypeFor[T]().Field(i).Name, fresh()
		field := reflect.ValueOf(&v).Elem().Field(i)
		if field.IsZero() {
			t.Errorf("the fixture has no %s", name)
			continue
		}
		field.SetZero()
		check(name, v)
	}
}
