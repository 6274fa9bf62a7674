package daemon

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// readEachTime lists the fields of the configuration that neither need a restart nor are part of a watch's spec, and
// where the current value is read each time.
func readEachTime() map[string]string {
	return map[string]string{
		"ReloadOnChange":    "followFile, at each look at the file",
		"DiscoveryInterval": "discover, before each wait",
		"Devices.Enabled":   "scan, in each discovery",
		"Devices.Include":   "scan, in each discovery",
		"Devices.Exclude":   "scan, in each discovery",
		"Files":             "candidates, in each discovery",
		"FallbackFile":      "fallBack, in each discovery",
		"Health.Enabled":    "keeper.follow, in each discovery",
		"Health.Interval":   "keeper.follow, which starts readers of another interval again",
		"Health.Interrupts": "keeper.follow, in each discovery",
		"Health.Devices":    "keeper.follow, in each discovery",
		"Runs":              "plan, in each discovery",
		"Drift.DataSheets":  "Snapshot",

		"Recorder.Enabled":       "flight.configure, which take calls",
		"Recorder.MaxRecordings": "dropRecordings, each second",
		"Recorder.MaxBytes":      "dropRecordings, each second",
		"Recorder.Names":         "timed.record, each second",
	}
}

// A reload would ignore a key that is only read when the daemon starts. Therefore each field must need a restart,
// cause the watches to be replaced, or be read each time. The test changes each field by itself.
func TestAReloadIgnoresNoKey(t *testing.T) {
	before := config.Default()
	reads := readEachTime()
	for _, path := range fields(reflect.TypeFor[config.Config](), nil) {
		after := config.Default()
		changed := reflect.ValueOf(&after).Elem().FieldByIndex(path)
		alter(t, changed)
		name := nameOf(reflect.TypeFor[config.Config](), path)
		require.NotEqual(t, before, after, name)
		restarts := len(config.RestartNeeded(before, after)) > 0
		remade := !reflect.DeepEqual(specs(before), specs(after))
		_, read := reads[name]
		delete(reads, name)
		switch {
		case !restarts && !remade && !read:
			t.Errorf("a reload ignores %s: wrap its field in config's form in atStart, make it part of spec, or name it in readEachTime", name)
		case read:
			assert.False(t, restarts || remade, "%s: it takes effect without being read each time", name)
		}
	}
	assert.Empty(t, reads, "fields that are not there")
}

// A reload may shorten discovery_interval, and is in force only after the next look at the file has been planned.
func TestTheFileIsLookedAtInTheNewInterval(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("discovery_interval: 365d\n")
	source, err := config.Read(path)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		hangup := make(chan os.Signal, 1)
		log := slog.New(slog.DiscardHandler)
		before := config.Default()
		before.DiscoveryInterval, before.ReloadOnChange = 365*24*time.Hour, true
		d := &Daemon{config: before, supervisor: supervisor{log}, file: newConfigFile(Options{
			Source: source, Reload: hangup, Log: log, Parse: func(s config.Source) (config.Config, error) { return s.Parse() },
		})}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- d.followFile(ctx) }()

		write("{discovery_interval: 10s, reload_on_change: true}\n")
		hangup <- unix.SIGHUP
		r := <-d.file.reloads
		synctest.Wait() // it waits for the old interval
		d.mu.Lock()
		d.config = r.config
		d.mu.Unlock()
		d.file.taken(r.sum, nil)
		write("{discovery_interval: 20s, reload_on_change: true}\n")
		began := time.Now()
		r = <-d.file.reloads
		require.NoError(t, r.err)
		assert.Less(t, time.Since(began), time.Hour)
		cancel()
		require.NoError(t, <-ended)
	})
}

// specs returns the specs of the watches of a device and of a file.
func specs(c config.Config) []spec {
	return []spec{
		want(c, measure.Subject{}, record.CollectorStatus{}).spec,
		want(c, measure.UnknownFile("/f", 1<<20, c.FillBytesPerSecond), record.CollectorStatus{}).spec,
	}
}

// fields returns the paths of the fields that are not structs.
func fields(of reflect.Type, below []int) [][]int {
	var all [][]int
	for i := range of.NumField() {
		path := append(append([]int{}, below...), i)
		if f := of.Field(i); f.Type.Kind() == reflect.Struct {
			all = append(all, fields(f.Type, path)...)
		} else {
			all = append(all, path)
		}
	}
	return all
}

func nameOf(of reflect.Type, path []int) string {
	name := ""
	for i := range path {
		f := of.FieldByIndex(path[:i+1])
		if f.Anonymous {
			continue
		}
		if name != "" {
			name += "."
		}
		name += f.Name
	}
	return name
}

// alter gives a field a different value.
func alter(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + int64(time.Second))
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.25)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	default:
		t.Fatalf("do not know how to alter a %s", v.Type())
	}
}
