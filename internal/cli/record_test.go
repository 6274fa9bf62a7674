package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/recorder"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// Something else answers at the address, or the file was edited.
func TestRecordOfWhatIsNoRecording(t *testing.T) {
	answer := ""
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
	defer other.Close()
	for name, c := range map[string]struct {
		args   []string
		answer string
	}{
		"one":            {[]string{"show", "x"}, "{}"},
		"one as a page":  {[]string{"show", "x", "--output", "html"}, "{}"},
		"a list":         {[]string{"list"}, `{"recordings": [{}]}`},
		"one being made": {[]string{"list"}, `{"unfinished": [{}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			answer = c.answer
			got := in(append(append([]string{"record"}, c.args...), "--url", other.URL)...)
			assert.Equal(t, 1, got.code)
			assert.Equal(t, "ssdprobe: not an answer of ssdprobe: a recording without a trigger\n", got.stderr)
			assert.Empty(t, got.stdout)
		})
	}
}

// Somebody requests a recording, and the daemon is stopped in the minute after. What was recorded can be shown,
// exported and shown again.
func TestRecordOfARunningDaemon(t *testing.T) {
	t.Parallel()
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	config := file(t, "c.yaml", onFile(dir))
	p, url := startDaemon(t, state, config)
	took := map[float64]bool{}
	eventually(t, "some seconds are recorded", func() bool {
		if v, sampled := value(scrape(t, url), "ssdprobe_collector_duration_seconds", map[string]string{"collector": "traffic"}); sampled {
			took[v] = true
		}
		return len(took) > 3
	})
	none := ssdprobe(t, "record", "list", "--state-dir", state)
	require.Equal(t, 0, none.code, none.stderr)
	assert.Contains(t, none.stdout, "There is no recording.")
	asked := ssdprobe(t, "record", "now", "--state-dir", state)
	require.Equal(t, 0, asked.code, asked.stderr)
	assert.Contains(t, asked.stderr, "ssdprobe record list in about 1 min 15 s")
	p.Stderr.Find(t, `request carried out.*asked=record`)
	for _, from := range [][]string{{"--state-dir", state}, {"--url", url}} {
		making := ssdprobe(t, append([]string{"record", "list"}, from...)...)
		require.Equal(t, 0, making.code, making.stderr)
		assert.Regexp(t, `(?m)^\d{8}T\d{6}Z-node .* request +not finished, .* left +-$`, making.stdout)
	}
	id := strings.Fields(strings.Split(ssdprobe(t, "record", "list", "--state-dir", state).stdout, "\n")[1])[0]
	for _, from := range [][]string{{"--state-dir", state}, {"--url", url}} {
		early := ssdprobe(t, append([]string{"record", "show", id}, from...)...)
		assert.Equal(t, 1, early.code, early.stdout)
		assert.Contains(t, early.stderr, "recording "+id+" is not finished; it will be at ")
	}
	p.Signal(t, syscall.SIGTERM)
	require.Equal(t, 0, p.Wait(t))

	listed := ssdprobe(t, "record", "list", "--state-dir", state, "--output", "json")
	require.Equal(t, 0, listed.code, listed.stderr)
	var list report.RecordingList
	require.NoError(t, json.Unmarshal([]byte(listed.stdout), &list))
	require.Len(t, list.Recordings, 1)
	assert.Empty(t, list.Unfinished)
	head := list.Recordings[0]
	assert.Equal(t, "the daemon stopped", head.Cut)
	assert.Equal(t, record.TriggerRequest, head.Triggers[0].Kind)
	assert.Regexp(t, `^\d{8}T\d{6}Z-node$`, head.ID)

	shown := ssdprobe(t, "record", "show", head.ID, "--state-dir", state)
	require.Equal(t, 0, shown.code, shown.stderr)
	assert.Contains(t, shown.stdout, "request: an operator requested it")
	assert.Contains(t, shown.stdout, "the daemon stopped")
	page := ssdprobe(t, "record", "show", head.ID, "--state-dir", state, "--output", "html")
	require.Equal(t, 0, page.code, page.stderr)
	assert.Contains(t, page.stdout, "<svg")

	export := filepath.Join(t.TempDir(), "recording.gz")
	exported := ssdprobe(t, "record", "export", head.ID, "--state-dir", state, "--to", export)
	require.Equal(t, 0, exported.code, exported.stderr)
	of := func(args ...string) record.Recording {
		out := ssdprobe(t, append([]string{"record", "show", "--output", "json"}, args...)...)
		require.Equal(t, 0, out.code, out.stderr)
		var rec record.Recording
		require.NoError(t, json.Unmarshal([]byte(out.stdout), &rec))
		rec.Bytes = 0 // a file does not contain its size
		return rec
	}
	stored := of(head.ID, "--state-dir", state)
	require.NotEmpty(t, stored.Host)
	assert.Equal(t, stored, of(export))
	nowhere := ssdprobe(t, "record", "export", head.ID, "--state-dir", state, "--to", "/proc/recording.gz")
	assert.Equal(t, 1, nowhere.code)
	assert.Contains(t, nowhere.stderr, "; want another file by --to, or - for standard output\n")
	piped := ssdprobe(t, "record", "export", head.ID, "--state-dir", state, "--to", "-")
	require.Equal(t, 0, piped.code, piped.stderr)
	written, err := os.ReadFile(export)
	require.NoError(t, err)
	assert.Equal(t, string(written), piped.stdout)

	// Another machine asks the daemon.
	_, url = startDaemon(t, state, config)
	url = strings.TrimSuffix(url, "/")
	assert.Equal(t, stored, of(head.ID, "--url", url))
	assert.Contains(t, ssdprobe(t, "record", "list", "--url", url).stdout, head.ID)
}

func TestRecordMistakes(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	there := file(t, "there.gz", "no recording")
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no daemon":          {[]string{"now"}, 1, "no ssdprobe daemon runs on this state directory: " + state},
		"an unknown target":  {[]string{"now", "nvme9n9"}, 2, "nothing is known about a target"},
		"an unknown id":      {[]string{"show", "20260504T130000Z-nvme0n1"}, 2, "no such recording in " + state + "; see ssdprobe record list"},
		"to export it":       {[]string{"export", "20260504T130000Z-nvme0n1"}, 2, "no such recording"},
		"no recording":       {[]string{"show", there}, 2, "read " + there + ": not a recording of ssdprobe: gzip: invalid header"},
		"no file":            {[]string{"show", "./missing.gz"}, 2, "no such file"},
		"nothing":            {[]string{"show"}, 2, "a recording is missing, e.g. ssdprobe record show"},
		"another subcommand": {[]string{"lost"}, 2, `unknown command "lost"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := ssdprobe(t, append(append([]string{"record"}, c.args...), "--state-dir", state)...)
			assert.Equal(t, c.code, got.code, got.stderr)
			assert.Contains(t, got.stderr, c.want)
		})
	}
}

// The name of whoever submitted an I/O leaves the state directory only on request.
func TestRecordExportNames(t *testing.T) {
	t.Parallel()
	rec := recordtest.Recording()
	require.NotEqual(t, rec, rec.WithoutNames(), "there is a name to leave out")
	lines, err := recorder.Encode(rec)
	require.NoError(t, err)
	dir := t.TempDir()
	stored, err := state.Open(dir)
	require.NoError(t, err)
	require.NoError(t, stored.SaveRecording(state.Recording{RecordingHead: rec.RecordingHead, Lines: lines}))
	for _, names := range []bool{false, true} {
		args := []string{"record", "export", rec.ID, "--state-dir", dir, "--to", "-"}
		if names {
			args = append(args, "--names")
		}
		out := ssdprobe(t, args...)
		require.Equal(t, 0, out.code, out.stderr)
		exported, err := recorder.Decode(strings.NewReader(out.stdout))
		require.NoError(t, err)
		assert.Equal(t, names, !reflect.DeepEqual(exported, exported.WithoutNames()))
	}
}
