package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// wholeNumbers returns a regular expression for the decimal numbers from low to high, in
// the syntax that all JSON schema validators share. Zeros in front do not count.
func wholeNumbers(low, high int64) string {
	var parts []string
	for start, stop := range blocks(low, high) {
		parts = append(parts, block(strconv.FormatInt(start, 10), strconv.FormatInt(stop, 10)))
	}
	return "0*" + oneOfAll(parts)
}

// wholeNumbersFrom is wholeNumbers without an end.
func wholeNumbersFrom(low int64) string {
	if low <= 1 {
		return []string{`[0-9]+`, `0*[1-9][0-9]*`}[low]
	}
	digits := len(strconv.FormatInt(low, 10))
	var parts []string
	for start, stop := range blocks(low, powerOf10(digits)-1) {
		parts = append(parts, block(strconv.FormatInt(start, 10), strconv.FormatInt(stop, 10)))
	}
	return "0*" + oneOfAll(append(parts, fmt.Sprintf(`[1-9][0-9]{%d,}`, digits)))
}

// oneOfAll is the expression of all alternatives.
func oneOfAll(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return "(?:" + strings.Join(parts, "|") + ")"
}

// blocks cuts a range into pieces in which each digit has a range of its own: 8 to 130
// are 8 to 9, 10 to 99, 100 to 129 and 130.
func blocks(low, high int64) func(yield func(start, stop int64) bool) {
	stops := []int64{high}
	for size := int64(10); size <= high; size *= 10 {
		if nines := low - low%size + size - 1; nines < high {
			stops = append(stops, nines)
		}
		if below := (high+1)/size*size - 1; below >= low {
			stops = append(stops, below)
		}
	}
	slices.Sort(stops)
	return func(yield func(start, stop int64) bool) {
		for _, stop := range slices.Compact(stops) {
			if !yield(low, stop) {
				return
			}
			low = stop + 1
		}
	}
}

// block is the expression of a piece, whose limits have as many digits.
func block(start, stop string) string {
	var b strings.Builder
	for i := range start {
		if start[i] == stop[i] {
			b.WriteByte(start[i])
		} else {
			fmt.Fprintf(&b, "[%c-%c]", start[i], stop[i])
		}
	}
	return b.String()
}

func powerOf10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}
