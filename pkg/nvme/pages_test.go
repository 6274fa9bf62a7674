package nvme

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// captured returns a page that QEMU's controller wrote; see testdata/README.md.
func captured(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "captured", name+".bin"))
	require.NoError(t, err)
	return b
}

// built returns a page that was built from its published structure.
func built(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "built", name+".txt"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	size, err := strconv.Atoi(strings.TrimPrefix(lines[0], "size "))
	require.NoError(t, err)
	page := make([]byte, size)
	for _, line := range lines[1:] {
		offset, rest, _ := strings.Cut(line, " ")
		at, err := strconv.Atoi(offset)
		require.NoError(t, err, line)
		// The description begins at the first word that is not hexadecimal.
		for _, word := range strings.Fields(rest) {
			value, err := hex.DecodeString(word)
			if err != nil {
				break
			}
			require.LessOrEqual(t, at+len(value), size, line)
			at += copy(page[at:], value)
		}
	}
	return page
}

// pageWith returns a page of zeros except for some bytes.
func pageWith(size, offset int, value ...byte) []byte {
	page := make([]byte, size)
	copy(page[offset:], value)
	return page
}
