package imagetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// debian creates a root directory like that of the official image, with its list of sources.
func debian(t testing.TB, root, release string) {
	t.Helper()
	_, err := exec.LookPath("debootstrap")
	require.NoError(t, err, "install it with scripts/install.sh debootstrap")
	out, err := exec.CommandContext(t.Context(), "debootstrap", "--variant=minbase", release, root).CombinedOutput()
	require.NoErrorf(t, err, "debootstrap %s:\n%s", release, out)
	list := filepath.Join(root, "etc", "apt", "sources.list") // "deb MIRROR RELEASE main"
	text, err := os.ReadFile(list)
	require.NoError(t, err)
	mirror := strings.Fields(string(text))[1]
	require.NoError(t, os.Remove(list))
	write(t, filepath.Join(root, "etc", "apt", "sources.list.d", "debian.sources"), fmt.Sprintf(
		"Types: deb\nURIs: %s\nSuites: %s %s-updates\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n",
		mirror, release, release), 0o644)
	for _, name := range []string{"/etc/resolv.conf", "/etc/hosts"} { // the builder's network
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		write(t, filepath.Join(root, name), string(text), 0o644)
	}
}
