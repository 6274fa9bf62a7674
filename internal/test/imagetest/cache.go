package imagetest

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/stretchr/testify/require"
)

// out is the directory that later stages copy from a Debian stage.
const out = "out"

// cached returns the path at which the result of a stage is cached. It depends on the stage's text,
// the files that it copies, and the architecture.
func (b *builder) cached(text string) string {
	sum := sha256.New()
	sum.Write([]byte(b.Arch + "\n" + text))
	for _, match := range regexp.MustCompile(`(?m)^COPY (\S+) `).FindAllStringSubmatch(text, -1) {
		content, err := os.ReadFile(filepath.Join(root, match[1]))
		require.NoError(b.t, err)
		sum.Write(content)
	}
	dir, err := os.UserCacheDir()
	require.NoError(b.t, err)
	return filepath.Join(dir, "ssdprobe", "container-"+hex.EncodeToString(sum.Sum(nil)[:8]))
}

// fromCache restores the result of a stage, and reports whether it was cached.
func (b *builder) fromCache(s stage, text string) bool {
	from := b.cached(text)
	if _, err := os.Stat(from); err != nil {
		require.ErrorIs(b.t, err, fs.ErrNotExist)
		return false
	}
	require.NoError(b.t, os.CopyFS(filepath.Join(s.root, out), os.DirFS(from)))
	return true
}

// toCache stores the result of a stage atomically.
func (b *builder) toCache(s stage, text string) {
	to := b.cached(text)
	require.NoError(b.t, os.MkdirAll(filepath.Dir(to), 0o755))
	half, err := os.MkdirTemp(filepath.Dir(to), ".container-")
	require.NoError(b.t, err)
	defer func() { require.NoError(b.t, os.RemoveAll(half)) }()
	require.NoError(b.t, os.CopyFS(filepath.Join(half, out), os.DirFS(filepath.Join(s.root, out))))
	if err := os.Rename(filepath.Join(half, out), to); err != nil {
		require.ErrorIs(b.t, err, fs.ErrExist, "another test was first")
	}
}
