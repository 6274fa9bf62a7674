package promtest

import (
	"math"
	"slices"
	"strconv"
)

// Series is one series of an answer, as the HTTP API has it: pairs of a time and a value as text.
type Series struct {
	Metric     map[string]string
	Value      []any   // of an instant query
	Values     [][]any // of a range
	Histogram  []any
	Histograms [][]any
}

// Holds reports whether the series has any number.
func (s Series) Holds() bool {
	if len(s.Histogram) > 0 || len(s.Histograms) > 0 {
		return true
	}
	_, ok := s.Last()
	return ok
}

// Last returns the last value of the series that is a number.
func (s Series) Last() (float64, bool) {
	values := s.Values
	if s.Value != nil {
		values = append(slices.Clone(values), s.Value)
	}
	for _, v := range slices.Backward(values) {
		text, isText := v[1].(string)
		if f, err := strconv.ParseFloat(text, 64); isText && err == nil && !math.IsNaN(f) {
			return f, true
		}
	}
	return 0, false
}
