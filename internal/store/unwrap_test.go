package store_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/store"
)

func TestUnwrap(t *testing.T) {
	s := open(t)
	require.NoError(t, s.Save(kind, "a", some(7)))
	files, err := filepath.Glob(filepath.Join(s.Dir(), kind, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)

	data, found, err := store.Schema{Version: 1}.Unwrap(text)
	require.NoError(t, err)
	assert.True(t, found)
	var got value
	require.NoError(t, json.Unmarshal(data, &got))
	assert.Equal(t, some(7), got)

	_, found, err = store.Schema{Version: 1}.Unwrap([]byte(strings.Replace(string(text), `"n": 7`, `"n": 8`, 1)))
	assert.True(t, found)
	require.ErrorContains(t, err, "the checksum is")
	_, _, err = store.Schema{Version: 1}.Unwrap([]byte(strings.Replace(string(text), `"version": 1`, `"version": 2`, 1)))
	require.ErrorIs(t, err, store.ErrNewer)

	for _, other := range []string{"", "fio-3.33", "{}", "[1]", `{"format": "else", "version": 1}`} {
		_, found, err := store.Schema{Version: 1}.Unwrap([]byte(other))
		require.NoError(t, err)
		assert.False(t, found, other)
	}
}
