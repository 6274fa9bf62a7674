package fio

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// FieldError reports a field of fio's JSON that is missing or not valid.
type FieldError struct {
	Field  string // "jobs[0].read.iops"
	Value  string // as it stands in the JSON; empty when the field is missing
	Reason string
}

// Error returns a text such as "jobs[0].read.iops is -1: negative".
func (e *FieldError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s: %s", e.Field, e.Reason)
	}
	return fmt.Sprintf("%s is %s: %s", e.Field, e.Value, e.Reason)
}

// object is a JSON object whose fields are taken one by one. The first error is kept in err, which
// all objects of a document share; after it, every number taken is zero.
type object struct {
	// older is true for the output of fio before 3.28, which lacks some fields.
	older  bool
	path   string
	fields map[string]any
	err    *error
}

func (o object) fail(key, value, reason string) {
	if *o.err == nil {
		*o.err = &FieldError{Field: o.at(key), Value: value, Reason: reason}
	}
}

func (o object) at(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

func (o object) has(key string) bool {
	_, ok := o.fields[key]
	return ok
}

// take returns the field as a T; a field that is missing or of another type is an error.
func take[T any](o object, key, want string) T {
	got, ok := o.fields[key]
	if !ok {
		o.fail(key, "", "missing")
	}
	v, isT := got.(T)
	if ok && !isT {
		text, err := json.Marshal(got)
		if err != nil {
			text = []byte(err.Error())
		}
		o.fail(key, abridge(string(text)), "not "+want)
	}
	return v
}

func (o object) text(key string) string { return take[string](o, key, "a string") }

func (o object) child(key string) object {
	return object{older: o.older, path: o.at(key), fields: take[map[string]any](o, key, "an object"), err: o.err}
}

// list returns the objects of an array.
func (o object) list(key string) []object {
	items := take[[]any](o, key, "an array")
	objects := make([]object, len(items))
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", key, i)
		objects[i] = object{older: o.older, fields: map[string]any{at: item}, path: o.path, err: o.err}.child(at)
	}
	return objects
}

// texts returns an object of strings, nil when the field is missing.
func (o object) texts(key string) map[string]string {
	if !o.has(key) {
		return nil
	}
	c := o.child(key)
	m := make(map[string]string, len(c.fields))
	for k := range c.fields {
		m[k] = c.text(k)
	}
	return m
}

// count takes a whole number that is not negative.
func (o object) count(key string) int64 {
	text := take[json.Number](o, key, "a number").String()
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case *o.err != nil:
		return 0
	case err != nil:
		o.fail(key, abridge(text), "not a whole number of 64 bits")
		return 0
	case n < 0:
		o.fail(key, text, "negative")
		return 0
	}
	return n
}

// small takes a count that fits an int of 32 bits.
func (o object) small(key string) int {
	n := o.count(key)
	if n > math.MaxInt32 {
		o.fail(key, strconv.FormatInt(n, 10), "too large")
		return 0
	}
	return int(n)
}

// real takes a number that is not negative and not larger than a count.
func (o object) real(key string) float64 {
	text := take[json.Number](o, key, "a number").String()
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case *o.err != nil:
		return 0
	case err != nil:
		o.fail(key, abridge(text), "not a number in range")
		return 0
	case x < 0:
		o.fail(key, text, "negative")
		return 0
	case x > math.MaxInt64:
		o.fail(key, abridge(text), "too large")
		return 0
	}
	return x
}

// span takes a whole number of units of time.
func (o object) span(key string, unit time.Duration) time.Duration {
	n := o.count(key)
	if n > math.MaxInt64/int64(unit) {
		o.fail(key, strconv.FormatInt(n, 10), "too long a time")
		return 0
	}
	return time.Duration(n) * unit
}

// moment takes a number of units since 1970. JSON has no moments after the year 9999.
func (o object) moment(key string, unit time.Duration) time.Time {
	n := o.count(key)
	perSecond := int64(time.Second / unit)
	at := time.Unix(n/perSecond, n%perSecond*int64(unit))
	if at.Year() > 9999 {
		o.fail(key, strconv.FormatInt(n, 10), "after the year 9999")
	}
	return at
}

// nanoseconds takes a number of nanoseconds with a fraction and rounds it.
func (o object) nanoseconds(key string) time.Duration {
	x := math.Round(o.real(key))
	if x >= math.MaxInt64 {
		o.fail(key, strconv.FormatFloat(x, 'g', -1, 64), "too long a time")
		return 0
	}
	return time.Duration(x)
}

// abridge cuts a text from the file to 60 bytes, so that an error stays readable.
func abridge(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// lacks reports whether the field is missing because fio is older than 3.28.
func (o object) lacks(key string) bool { return o.older && !o.has(key) }
