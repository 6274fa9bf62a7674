package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What a scheduled run needs is known before its time comes, which may be at night in a month: config check tells what
// can never work, and what will often not.
func TestRunsThatDoNotWorkAreTold(t *testing.T) {
	const (
		devices  = "fallback_file: false\n"
		files    = "devices: {enabled: false}\nfiles: [{path: /srv/data}]\n"
		both     = "files: [{path: /srv/data}]\n"
		noWrites = "writes, and the daemon never writes to a device"
		advice   = "want set: [writes=no], a suite that only reads, or targets that are directories under files"
	)
	for name, c := range map[string]struct {
		config, run string
		code        int
		says        string // nothing if empty
	}{
		"writes, only devices":       {devices, `suite: saturate`, 2, `runs[0].suite: "saturate" never runs: it ` + noWrites + "; " + advice},
		"writes, only named devices": {both, `suite: saturate, targets: [/dev/nvme*]`, 2, `runs[0].suite: "saturate" never runs: it ` + noWrites},
		"needs a file, only devices": {devices, `suite: durable-write`, 2, `runs[0].suite: "durable-write" never runs: it ` + noWrites},
		"needs a device to write to": {both, `suite: steady-state, set: [purge=yes], window: 7d`, 2, noWrites + "; purge: blocks of a file can be neither discarded nor formatted"},
		"formats":                    {devices, `suite: steady-state, set: [purge=format], window: 7d`, 2, noWrites},
		"writes, also devices":       {both, `suite: saturate`, 0, `warning: runs[0].suite: "saturate" is refused on some of its targets: it ` + noWrites + "; " + advice},
		"writes, the fallback file":  {"", `suite: saturate`, 0, `warning: runs[0].suite: "saturate" is refused on some of its targets`},
		"writes, only files":         {files, `suite: saturate`, 0, ""},
		"writes, only named files":   {both, `suite: saturate, targets: ["/srv/*", "file:/srv/data"]`, 0, ""},
		"is told not to write":       {devices, `suite: saturate, set: [writes=no]`, 0, ""},
		"reads":                      {devices, `suite: quick`, 0, ""},
		"writes files by itself":     {devices, `suite: model`, 0, ""},
		"nothing is probed":          {"fallback_file: false\ndevices: {enabled: false}\n", `suite: saturate`, 0, "warning: nothing is probed"},

		"takes longer than its window": {devices, `suite: quick, window: 1m, set: [time=1m]`, 0,
			`warning: runs[0].window: "1m" is shorter than quick takes on one target, about 3 min: each run ends before it is complete; want 3m or more, or less to do in set`},
		"takes less where it is allowed": {devices, `suite: model, window: 20m`, 0, ""},
		"fits its window":                {devices, `suite: quick, window: 3m, set: [time=1m]`, 0, ""},
		"can never be steady":            {files, `suite: steady-state, window: 10m, set: [rounds=3]`, 2, "runs[0].set: rounds: 3 is less than the window of 5"},
		"may fit, if it can":             {files, `suite: steady-state, window: 10m`, 0, ""}, // not all rounds may be needed
		"does not fit at best":           {files, `suite: steady-state, window: 5m`, 0, `warning: runs[0].window: "5m" is shorter than steady-state takes`},
	} {
		t.Run(name, func(t *testing.T) {
			got := in("config", "check", file(t, "c.yaml", c.config+`runs: [{schedule: "@daily", `+c.run+"}]\n"))
			assert.Equal(t, c.code, got.code, got.stderr)
			said := strings.Join(strings.Fields(got.stdout+got.stderr), " ") // it is folded
			if c.says == "" {
				assert.NotContains(t, said, "warning:")
			}
			assert.Contains(t, said, c.says)
		})
	}
}
