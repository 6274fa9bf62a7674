package printable_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/printable"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"SAMSUNG MZQL23T8HCLS-00A07": "SAMSUNG MZQL23T8HCLS-00A07",
		"500 µs – é 中 \u00a0":        "500 µs – é 中 \u00a0",
		"S3\u202e1":                  `S3\u202e1`,                 // right-to-left override
		"a\u2066b\u2069":             `a\u2066b\u2069`,            // isolates
		"S3\u200b1\ufeff":            `S3\u200b1\ufeff`,           // zero width
		"a\x1b[2J\r\n\t\x00":         `a\x1b[2J\r\n\t\x00`,        // C0
		"a\u0085\u009b2J\x7f":        `a\u0085\u009b2J\x7f`,       // C1: a CSI as a single character
		"a\u2028b\u2029":             `a\u2028b\u2029`,            // line and paragraph separators
		"\ue000\U000f0000\u0378":     `\ue000\U000f0000\u0378`,    // private use, unassigned
		"\U000e0041":                 `\U000e0041`,                // tags
		"a\xff\xc0b\xe2\x80":         `a\xff\xc0b\xe2\x80`,        // not UTF-8
		"it's \ufffd":                "it's \ufffd",               // replaced earlier by somebody else
		`system-ssd\x2dprobe.slice`:  `system-ssd\x2dprobe.slice`, // as systemd escapes it
	} {
		assert.Equal(t, want, printable.Text(in))
	}
	assert.Equal(t, "a\n\tb\\u202e\n", printable.Lines("a\n\tb\u202e\n"))
}

func TestName(t *testing.T) {
	assert.Equal(t, "S3 1", printable.Name("S3 1"))
	for _, pair := range [][2]string{
		{"S3\u202e1", `S3\u202e1`}, {"\xff", `\xff`}, {"\u00a0", " "}, {`\`, `\\`}, {"\\\u202e", `\\u202e`}, {"\u0085", "\x85"},
	} {
		assert.NotEqual(t, printable.Name(pair[0]), printable.Name(pair[1]), "%q", pair)
	}
}

// hidden reports whether a character must never be displayed, by a definition that
// differs from the package's.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp) ||
		!unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z)
}

func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"S3\u202e1", `S3\u202e1`, "\x1b[2J", "\xff\\", "a\\\u200b", "é\U000e0041", "\\x85\u0085\x85"} {
		f.Add(s, s+"\u202e")
	}
	f.Fuzz(func(t *testing.T, s, other string) {
		name, text := printable.Name(s), printable.Text(s)
		for _, shown := range []string{name, text} {
			assert.True(t, utf8.ValidString(shown))
			assert.False(t, strings.ContainsFunc(shown, hidden), "%q", shown)
		}
		assert.Equal(t, name, printable.Text(name), "what is shown is what is typed")
		assert.Equal(t, s == other, name == printable.Name(other), "%q and %q", s, other)
		back, err := strconv.Unquote(`"` + strings.ReplaceAll(name, `"`, `\"`) + `"`)
		require.NoError(t, err)
		assert.Equal(t, s, back, "nothing is lost")

		document, err := json.MarshalIndent(map[string]string{"text": s, s: "\n"}, "", "\t")
		require.NoError(t, err)
		escaped := printable.JSON(document)
		assert.False(t, strings.ContainsFunc(strings.NewReplacer("\n", "", "\t", "").Replace(string(escaped)), hidden), "%s", escaped)
		var before, after map[string]string
		require.NoError(t, json.Unmarshal(document, &before))
		require.NoError(t, json.Unmarshal(escaped, &after))
		assert.Equal(t, before, after)
	})
}
