package manifesttest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Later builds sort after earlier ones, for dpkg and for rpm, whatever their hashes are.
func TestPackagesOfLaterBuildsAreUpgrades(t *testing.T) {
	need(t, "dpkg", "dpkg")
	need(t, "rpm", "rpm")
	number := func(version, seconds string) string {
		return strings.TrimSpace(run(t, at("scripts", "package-version.sh"), version, seconds))
	}
	oldest := number("unknown", "0") // not built from git
	for _, later := range []string{
		number("20b09764", "1795780800"), number("1cd3a14f", "1795780801"), number("1cd3a14f-dirty", "1795780801"),
		number("v0.1.0-rc1", "0"), number("v0.1.0-rc1-3-gffffffff", "0"), number("v0.1.0", "0"), number("v0.1.0-2-g00000000", "0"),
		number("v0.1.0-10-g00000000", "0"), number("v0.1.1", "0"), number("v0.10.0", "0"),
	} {
		run(t, "dpkg", "--compare-versions", oldest, "lt", later)
		assert.Equal(t, "-1\n", run(t, "rpm", "--eval", fmt.Sprintf(`%%{lua:print(rpm.vercmp(%q, %q))}`, oldest, later)), "%s, %s", oldest, later)
		assert.NotContains(t, later, "-")
		oldest = later
	}
}
