package units

import (
	"fmt"
	"strings"
)

// Plural writes a count and its noun: "1 step", "3 steps", "4 entries".
func Plural[N Whole](n N, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ry"):
		return Count(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	default:
		return Count(n) + " " + noun + "s"
	}
}

// Whole is any integer type that is used for counts.
type Whole interface{ ~int | ~int64 | ~uint64 }

// Count writes a whole number with its thousands grouped: "1 143 600". The separator is
// an ordinary space: a thin or a no-break space looks the same, but searches and most
// programs do not recognise a pasted number with one.
func Count[N Whole](n N) string {
	digits, sign := fmt.Sprintf("%d", n), ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(d)
	}
	return b.String()
}
