package config

import (
	"regexp"
	"strconv"
)

var numberText = regexp.MustCompile(`^(\d+(?:\.\d+)?)( ?%)?$`)

// ParseNumber parses a number that is not negative, such as "0.5". The error is a Problem.
func ParseNumber(text string) (float64, error) {
	return parseDecimal(text, "number", "a number, e.g. 0.5", false)
}

// ParseRatio parses a share, such as "0.8" or "80%". It may be above 1 and is never negative. The error is a Problem.
func ParseRatio(text string) (float64, error) {
	return parseDecimal(text, "ratio", "a share or a percentage, e.g. 0.8 or 80%", true)
}

func parseDecimal(text, noun, want string, percent bool) (float64, error) {
	parts := numberText.FindStringSubmatch(text)
	if len(parts) == 0 || parts[2] != "" && !percent {
		return 0, notA("a "+noun, text, want)
	}
	number := parts[1]
	if parts[2] != "" {
		number += "e-2" // exact, whereas dividing by 100 would round a second time
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, Problem{Value: text, Wrong: "is too large for a " + noun, Want: want}
	}
	return n, nil
}

// FormatNumber formats a number or a share: "0.8". ParseNumber and ParseRatio parse the result when it is finite and
// not negative.
func FormatNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
