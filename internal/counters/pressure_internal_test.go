package counters

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A kernel booted with psi=0 has the file, but opening it gives EOPNOTSUPP.
func TestNoPressure(t *testing.T) {
	off := noPressure(&os.PathError{Op: "open", Path: "/proc/pressure/io", Err: unix.EOPNOTSUPP})
	require.ErrorIs(t, off, os.ErrNotExist)
	require.ErrorIs(t, off, unix.EOPNOTSUPP)

	denied := noPressure(&os.PathError{Op: "open", Path: "/proc/pressure/io", Err: unix.EACCES})
	require.NotErrorIs(t, denied, os.ErrNotExist)
	require.NoError(t, noPressure(nil))
}
