package top_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/top"
)

func TestPlainText(t *testing.T) {
	s := node()
	top.Sort(s.Devices, top.ByTrouble, false)
	for name, width := range map[string]int{"plain.txt": 0, "plain_80.txt": 80} {
		var b bytes.Buffer
		require.NoError(t, top.WriteText(&b, s, width))
		golden(t, name, b.String())
	}
}

// The JSON keys are part of the contract: docs/traffic.md lists them.
func TestJSON(t *testing.T) {
	s := node()
	top.Sort(s.Devices, top.ByTrouble, false)
	s.Problems = []string{"a\x1b[2J"}
	var b bytes.Buffer
	require.NoError(t, top.WriteJSON(&b, s))
	assert.Equal(t, 1, strings.Count(b.String(), "\n"), "one line")
	assert.NotContains(t, b.String(), "\x1b")
	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, b.Bytes(), "", "  "))
	golden(t, "sample.json", indented.String())
	var back top.Sample
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	assert.Equal(t, s.Devices[0].Verdict, back.Devices[0].Verdict)
}

// Every key is documented.
func TestTheDocumentHasAllKeys(t *testing.T) {
	document, err := os.ReadFile("../../docs/traffic.md")
	require.NoError(t, err)
	var b bytes.Buffer
	s := node()
	s.Problems, s.Daemon.Problem, s.Devices[0].Traffic.Unusable = []string{"x"}, "x", "x"
	require.NoError(t, top.WriteJSON(&b, s))
	var all map[string]any
	require.NoError(t, json.Unmarshal(b.Bytes(), &all))
	found := 0
	var look func(any)
	look = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, each := range v {
				look(each)
			}
		case map[string]any:
			for key, value := range v {
				found++
				assert.Contains(t, string(document), "`"+key+"`")
				if key != "verdict" { // documented with the API
					look(value)
				}
			}
		}
	}
	look(all)
	assert.Greater(t, found, 30)
}
