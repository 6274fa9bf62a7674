package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// beProgram is the variable that makes the test binary run the program.
const beProgram = "SSDPROBE_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(beProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Ctrl-C stops a loop of a shell, not only the command in it.
func TestCtrlCStopsALoop(t *testing.T) {
	asked := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		asked <- struct{}{}
	}))
	t.Cleanup(server.Close)
	c := exec.Command("bash", "-c", `for i in 1 2 3; do "$0" ready --url "$1" --wait 1h; echo "after: $?"; done`, os.Args[0], server.URL)
	c.Env = append(os.Environ(), beProgram+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	<-asked
	require.NoError(t, syscall.Kill(-c.Process.Pid, syscall.SIGINT)) // as a terminal does on Ctrl-C
	said := make([]byte, 100)
	n, _ := out.Read(said) // until the shell ends
	assert.Empty(t, string(said[:n]), "the loop went on")
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // in case it has not ended
	var ended *exec.ExitError
	require.ErrorAs(t, c.Wait(), &ended)
	assert.Equal(t, syscall.SIGINT, ended.Sys().(syscall.WaitStatus).Signal())
}
