package fio_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]fio.Version{
		"fio-3.33":                {Major: 3, Minor: 33},
		"fio-2.2.10":              {Major: 2, Minor: 2, Patch: 10},
		"fio-3.42-6-g219f":        {Major: 3, Minor: 42, Commits: 6, Suffix: "g219f"},
		"fio-3.36-59-g1a2b-dirty": {Major: 3, Minor: 36, Commits: 59, Suffix: "g1a2b-dirty"},
		"fio-3.8-dirty":           {Major: 3, Minor: 8, Suffix: "dirty"},
	} {
		t.Run(text, func(t *testing.T) {
			v, err := fio.ParseVersion(text)
			require.NoError(t, err)
			assert.Equal(t, want, v)
			assert.Equal(t, text, v.String())
		})
	}
	for _, text := range []string{"", "3.33", "fio-", "fio-3", "fio-3.x", "fio-3.33 ", "fio-3.99999999999", "fio version 3.33\n"} {
		_, err := fio.ParseVersion(text)
		assert.Error(t, err, "%q", text)
	}
}

func TestVersionLess(t *testing.T) {
	rising := []fio.Version{
		{Major: 2, Minor: 99}, {Major: 3, Minor: 1, Patch: 5}, {Major: 3, Minor: 28}, {Major: 3, Minor: 28, Commits: 4}, {Major: 3, Minor: 33},
	}
	for i, v := range rising {
		for j, w := range rising {
			assert.Equal(t, i < j, v.Less(w), "%v < %v", v, w)
		}
	}
	assert.False(t, fio.Version{Major: 3, Minor: 33}.Less(fio.Version{Major: 3, Minor: 33, Suffix: "dirty"}))
}
