package glob_test

import (
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/glob"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"nvme*", "nvme0n1", true},
		{"nvme*", "sda", false},
		{"nvme?n1", "nvme10n1", false},
		{"sd[ab]", "sdb", true},
		{"sd[ab]", "sdc", false},
		{"file:*", "file:/srv/db/probe/data", true},
		{"/srv/*", "/srv/db/probe/data", true},
		{"a?b", "a/b", true},
		{"KINGSTON*", "KINGSTON 2/4", true},
		{"/srv/db", "/srv/db", true},
		{"/srv/db", "/srv/db/probe", false},
		{"[", "[", false},
	} {
		assert.Equal(t, c.want, glob.Match(c.pattern, c.text), "%s, %s", c.pattern, c.text)
	}
}

func TestCheck(t *testing.T) {
	require.ErrorIs(t, glob.Check("nvme["), path.ErrBadPattern)
	assert.NoError(t, glob.Check("nvme[0-9]n*"))
}
