package manifesttest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// completes asserts that bash, zsh and fish complete with the files in a root directory. zsh is the
// path of zsh's file below usr/share.
func completes(t *testing.T, root, zsh string) {
	t.Helper()
	share := filepath.Join(root, "usr", "share")
	environment := append(os.Environ(), "PATH="+filepath.Join(root, "usr", "bin")+":"+os.Getenv("PATH"), "HOME="+t.TempDir(), "TERM=dumb",
		"XDG_DATA_DIRS="+share, "BASH_COMPLETION_USER_DIR=/nonexistent")
	output := func(program string, arguments ...string) string {
		need(t, program, program)
		c := exec.CommandContext(t.Context(), program, arguments...)
		c.Env = environment
		out, err := c.CombinedOutput()
		require.NoErrorf(t, err, "%s", out)
		return string(out)
	}
	const library = "/usr/share/bash-completion/bash_completion"
	require.FileExists(t, library, "install it with scripts/install.sh bash-completion")
	assert.Equal(t, "baseline\n", output("bash", "--norc", "-c", "source "+library+`
_completion_loader ssdprobe || true
compopt() { :; } # it is for readline alone
COMP_WORDS=(ssdprobe base) COMP_CWORD=1 COMP_LINE="ssdprobe base" COMP_POINT=13
__start_ssdprobe
echo "${COMPREPLY[@]}"`))

	assert.Equal(t, "baseline\tShow, reset, pin, export or import baselines\n", output("fish", "-c", `complete -C "ssdprobe base"`))
	assert.Equal(t, "depth-sweep\tWhere is the knee?\n", output("fish", "-c", `complete -C "ssdprobe suites dep"`))

	z := startZsh(t, environment)
	z.types(t, fmt.Sprintf("fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D; print it is re''ady\n", filepath.Join(share, filepath.Dir(zsh))), "it is ready\r\n")
	z.types(t, "ssdprobe suites dep\t", "depth-sweep ")
	z.types(t, "\x15ssdprobe base\t", "baseline ") // Ctrl-U deletes the line
}

// zshell is a zsh on a terminal; without one it does not complete.
type zshell struct {
	person *os.File
	mu     sync.Mutex
	shown  bytes.Buffer
}

func startZsh(t *testing.T, environment []string) *zshell {
	t.Helper()
	need(t, "zsh", "zsh")
	z := &zshell{}
	var terminal *os.File
	z.person, terminal = testenv.Terminal(t, 120)
	c := exec.CommandContext(t.Context(), "zsh", "-f", "-i")
	c.Env, c.Stdin, c.Stdout, c.Stderr = environment, terminal, terminal, terminal
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, c.Start())
	require.NoError(t, terminal.Close())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // always an error, because it was killed
		_ = z.person.Close()
	})
	go func() { // ends with the terminal
		block := make([]byte, 4096)
		for {
			n, err := z.person.Read(block)
			z.mu.Lock()
			z.shown.Write(block[:n])
			z.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return z
}

// types types keys, and waits until the terminal shows a text for them.
func (z *zshell) types(t *testing.T, keys, shows string) {
	t.Helper()
	z.mu.Lock()
	z.shown.Reset()
	z.mu.Unlock()
	_, err := z.person.WriteString(keys)
	require.NoError(t, err)
	testenv.Eventually(t, fmt.Sprintf("zsh shows %q", shows), func() bool {
		z.mu.Lock()
		defer z.mu.Unlock()
		return bytes.Contains(z.shown.Bytes(), []byte(shows))
	})
}
