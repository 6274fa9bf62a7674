package export

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// labelValue returns s with bytes that are not UTF-8 written as \xNN: one such
// byte in a drive's model or a path would make Prometheus refuse the whole
// scrape, and replacing all of them by one mark could make two ids equal.
func labelValue(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[0])
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}
