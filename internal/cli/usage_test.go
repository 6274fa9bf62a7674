package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/cli"
	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// in runs the command line in this process.
func in(args ...string) done {
	var out, errs bytes.Buffer
	code := cli.Main(args, &out, &errs)
	return done{code, out.String(), errs.String()}
}

func TestWrongUsage(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"unknown command":  {[]string{"runn"}, []string{`unknown command "runn" for "ssdprobe"; did you mean run?` + "\n"}},
		"unknown flag":     {[]string{"devices", "--foo"}, []string{"unknown flag: --foo", "ssdprobe devices --help"}},
		"one of three":     {[]string{"report", "x.json", "-o", "xml"}, []string{"want text, json, html, csv or markdown"}},
		"unknown output":   {[]string{"devices", "-o", "xml"}, []string{"--output", "xml", "want text or json"}},
		"too many words":   {[]string{"version", "now"}, []string{`unexpected argument "now"; see ssdprobe version --help`}},
		"too many targets": {[]string{"smart", "nvme0", "sda", "sdb"}, []string{`unexpected argument "sda"; see ssdprobe smart --help`}},
		"no drive":         {[]string{"smart"}, []string{"a device is missing, e.g. ssdprobe smart nvme0; see ssdprobe smart --help"}},
		"none to explain":  {[]string{"drift", "explain"}, []string{"a target is missing, e.g. ssdprobe drift explain nvme0n1; see"}},
		"no reports":       {[]string{"compare"}, []string{"a file is missing, e.g. ssdprobe compare before.json after.json; see"}},
		"no target":        {[]string{"run"}, []string{"--target: is missing"}},
		"unknown suite":    {[]string{"run", "slow", "--target", "/"}, []string{`suite: "slow" is unknown; want one of`}},
		"several problems": {[]string{"run", "--rounds", "0", "--size", "1KiB"}, []string{"--target", "--rounds: 0", `--size: "1KiB" is too small`}},
		"no repeat":        {[]string{"run", "--repeats", "0", "-t", "/"}, []string{"--repeats: 0 is out of range; want 1 to 1000"}},
		"many repeats":     {[]string{"run", "quick", "--repeats", "1001", "-t", "/"}, []string{"ssdprobe: --repeats: 1001 is out of range; want 1 to 1000\n"}},
		"unknown probe":    {[]string{"run", "-t", "/", "--probe", "x"}, []string{`--probe: "x" is unknown; want one of read-4k`}},
		"target not there": {[]string{"run", "-t", "/no/such/place"}, []string{"/no/such/place"}},
		"a near suite":     {[]string{"run", "quik", "-t", "/"}, []string{`suite: "quik" is unknown; did you mean quick?`}},
		"a near probe":     {[]string{"run", "-t", "/", "--probe", "read-4"}, []string{"did you mean read-4k?"}},
		"a target":         {[]string{"run", "/dev/vda"}, []string{`suite: "/dev/vda" is not a suite; did you mean --target /dev/vda?`}},
		"no number":        {[]string{"run", "--rounds", "abc"}, []string{`--rounds: "abc" is not a whole number; see ssdprobe run --help`}},
		"a large number":   {[]string{"run", "--rounds", "99999999999999999999"}, []string{`--rounds: "99999999999999999999" is too large`}},
		"no yes or no":     {[]string{"run", "--keep-file=maybe"}, []string{`--keep-file: "maybe" is not true or false`}},
		"no duration":      {[]string{"top", "--interval", "abc"}, []string{`--interval: "abc" is not a duration; want a number with its unit`}},
		"short flag":       {[]string{"run", "-x"}, []string{"unknown flag: -x; see ssdprobe run --help"}},
		"a near flag":      {[]string{"devices", "--conf", "x"}, []string{"unknown flag: --conf; did you mean --config?"}},
		"a format":         {[]string{"run", "--json"}, []string{"unknown flag: --json; did you mean --output json?; see"}},
		"JSON of top":      {[]string{"top", "--output", "json"}, []string{"unknown flag: --output; did you mean --json?; see"}},
		"--version":        {[]string{"--version"}, []string{"unknown flag: --version; did you mean ssdprobe version?; see"}},
		"target as word":   {[]string{"run", "quick", "/dev/vda"}, []string{`unexpected argument "/dev/vda"; did you mean --target /dev/vda?` + "\n"}},
		"no baseline":      {[]string{"baseline", "reset", "/var/tmp"}, []string{`nothing is known about a target "/var/tmp"`, "; --run SUITE forgets a saved run"}},
		"no percent sign":  {[]string{"run", "-t", "/", "--threshold", "20"}, []string{`--threshold: "20" is more than 1 and has no %; want a percentage, e.g. 20%, or a share`}},
		"no such shell":    {[]string{"completion", "bsh"}, []string{`unknown command "bsh" for "ssdprobe completion"; did you mean bash`}},
		"no such help":     {[]string{"help", "runn"}, []string{`unknown command "runn" for "ssdprobe"; did you mean run?`}},
		"help of a word":   {[]string{"help", "run", "x"}, []string{`unknown command "x" for "ssdprobe run"`}},
		"drift of a drive": {[]string{"drift", "loop0"}, []string{`unknown command "loop0" for "ssdprobe drift"; did you mean ssdprobe drift explain loop0?` + "\n"}},
		"its baseline":     {[]string{"baseline", "loop0"}, []string{"did you mean ssdprobe baseline show loop0?\n"}},
		"config show":      {[]string{"config", "x"}, []string{"see ssdprobe config --help\n"}},
		"config chek":      {[]string{"config", "chek"}, []string{"did you mean check?"}},
		"suites":           {[]string{"suites", "quik"}, []string{"did you mean quick?"}},
		"no such drive":    {[]string{"smart", "nvme99"}, []string{"find device nvme99: no device has that name"}},
		"no report":        {[]string{"report", "/no/such/file"}, []string{"read /no/such/file: no such file or directory"}},
		"a folder":         {[]string{"compare", "/", "/"}, []string{"a directory without run.json"}},
		"folder as config": {[]string{"devices", "--config", "/"}, []string{"load configuration: read /: is a directory"}},
		"no config file":   {[]string{"config", "check", "/no/such/file"}, []string{"/no/such/file"}},
		"log level":        {[]string{"daemon", "--log.level", "loud"}, []string{"--log.level", "loud", "debug, info, warn or error"}},
		"log format":       {[]string{"daemon", "--log.format", "xml"}, []string{"--log.format", "xml", "text or json"}},
		"listen address":   {[]string{"daemon", "--web.listen-address", "here"}, []string{`--web.listen-address: "here" is not`, "host:port"}},
		"web config file":  {[]string{"daemon", "--web.config.file", "/no/such/file"}, []string{"--web.config.file", "/no/such/file", "no such file"}},
		"listen twice":     {[]string{"daemon", "--web.listen-address", ":1", "--web.listen-address", ":1"}, []string{`--web.listen-address: ":1" is`, "want it once"}},
		"url":              {[]string{"drift", "--url", "http://[::1"}, []string{`--url: "http://[::1" is not the URL of a daemon; want one like http://`}},
		"url of a server":  {[]string{"drift", "replay", "--model", "x", "--prometheus", "http://[::1"}, []string{`--prometheus: "http://[::1" is not the URL of a server`}},
		"no cluster":       {[]string{"kubernetes", "cleanup"}, []string{"no service account of a cluster here; name a kubeconfig with --kubeconfig"}},
		"no kubeconfig":    {[]string{"kubernetes", "cleanup", "--kubeconfig", "/no/such/file"}, []string{"connect to the cluster: kubeconfig /no/such/file: "}},
		"empty kubeconfig": {[]string{"kubernetes", "cleanup", "--kubeconfig", "/dev/null"}, []string{"connect to the cluster: kubeconfig /dev/null: it names no cluster\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			got := in(append(c.args, "--state-dir", t.TempDir())...)
			assert.Equal(t, 2, got.code, got.stderr)
			assert.Empty(t, got.stdout)
			for _, part := range c.says {
				assert.Contains(t, got.stderr, part)
			}
			plain(t, got.stderr)
		})
	}
}

// systemd starts a daemon again that ends with 1, not with 2. A certificate may come later, the wrong text of a file stays.
func TestCertificateThatMayComeLater(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]int{
		"tls_server_config: {cert_file: missing.pem, key_file: missing.pem}": 1,
		"tls_server_config: {cert_file: missing.pem}":                        2,
	} {
		got := in("daemon", "--state-dir", t.TempDir(), "--web.config.file", file(t, "web.yml", text))
		assert.Equal(t, code, got.code, got.stderr)
	}
}

// plain asserts that a message contains no phrase of a library.
func plain(t *testing.T, message string) {
	t.Helper()
	for _, foreign := range []string{
		"strconv", "invalid argument", "arg(s)", "shorthand", "time: ", "flag needs",
		"parse ", "missing ']'", `Get "`, `Post "`, "dial tcp", "connect: ", "lookup ", "in-cluster", "KUBERNETES_SERVICE_HOST", "listen[",
	} {
		assert.NotContains(t, message, foreign, "a phrase of a library")
	}
}

// Each command says which server it asked, why there was no answer, and what to do.
func TestNoServerAnswers(t *testing.T) {
	const nobody, why = "http://127.0.0.1:1", ": connection refused; is "
	for want, args := range map[string][]string{
		"ask the daemon at " + nobody + why + "--url right,":                            {"drift", "--url", nobody},
		"ask the daemon at " + nobody + why + "--url right, and is it running there?\n": {"ready", "--url", nobody},
		"ask the daemon at http://[::1]:1: ":                                            {"record", "list", "--url", "http://::1:1"},
		"ask for the fleet: " + nobody + why + "--prometheus right,":                    {"fleet", "--prometheus", nobody},
		"read a history from prometheus: " + nobody + why + "--prometheus right,":       {"drift", "replay", "--model", "x", "--prometheus", nobody},
	} {
		got := in(append(args, "--state-dir", t.TempDir())...)
		assert.Equal(t, 1, got.code)
		assert.Contains(t, got.stderr, want)
		plain(t, got.stderr)
	}
}

// JSON of another program has no time. It was shown as a node without drives.
func TestAnotherServerAnswers(t *testing.T) {
	for _, body := range []string{"{}", "null", `{"status": "ok"}`, "<html>"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		t.Cleanup(server.Close)
		for command, code := range map[string]int{"drift": 1, "check": 3} {
			got := in(command, "--url", server.URL, "--state-dir", t.TempDir())
			assert.Equal(t, code, got.code, body)
			assert.Regexp(t, "ask the daemon at "+server.URL+"(/api/v1/snapshot)?: not an answer of ssdprobe: ", got.stdout+got.stderr)
		}
	}
}

// A problem in the configuration file is not blamed on a flag, which may not even be given.
func TestABadListenAddressOfTheFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		listen, says string
		more         []string
		code         int
	}{
		"no address":                  {"here", `listen[0]: "here" is not`, nil, 2},
		"though the flag overrides":   {"here", `listen[0]: "here" is not`, []string{"--web.listen-address", "127.0.0.1:0"}, 2},
		"none":                        {"", "listen: has no address", nil, 2},
		"one that this machine lacks": {"192.0.2.1:10040", "listen on 192.0.2.1:10040: ", nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := file(t, "c.yaml", "listen: ["+c.listen+"]\ndevices: {enabled: false}\nfallback_file: false\n")
			got := ssdprobe(t, append([]string{"daemon", "--config", config, "--state-dir", t.TempDir()}, c.more...)...)
			assert.Equal(t, c.code, got.code, got.stderr)
			assert.Contains(t, got.stderr, c.says)
			assert.NotContains(t, got.stderr, "--web.listen-address")
		})
	}
}

func TestAValueIsMissing(t *testing.T) {
	got := in("run", "--target")
	assert.Equal(t, 2, got.code)
	assert.Equal(t, "ssdprobe: --target: its PATH is missing; see ssdprobe run --help\n", got.stderr)
}

// A shell variable that is not set must not make a command do more: "baseline reset nvme0n1 --probe ”" forgot the
// baselines of all probes.
func TestAnEmptyFlagIsNotOneLeftOut(t *testing.T) {
	at := t.TempDir()
	dir, err := state.Open(at)
	require.NoError(t, err)
	before := state.Target{ID: "eui.1", Path: "/dev/nvme7n1", Device: record.Device{Name: "nvme7n1"}}
	require.NoError(t, dir.SaveTarget(before))
	for says, c := range map[string]struct {
		args []string
		code int
	}{
		"--probe: its NAME is empty; see ssdprobe baseline reset --help": {[]string{"baseline", "reset", "nvme7n1", "--probe", ""}, 2},
		"--run: its SUITE is empty; see":                                 {[]string{"baseline", "reset", "nvme7n1", "--run="}, 2},
		"--probe: its NAME is empty; see ssdprobe run --help":            {[]string{"run", "-t", at, "--probe", ""}, 2},
		"--set: its NAME=VALUE is empty":                                 {[]string{"run", "quick", "-t", at, "--set", "time=1s", "--set", ""}, 2},
		"--url: its URL is empty; see ssdprobe drift --help":             {[]string{"drift", "--url", ""}, 2},
		"--url: its URL is empty; see ssdprobe check --help":             {[]string{"check", "--url", ""}, 3},
		"--config: its FILE is empty":                                    {[]string{"devices", "--config", ""}, 2},
	} {
		got := in(append(c.args, "--state-dir", at)...)
		assert.Equal(t, c.code, got.code, says)
		assert.Contains(t, got.stderr, "ssdprobe: "+says)
		assert.Empty(t, got.stdout)
	}
}

// commands returns all commands that the help of their parents lists.
func commands(t *testing.T, path ...string) [][]string {
	t.Helper()
	help := in(append(path, "--help")...)
	require.Equal(t, 0, help.code, help.stderr)
	all := [][]string{path}
	_, list, ok := strings.Cut(help.stdout, "Available Commands:\n")
	if !ok {
		return all
	}
	list, _, _ = strings.Cut(list, "\n\n")
	for _, match := range regexp.MustCompile(`(?m)^  (\S+)`).FindAllStringSubmatch(list, -1) {
		if name := match[1]; name != "help" && name != "completion" {
			all = append(all, commands(t, append(path[:len(path):len(path)], name)...)...)
		}
	}
	return all
}

func TestHelpShowsExamples(t *testing.T) {
	all := commands(t)
	assert.Greater(t, len(all), 12)
	for _, path := range all {
		help := in(append(path, "--help")...)
		assert.Equal(t, 0, help.code)
		assert.Contains(t, help.stdout, "Examples:\n  ssdprobe", "help of %v", path)
	}
}

// Every command that needs an argument names it, with an example of its own.
func TestMissingArgumentIsNamed(t *testing.T) {
	assert.Contains(t, in("report").stderr, "a file or folder is missing, e.g. ssdprobe report run.json")
	missing := 0
	for _, path := range commands(t) {
		help := in(append(path, "--help")...)
		_, use, _ := strings.Cut(help.stdout, "Usage:\n  ssdprobe "+strings.Join(path, " ")+" ")
		word := regexp.MustCompile(`^[A-Z]+`).FindString(use)
		if word == "" || strings.Contains(use[:strings.Index(use, "\n")], "|") { // one or the other argument
			continue
		}
		missing++
		got := in(path...)
		assert.Equal(t, 2, got.code, "%v", path)
		assert.Contains(t, got.stderr, "a "+strings.ToLower(word)+" is missing, e.g. ssdprobe "+strings.Join(path, " ")+" ")
	}
	assert.Greater(t, missing, 8)
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		got := in("completion", shell)
		assert.Equal(t, 0, got.code, got.stderr)
		assert.Contains(t, got.stdout, "ssdprobe")
	}
	at := t.TempDir()
	dir, err := state.Open(at)
	require.NoError(t, err)
	require.NoError(t, dir.SaveTarget(state.Target{ID: "eui.1", Path: "/dev/nvme7n1", Device: record.Device{Name: "nvme7n1"}}))
	for line, want := range map[string][]string{
		"run|":                           {"probe", "quick\tIs this drive roughly"},
		"run|quick|--set|":               {"time=", "engine="},
		"run|saturate|--set|writes=":     {"writes=yes", "writes=no"},
		"run|--probe|":                   {"read-4k", "durable-write-4k"},
		"run|-o|":                        {"text", "json", "html"},
		"run|--target|/de":               {":0"},
		"suites|":                        {"quick"},
		"drift|explain|":                 {"nvme7n1", "eui.1"},
		"drift|explain|nvme7n1|--probe|": {"traffic", "read-4k"},
		"drift|accept|":                  {"nvme7n1"},
		"drift|accept|nvme6n1|":          {"nvme7n1"},
		"drift|accept|--change|":         {"kernel", "firmware"},
		"baseline|reset|":                {"nvme7n1\t/dev/nvme7n1"},
		"baseline|reset|x|--run|":        {"probe", "quick"},
		"baseline|pin|nvme7n1|":          {":4"}, // no more arguments, and no files
		"check|--format|":                {"nagios"},
		"check|":                         {"nvme7n1"},
		"daemon|--log.level|":            {"debug"},
		"daemon|--state-dir|":            {":16"}, // directories
		"config|check|":                  {":0"},  // files
		"compare|":                       {":0"},
		"drift|replay|":                  {":0"},
		"top|--sort|":                    {"trouble"},
		"version|":                       {":4"},
	} {
		words := strings.Split(line, "|")
		got := in(append([]string{"__complete", "--state-dir", at}, words...)...)
		assert.Equal(t, 0, got.code, line)
		for _, w := range want {
			assert.Contains(t, "\n"+got.stdout, "\n"+w, line)
		}
	}
}

func TestConfigSchema(t *testing.T) {
	got := in("config", "schema")
	require.Equal(t, 0, got.code, got.stderr)
	want, err := config.Schema()
	require.NoError(t, err)
	assert.Equal(t, string(want), got.stdout)
	assert.True(t, json.Valid([]byte(got.stdout)))
}

// On a machine without a home directory there is nowhere to keep state, but files can still be checked.
func TestConfigCheckNeedsNothingOfTheMachine(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("SSDPROBE_NODE", "a\nb")
	got := in("config", "check", file(t, "c.yaml", "node: a\n"))
	assert.Equal(t, 0, got.code, got.stderr)
}

func TestConfigCheckOfTheFileInForce(t *testing.T) {
	path := file(t, "c.yaml", "rounds_at_once: 2\n")
	t.Setenv("SSDPROBE_CONFIG", "")
	none := in("config", "check")
	assert.Equal(t, 2, none.code)
	assert.Contains(t, none.stderr, "a file is missing: name it here, with --config or in $SSDPROBE_CONFIG")
	byFlag := in("config", "check", "--config", path)
	t.Setenv("SSDPROBE_CONFIG", path)
	for _, got := range []done{byFlag, in("config", "check")} {
		assert.Equal(t, 0, got.code, got.stderr)
		assert.Contains(t, got.stdout, "rounds_at_once: 2 (default 1)")
	}
}
