package main

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/dashboards"
)

func TestFilesAreUpToDate(t *testing.T) {
	root := os.DirFS(root)
	all, err := files(root)
	require.NoError(t, err)
	for name, want := range all {
		got, err := fs.ReadFile(root, name)
		require.NoError(t, err)
		if want != string(got) { // the difference of whole dashboards is no help to read
			t.Errorf("%s is out of date: run make generate", name)
		}
	}
	for _, folder := range dashboards.Folders() {
		found, err := fs.Glob(root, folder+"/*")
		require.NoError(t, err)
		for _, name := range found {
			assert.Contains(t, all, name, "it is made no more: run make generate")
		}
	}
}

func TestTheReferenceSaysWhatEachKeyDoes(t *testing.T) {
	text, err := reference()
	require.NoError(t, err)
	assert.Contains(t, text, "| `discovery_interval` |")
	assert.NotContains(t, text, "|  |\n")
}
