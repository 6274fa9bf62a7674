package manifesttest

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// A service that was enabled in an image, in which systemd does not run, does not stay enabled there without its package.
func TestRemovingFromAnImageDisablesTheService(t *testing.T) {
	testenv.Root(t)
	need(t, "systemctl", "systemd")
	script, err := filepath.Abs(at("deploy", "packages", "preremove.sh"))
	require.NoError(t, err)
	units, err := filepath.Abs(at("deploy", "systemd"))
	require.NoError(t, err)
	// Empty filesystems hide this machine's own services, in a mount namespace of its own.
	const image = `set -e; for hidden in /run /etc/systemd /usr/local/lib; do mount -t tmpfs image $hidden; done
mkdir -p /usr/local/lib/systemd/system; cp $0/* /usr/local/lib/systemd/system
systemctl --quiet enable ssdprobe.service; link=/etc/systemd/system/multi-user.target.wants/ssdprobe.service; test -L $link
for removal in upgrade 1; do sh $1 $removal; test -L $link; done
sh $1 remove; test ! -L $link`
	_, said, err := try(t, "unshare", "--mount", "sh", "-c", image, units, script)
	require.NoError(t, err, said)
	require.Empty(t, said)
}
