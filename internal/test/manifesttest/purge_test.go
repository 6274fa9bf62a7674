package manifesttest

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// dpkg --purge removes what ssdprobe has learned, and nothing that is mounted there.
func TestPurge(t *testing.T) {
	testenv.Root(t)
	script, err := filepath.Abs("../../../deploy/packages/postremove.sh")
	require.NoError(t, err)
	for name, c := range map[string]struct{ prepare, left string }{
		"learned only":            {":", ""},
		"nothing":                 {"rm -r /var/lib/ssdprobe", ""},
		"a directory of others":   {"mkdir /var/lib/ssdprobe/disk; mount --bind $0 /var/lib/ssdprobe/disk", "/var/lib/ssdprobe/disk"},
		"a filesystem of its own": {"mount --bind $0 /var/lib/ssdprobe", "/var/lib/ssdprobe"},
		"behind a link": {
			"mv /var/lib /var/real; ln -s real /var/lib; mkdir /var/lib/ssdprobe/disk; mount --bind $0 /var/real/ssdprobe/disk", "/var/real/ssdprobe/disk",
		},
	} {
		t.Run(name, func(t *testing.T) {
			theirs := t.TempDir()
			write(t, filepath.Join(theirs, "important"), "important", 0o600)
			// Empty filesystems hide this machine's /var and /run, in a mount namespace of its own.
			const world = "set -e; mount -t tmpfs purge /var; mount -t tmpfs purge /run; mkdir -p /var/lib/ssdprobe/targets; "
			_, said, err := try(t, "unshare", "--mount", "sh", "-c", world+c.prepare+"; sh "+script+" purge; if [ -z '"+c.left+"' ]; then test ! -e /var/lib/ssdprobe; fi", theirs)
			require.NoError(t, err, said)
			assert.Equal(t, "important", read(t, filepath.Join(theirs, "important")))
			if c.left == "" {
				assert.Empty(t, said)
			} else {
				assert.Contains(t, said, c.left+" is mounted")
			}
		})
	}
}
