package suite

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fio itself knows what is let through: a name that is not one of its own protects nobody.
func TestOptionsWithinAreThoseOfFio(t *testing.T) {
	help := func(arg string) string {
		out, err := exec.CommandContext(t.Context(), "fio", arg).Output()
		require.NoError(t, err, arg)
		return string(out)
	}
	var engines strings.Builder
	for _, engine := range []string{"io_uring", "libaio", "mmap", "pvsync2"} { // the others have no options
		engines.WriteString(help("--enghelp=" + engine))
	}
	for _, key := range within() {
		assert.Regexp(t, `(?m)^ *(`+key+` *:|alias: `+key+`$)`, help("--cmdhelp="+key)+engines.String(), key)
	}
}
