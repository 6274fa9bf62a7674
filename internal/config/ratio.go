package config

import (
	"regexp"
	"strconv"
)

const wantRatio = "a share or a percentage, e.g. 0.8 or 80%"

var ratioText = regexp.MustCompile(`^(\d+(?:\.\d+)?) ?(%?)$`)

// ParseRatio reads a share: "0.8" or "80%". It may be above 1 and is never
// negative. The error is a Problem.
func ParseRatio(text string) (float64, error) {
	parts := ratioText.FindStringSubmatch(text)
	if parts == nil {
		return 0, notA("a ratio", text, wantRatio)
	}
	number := parts[1]
	if parts[2] == "%" {
		number += "e-2" // exact, where dividing by 100 would round a second time
	}
	ratio, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, Problem{Value: text, Wrong: "is too large for a ratio", Want: wantRatio}
	}
	return ratio, nil
}

// FormatRatio writes a share as a plain number: "0.8". ParseRatio reads it back
// when it is finite and not negative.
func FormatRatio(ratio float64) string {
	return strconv.FormatFloat(ratio, 'f', -1, 64)
}
