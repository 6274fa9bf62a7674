package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMoreWritesThanTheBudgetAreWarnedAbout(t *testing.T) {
	const half = `
admission: {write_budget_per_day: 720MiB}
probes: [{name: w, direction: write, pattern: sequential, datasync: true, block_size: 4KiB, interval: 1m, ios: 256, timeout: 5s, targets: files}]
`
	for text, want := range map[string]string{
		half: "write probes write 1.5 GiB a day to each file, more than admission.write_budget_per_day (720MiB): 52 % of their rounds are skipped",
		"admission: {write_budget_per_day: 500MiB}\nfiles: [{path: /a}, {path: /b}, {path: /c}, {path: /d}]\n": "write probes write 743 MiB a day to the 4 files together; " +
			"if they are on one device, that is more than admission.write_budget_per_day (500MiB): 33 % of their rounds are skipped",
	} {
		c, err := parse(text)
		require.NoError(t, err)
		assert.Contains(t, c.Warnings(), want)
	}
}
