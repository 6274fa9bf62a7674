package config_test

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func parse(text string) (config.Config, error) { return config.Parse(strings.NewReader(text)) }

// with returns the default configuration after a change.
func with(change func(*config.Config)) config.Config {
	c := config.Default()
	change(&c)
	return c
}

func TestDefaultIsValidAndWithoutWarnings(t *testing.T) {
	require.NoError(t, config.Default().Validate())
	assert.Empty(t, config.Default().Warnings())
}

// The file that people read and copy contains the defaults.
func TestDeployedFileIsTheDefault(t *testing.T) {
	c, err := load("../../deploy/ssdprobe.yaml")
	require.NoError(t, err)
	assert.Equal(t, config.Default(), c)
}

// The examples in the commented file are valid, too.
func TestExamplesInTheDeployedFileAreValid(t *testing.T) {
	text, err := os.ReadFile("../../deploy/ssdprobe.yaml")
	require.NoError(t, err)
	examples := regexp.MustCompile(`(?m)(?:^ *#   .*\n)+`).FindAllString(string(text), -1)
	tried := 0
	for _, example := range examples {
		example = regexp.MustCompile(`(?m)^ *#   `).ReplaceAllString(example, "")
		key, _, _ := strings.Cut(example, ":")
		section := map[string]string{"include": "devices", "exclude": "devices", "data_sheets": "drift", "files": "", "runs": "", "devices": "health"}
		of, ok := section[key]
		if !ok {
			continue // the list of commands at the top
		}
		if of != "" {
			example = of + ":\n" + regexp.MustCompile(`(?m)^`).ReplaceAllString(strings.TrimRight(example, "\n"), "  ")
		}
		_, err := parse(example)
		require.NoError(t, err, example)
		tried++
	}
	assert.Equal(t, 6, tried)
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       config.Config
	}{
		{"empty", "", config.Default()},
		{"comments alone", "# nothing\n\n", config.Default()},
		{"an empty document", "---\n", config.Default()},
		{"sections of which all is commented out", "devices:\n  # enabled: true\nadmission:\nprobes:\nfiles:\n", config.Default()},
		{
			"texts stay as written, whatever YAML takes them for", "node: 007\ndevices:\n  include: [{id: 5002e38, name: true}]\n",
			with(func(c *config.Config) {
				c.Node = "007"
				c.Devices.Include = []device.Rule{{ID: "5002e38", Name: "true"}}
			}),
		},
		{
			"paths are cleaned", "state_dir: /var//lib/x/\nfiles:\n  - path: /srv/./data/\n",
			with(func(c *config.Config) {
				c.StateDir = "/var/lib/x"
				c.Files = []config.File{{Path: "/srv/data", SizeBytes: 1 << 30}}
			}),
		},
		{
			"a list replaces the default, and its items have defaults", "probes:\n  - name: deep\n    queue_depth: 16\n    block_size: 16KiB\n",
			with(func(c *config.Config) {
				c.Probes = []record.Probe{{
					Name: "deep", Direction: record.Read, Pattern: record.Random, BlockBytes: 16 << 10, QueueDepth: 16,
					IOs: 256, WarmupIOs: 8, Interval: 30 * time.Second, Timeout: 20 * time.Second, Targets: record.OnAll,
				}}
			}),
		},
		{"an empty list replaces the default", "probes: []\n", with(func(c *config.Config) { c.Probes = nil })},
		{
			"ratios as shares and percentages", "admission:\n  max_utilisation: 75%\n  max_cpu_wait: 0.1\ndrift:\n  threshold: 150 %\n",
			with(func(c *config.Config) {
				c.Admission.MaxUtilisation, c.Admission.MaxCPUWait, c.Drift.Threshold = new(0.75), 0.1, 1.5
			}),
		},
		{"limits left to ssdprobe", "admission: {max_utilisation: auto, max_in_flight: auto, max_io_pressure: auto}\n", config.Default()},
		{
			"limits that are set, although to what they once were", "admission: {max_utilisation: 0.8, max_in_flight: 32, max_io_pressure: 60%}\n",
			with(func(c *config.Config) {
				c.Admission.Limits = admit.Limits{MaxUtilisation: new(0.8), MaxInFlight: new(int64(32)), MaxIOPressure: new(0.6)}
			}),
		},
		{
			"how sure of drift to be", "drift:\n  smallest_effect: 15%\n  false_alarms_per_device_year: 5\n",
			with(func(c *config.Config) { c.Drift.SmallestEffect, c.Drift.FalseAlarmsPerYear = 0.15, 5 }),
		},
		{
			"interrupts of one drive by queue", "health:\n  devices:\n    - name: nvme0n1\n      interrupts: all\n",
			with(func(c *config.Config) {
				c.Health.Devices = []config.HealthOf{{Rule: device.Rule{Name: "nvme0n1"}, Interrupts: config.InterruptsAll}}
			}),
		},
		{
			"data sheets as makers write them",
			"drift:\n  data_sheets:\n    - model: SAMSUNG MZWLO*\n      random-read: 2000k IOPS\n      sequential-read: 14000 MB/s\n      random-read-latency: 85 us\n",
			with(func(c *config.Config) {
				c.Drift.DataSheets = []record.DataSheet{{
					Model: "SAMSUNG MZWLO*", RandomReadIOPS: &record.Promise[float64]{Value: 2e6}, SequentialReadBytesPerSecond: &record.Promise[float64]{Value: 14e9}, RandomReadLatency: &record.Promise[time.Duration]{Value: 85 * time.Microsecond},
				}}
			}),
		},
		{"quoted numbers and switches", "rounds_at_once: \"2\"\nfallback_file: 'false'\n", with(func(c *config.Config) {
			c.RoundsAtOnce, c.FallbackFile = 2, false
		})},
		{"JSON is YAML", `{"listen": ["127.0.0.1:0", "[::1]:9"], "drift": {"window": "1d"}}`, with(func(c *config.Config) {
			c.Listen, c.Drift.Window = []string{"127.0.0.1:0", "[::1]:9"}, 24*time.Hour
		})},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parse(test.text)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
			takes(t, got)
		})
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	_, err := load(filepath.Join(dir, "absent.yaml"))
	require.ErrorIs(t, err, fs.ErrNotExist)

	_, err = load(dir)
	require.ErrorContains(t, err, "is a directory")

	path := filepath.Join(dir, "bad.yaml")
	require.NoError(t, os.WriteFile(path, []byte("drift:\n  window: 1s\n  windows: 1s\n"), 0o600))
	_, err = load(path)
	require.EqualError(t, err, "configuration "+path+":\n"+
		"line 2: drift.window: \"1s\" is too small; want 30s or more\n"+
		"line 3: drift.windows: is not a key here (did you mean window?); want one of window, baseline_rounds, threshold, smallest_effect, false_alarms_per_device_year, data_sheets")
	var problems config.Problems
	require.ErrorAs(t, err, &problems)
	assert.Equal(t, config.Problem{Line: 2, Field: "drift.window", Value: "1s", Wrong: "is too small", Want: "30s or more"}, problems[0])
}

func TestParseReportsReadErrors(t *testing.T) {
	broken := errors.New("drive on fire")
	_, err := config.Parse(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
}

func TestParseRefusesLargeFiles(t *testing.T) {
	const most = 1 << 20
	_, err := parse(strings.Repeat(" ", most))
	require.NoError(t, err)
	_, err = parse(strings.Repeat(" ", most+1))
	require.EqualError(t, err, "the file is too large; want at most 1MiB")

	endless := endlessReader{}
	_, err = config.Parse(&endless)
	require.EqualError(t, err, "the file is too large; want at most 1MiB")
	assert.Less(t, endless.read, 2*most, "no more is read than it takes to know")
}

// endlessReader returns comments for ever and counts how much was read.
type endlessReader struct{ read int }

func (r *endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
	}
	r.read += len(p)
	return len(p), nil
}

// lineBreak matches the line ends of YAML 1.1.
var lineBreak = regexp.MustCompile("[\r\n\u0085\u2028\u2029]")

func FuzzParse(f *testing.F) {
	// Short texts, because a mutation of a long one rarely hits an interesting place.
	for _, text := range []string{
		"", "---\n", "a: &a [*a]", "\t", "probes: [", "node: !!str x", "node: a\nnode: b\n", "listen: [':1', '[::1]:2']\n",
		"devices:\n  include: [{id: 5002e38, max_size: 1TB}]\n", "files:\n- path: /a\n  size: 1GiB\n", "drift:\n  window: 1d\n  threshold: 20%\n",
		"drift:\n  data_sheets: [{model: a*, random-read: 0.85M IOPS at 8KiB, sequential-write: 3GB/s, random-write-latency: 12.5us}]\n",
		"probes:\n- name: a\n  direction: write\n  targets: files\n  datasync: true\n  interval: 2m\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := config.Parse(bytes.NewReader(text))
		var problems config.Problems
		if errors.As(err, &problems) {
			require.Equal(t, config.Config{}, c)
			for _, p := range problems {
				require.NotEmpty(t, p.Wrong)
				require.LessOrEqual(t, p.Line, 1+len(lineBreak.FindAll(text, -1)))
			}
			return
		}
		require.NoError(t, err)
		require.NoError(t, c.Validate())
		written, err := c.YAML()
		require.NoError(t, err)
		again, err := config.Parse(bytes.NewReader(written))
		require.NoError(t, err, "%s", written)
		require.Equal(t, c, again)
		takes(t, c)
	})
}

func TestParseBoundsWhatItSays(t *testing.T) {
	_, err := parse(strings.Repeat("- x\n", 3))
	require.EqualError(t, err, "line 1: the file is a list; want keys with their values: "+topKeys(t))

	_, err = parse("listen:\n" + strings.Repeat("  - nowhere\n", 5000))
	var problems config.Problems
	require.ErrorAs(t, err, &problems)
	require.Len(t, problems, 101)
	assert.Equal(t, "and 4900 more problems, not listed", problems[100].Error())
}

// These documents make careless parsers use all memory or never return.
func TestParseEndsWhateverTheFile(t *testing.T) {
	testenv.Long(t)
	laughs := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		before := string(c - 1)
		laughs += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+before+",", 9) + "]\n"
	}
	const many = 20_000
	for name, test := range map[string]struct{ text, want string }{
		"a billion laughs":             {laughs + "listen: *j\n", "line 11: listen: \"*j\" is an alias; want the value itself: aliases are not supported"},
		"an alias to what it is in":    {"listen: &a\n  - *a\n", "line 2: listen[0]: \"*a\" is an alias"},
		"the same section for ever":    {"files:\n  - &f {" + strings.Repeat("x, ", many) + "}\n" + strings.Repeat("  - *f\n", many), "more problems, not listed"},
		"as deep as it goes":           {strings.Repeat("[", many), "exceeded max depth"},
		"as deep as it goes, in lines": {strings.Repeat("? ", many), "exceeded max depth"},
		"many different listeners":     {"listen:\n" + strings.Repeat("  - :1\n", many), "listen[1]: \":1\" is the same as listen[0]; want it once"},
		"many files and probes": {
			"files:\n" + strings.Repeat("  - path: /a\n", many) + "probes:\n" + strings.Repeat("  - name: a\n", many),
			"probes[1].name: \"a\" is the same as probes[0].name; want it once",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(test.text)
			require.ErrorContains(t, err, test.want)
		})
	}
}

// load reads and parses the configuration file at path.
func load(path string) (config.Config, error) {
	source, err := config.Read(path)
	if err != nil {
		return config.Config{}, err
	}
	return source.Parse()
}
