package config

import (
	"regexp"
	"strconv"
)

const wantNumber = "a number, e.g. 0.5"

var numberText = regexp.MustCompile(`^\d+(?:\.\d+)?$`)

// ParseNumber reads a number that is not negative: "0.5". The error is a Problem.
func ParseNumber(text string) (float64, error) {
	if !numberText.MatchString(text) {
		return 0, notA("a number", text, wantNumber)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, Problem{Value: text, Wrong: "is too large for a number", Want: wantNumber}
	}
	return n, nil
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
