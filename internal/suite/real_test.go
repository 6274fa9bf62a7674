package suite_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// witness returns a wrapper of the real fio that stores fio's JSON and arguments in a directory.
func witness(t *testing.T) (fiorun.Binary, string) {
	t.Helper()
	b, dir := binary(t), t.TempDir()
	wrapped := script(t, `case $1 in --enghelp) exec `+b.Path+` "$@";; esac
n=$(ls `+dir+` | wc -l)
report=`+dir+`/$(printf %03d $n).json
echo "$@" >$report.args
for a; do shift; case $a in --output=*) ;; *) set -- "$@" "$a";; esac; done
`+b.Path+` --output=$report "$@"; rc=$?
cat $report >&3
exit $rc`)
	wrapped.Version = b.Version
	return wrapped, dir
}

// fioSums are the figures that fio printed for one direction, summed over jobs.
type fioSums struct {
	ios, bytes int64
	iops       float64
	errors     int
}

// saidByFio reads all reports in order, using only a JSON decoder.
func saidByFio(t *testing.T, dir string) (reads, writes []fioSums) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	slices.Sort(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		type direction struct {
			TotalIOs int64   `json:"total_ios"`
			IOBytes  int64   `json:"io_bytes"`
			IOPS     float64 `json:"iops"`
		}
		var report struct {
			Jobs []struct {
				Read, Write direction
				Error       int
			}
		}
		require.NoError(t, json.Unmarshal(text, &report), "%s", text)
		var r, w fioSums
		for _, job := range report.Jobs {
			r = fioSums{r.ios + job.Read.TotalIOs, r.bytes + job.Read.IOBytes, r.iops + job.Read.IOPS, r.errors + job.Error}
			w = fioSums{w.ios + job.Write.TotalIOs, w.bytes + job.Write.IOBytes, w.iops + job.Write.IOPS, w.errors + job.Error}
		}
		reads, writes = append(reads, r), append(writes, w)
	}
	return reads, writes
}

// sameAsFio compares every step with what fio printed for it.
func sameAsFio(t *testing.T, r record.RunReport, dir string) {
	t.Helper()
	reads, writes := saidByFio(t, dir)
	require.Len(t, r.Steps, len(reads))
	compare := func(step string, want fioSums, got *record.Result) {
		assert.Zero(t, want.errors, step)
		if got == nil {
			assert.Zero(t, want.bytes, step)
			return
		}
		assert.Equal(t, []int64{want.ios, want.bytes}, []int64{got.IOs, got.Bytes}, step)
		assert.InDelta(t, want.iops, got.IOPS, 1e-3, step)
	}
	args, err := filepath.Glob(filepath.Join(dir, "*.args"))
	require.NoError(t, err)
	require.Len(t, args, len(r.Steps))
	for i, step := range r.Steps {
		text, err := os.ReadFile(args[i])
		require.NoError(t, err)
		modifies := step.Write != nil || strings.Contains(step.JobFile, "rw=trim\n")
		assert.Equal(t, !modifies, slices.Contains(strings.Fields(string(text)), "--readonly"), "%s: %s", step.Name, text)
		compare(step.Name, reads[i], step.Read)
		compare(step.Name, writes[i], step.Write)
		assert.NotNil(t, step.Workload)
		assert.NotEmpty(t, step.JobFile)
	}
}

// raw returns a loop device of random data that may be overwritten.
func raw(t *testing.T) (suite.Target, testenv.Loop) {
	t.Helper()
	loop := testenv.LoopDevice(t, dataBytes, testenv.Options{Random: true})
	d, err := device.Find(sysfs.FS{}, loop.Path)
	require.NoError(t, err)
	p, err := safety.Permit(t.Context(), sysfs.FS{}, loop.Path, d, safety.Name(d))
	require.NoError(t, err)
	return suite.Target{Path: loop.Path, ID: d.ID, Raw: true, SizeBytes: d.SizeBytes, Device: d, Permission: p}, loop
}

// changer returns the options for changing settings.
func changer(t *testing.T) settings.Options {
	t.Helper()
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	return settings.Options{Store: dir.Store, OpenNVMe: nvme.Open, Restorer: testenv.CommandLine(t, "restore-settings")}
}

// Every suite runs, shortened, on a file or a loop device. The figures in the report are fio's own.
func TestSuitesReally(t *testing.T) {
	const short = "time=100ms"
	for _, c := range []struct {
		suite    string
		raw      bool
		settings []string
		check    func(*testing.T, record.RunReport)
	}{
		{"quick", false, []string{short}, nil},
		{"concurrency", true, []string{short, "jobs=4", "repeats=2"}, func(t *testing.T, r record.RunReport) {
			require.Len(t, r.Analysis.Spreads, 1)
			s := r.Analysis.Spreads[0]
			assert.Equal(t, []any{"random-read-qd16-jobs4", 2}, []any{s.Load, s.Repeats})
			assert.InDelta(t, (r.Steps[0].Read.IOPS+r.Steps[1].Read.IOPS)/2, s.IOPS.Mean.Value, 1e-6)
		}},
		{"sequential-vs-random", true, []string{short, "repeats=1", "depths=4"}, nil},
		{"depth-sweep", false, []string{short, "depths=1,4,16"}, func(t *testing.T, r record.RunReport) {
			require.Len(t, r.Analysis.Knees, 1)
			if knee := r.Analysis.Knees[0]; knee.Disregarded == 0 {
				assert.Equal(t, 16, knee.Deepest)
			} else { // if this host was busy
				assert.NotEmpty(t, knee.Codes)
			}
		}},
		{"linear-read", true, []string{"points=3", "depth=2"}, func(t *testing.T, r record.RunReport) {
			require.NotNil(t, r.Analysis.Offsets)
			var offsets []int64
			for _, p := range r.Analysis.Offsets[0].Points {
				offsets = append(offsets, p.OffsetBytes)
			}
			assert.Equal(t, []int64{0, 5 << 20, 11 << 20}, offsets, "pieces of 5 MiB, the last at the end")
			assert.Equal(t, int64(5<<20), r.Steps[2].Read.Bytes)
		}},
		{"saturate", true, []string{short, "ramp=0s", "random-jobs=1,2", "depth=16"}, func(t *testing.T, r record.RunReport) {
			require.Len(t, r.Steps, 6)
			assert.Equal(t, []string{"random read", "sequential write"}, []string{r.Analysis.DataSheet[0].Figure, r.Analysis.DataSheet[1].Figure})
		}},
		{"single-core", false, []string{short}, func(t *testing.T, r record.RunReport) {
			assert.Equal(t, []int{0}, r.Steps[0].Workload.CPUs)
			assert.Equal(t, []int{0, 1}, r.Steps[1].Workload.CPUs)
		}},
		{"mixed", false, []string{short, "engines=libaio"}, func(t *testing.T, r record.RunReport) {
			n := float64(r.Steps[0].Read.IOs + r.Steps[0].Write.IOs)
			// fio draws the direction of each I/O: allow five standard deviations. A busy machine does few I/Os in
			// the time.
			assert.InDelta(t, 0.7, float64(r.Steps[0].Read.IOs)/n, 5*math.Sqrt(0.7*0.3/n))
		}},
		{"interrupts", false, []string{short, "depths=1", "coalescing=as-found", "repeats=1"}, nil},
		{"write-cache", true, []string{short, "blocks=4KiB", "depths=1", "repeats=6"}, func(t *testing.T, r record.RunReport) {
			require.Len(t, r.Analysis.Effects, 1)
			e := r.Analysis.Effects[0]
			assert.Equal(t, []any{"write cache", "off", "on"}, []any{e.Setting, e.From, e.To})
			of := func(value string) int {
				return counted(slices.DeleteFunc(slices.Clone(r.Steps), func(s record.Step) bool { return s.Workload.Settings[e.Setting] != value }))
			}
			assert.Equal(t, of(e.From) >= 2 && of(e.To) >= 2, e.IOPS.Lower != nil)
		}},
		{"steady-state", true, []string{short, "rounds=100", "window=2", "range=100%", "slope=100%", "jobs=1", "precondition=1"}, func(t *testing.T, r record.RunReport) {
			require.NotNil(t, r.Analysis.Steady)
			s := r.Analysis.Steady
			assert.True(t, s.Reached)
			assert.Len(t, r.Steps, 1+s.Round, "no more rounds than it takes")
			assert.Equal(t, int64(dataBytes), r.Steps[0].Write.Bytes)
			assert.Equal(t, int64(dataBytes)+r.Steps[1].Write.Bytes, s.Path[0].WrittenBytes)
		}},
		{"model", true, []string{short, "repeats=1", "writes=yes", "sequential-block=1MiB", "sequential-depth=16", "random-depth=16"}, modelled},
		{"cpus", false, []string{short, "ramp=0s", "repeats=1", "counts=1,2", "depth=4"}, func(t *testing.T, r record.RunReport) {
			require.Len(t, r.Analysis.CPUs, 1)
			points := r.Analysis.CPUs[0].Points
			require.Len(t, points, 2)
			for i, step := range r.Steps {
				assert.Equal(t, []any{i + 1, 1, step.Read.IOPS}, []any{points[i].CPUs, points[i].Cores, points[i].Rate})
				assert.LessOrEqual(t, points[i].Used, float64(i+1)+0.1, "no more than it may use")
			}
		}},
		{"span", true, []string{short, "ramp=0s", "repeats=2", "spans=25,50,100", "depths=16", "round-time=100ms", "rounds=5", "spare=0,40"}, func(t *testing.T, r record.RunReport) {
			assert.Equal(t, int64(dataBytes), r.Steps[0].Write.Bytes, "all of it is written before it is read")
			require.Len(t, r.Analysis.Spans, 2)
			for _, s := range r.Analysis.Spans {
				require.Len(t, s.Points, 3)
				assert.Equal(t, []int64{dataBytes / 4, dataBytes / 2, dataBytes}, []int64{s.Points[0].SpanBytes, s.Points[1].SpanBytes, s.Points[2].SpanBytes})
				assert.Equal(t, s.Points[0].Repeats >= 2 && s.Points[2].Repeats >= 2, s.Points[2].Rise.Lower != nil)
			}
			require.Len(t, r.Analysis.Spares, 2)
			some := r.Analysis.Spares[1]
			// 60 % of 16 MiB, in blocks of 128 KiB, is written twice before the rounds.
			assert.Equal(t, int64(2*76*128<<10), stepOf(t, r, "spare40-fill").Write.Bytes)
			assert.Equal(t, []any{40, int64(dataBytes*60/100) / 8192 * 8192}, []any{some.SparePercent, some.FilledBytes})
			assert.Len(t, some.Steady.Path, 5)
			assert.Contains(t, stepOf(t, r, "spare40-purge").JobFile, "rw=trim\n")
		}},
		{"durable-write", false, []string{short, "repeats=1"}, func(t *testing.T, r record.RunReport) {
			require.NotNil(t, r.Steps[0].Sync)
			assert.Positive(t, r.Steps[0].Sync.Latency.Quantile(0.999))
		}},
	} {
		t.Run(c.suite, func(t *testing.T) {
			t.Parallel()
			var target suite.Target
			if c.raw {
				target, _ = raw(t)
			} else {
				target = dataFile(t)
			}
			target.Core = []int{0, 1}
			target.Nodes = []device.NodeCPUs{{CPUSet: device.CPUSet{CPUs: []int{0, 1}, Cores: 1}}}
			fio, dir := witness(t)
			s := find(t, c.suite)
			sheet := record.DataSheet{RandomReadIOPS: &record.Promise[float64]{Value: 1e6}, SequentialWriteBytesPerSecond: &record.Promise[float64]{Value: 1e9}}
			r, err := suite.Execute(t.Context(), s, suite.Options{
				Fio: fio, Target: target, Values: set(t, s, c.settings...), Settings: changer(t), DataSheet: &sheet,
			})
			require.NoError(t, err)
			require.NotEmpty(t, r.Steps)
			sameAsFio(t, r, dir)
			require.NotNil(t, r.Analysis)
			measured := slices.DeleteFunc(slices.Clone(r.Steps), func(s record.Step) bool { return s.Read == nil && s.Write == nil })
			assert.Len(t, r.Analysis.Bounds, len(measured), "of all but discards")
			if c.check != nil {
				c.check(t, r)
			}
		})
	}
}

// counted returns how many of the repeats of a load count: those that measured the drive alone, or all if this host was too
// busy for any.
func counted(repeats []record.Step) int {
	alone := slices.DeleteFunc(slices.Clone(repeats), func(s record.Step) bool { return s.Spoiled() != "" })
	if len(alone) == 0 {
		return len(repeats)
	}
	return len(alone)
}

func stepOf(t *testing.T, r record.RunReport, name string) record.Step {
	t.Helper()
	i := slices.IndexFunc(r.Steps, func(s record.Step) bool { return s.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return r.Steps[i]
}

// Spans begin at the beginning of the target, and no I/O goes beyond its span. The spare part remains discarded.
func TestSpanStaysWithinItsPart(t *testing.T) {
	target, loop := raw(t)
	s := find(t, "span")
	_, err := suite.Execute(t.Context(), s, suite.Options{Fio: binary(t), Target: target, Values: set(t, s,
		"time=100ms", "ramp=0s", "repeats=1", "spans=50", "depths=1", "spare=50", "round-time=100ms", "rounds=5")})
	require.NoError(t, err)
	data, err := os.ReadFile(loop.Path)
	require.NoError(t, err)
	assert.Zero(t, bytes.Count(data[:dataBytes/2], make([]byte, 8<<10)), "the first half was written")
	assert.Equal(t, make([]byte, dataBytes/2), data[dataBytes/2:], "the spare half was discarded, and nobody wrote there")
}

// Eight devices are loaded at once.
func TestScaleReally(t *testing.T) {
	var targets []suite.Target
	for i := range 8 {
		loop := testenv.LoopDevice(t, 4<<20, testenv.Options{Random: true})
		d, err := device.Find(sysfs.FS{}, loop.Path)
		require.NoError(t, err)
		targets = append(targets, suite.Target{
			Path: loop.Path, ID: d.ID, Raw: true, SizeBytes: d.SizeBytes, Device: d, Group: fmt.Sprintf("pci0000:%02d", i/4),
			CPUs: device.CPUSet{CPUs: []int{0, 1}, Cores: 2},
		})
	}
	fio, dir := witness(t)
	s := find(t, "scale")
	v := set(t, s, "time=1s", "ramp=0s", "counts=1,2,8", "alone=first", "random-jobs=1", "depth=4")
	r, err := suite.Execute(t.Context(), s, suite.Options{Fio: fio, Target: targets[0], More: targets[1:], Values: v})
	require.NoError(t, err)
	sameAsFio(t, r, dir)
	require.Len(t, r.Steps, 6)
	require.Len(t, r.Targets, 8)
	require.Len(t, r.Analysis.Scalings, 2)
	for _, scaling := range r.Analysis.Scalings {
		require.Len(t, scaling.Points, 3)
		assert.Equal(t, []any{1, 1.0, "pci0000:00"}, []any{scaling.Points[0].Devices, scaling.Points[0].Linearity, scaling.Points[0].Group})
		assert.Equal(t, []any{8, targets[7].Path, "pci0000:01"}, []any{scaling.Points[2].Devices, scaling.Points[2].Added, scaling.Points[2].Group})
		breaks := 0
		for _, p := range slices.Backward(scaling.Points) {
			if p.Linearity < scaling.Limit && len(p.Codes) == 0 { // the host may be busy
				breaks = p.Devices
			}
		}
		assert.Equal(t, breaks, scaling.BreaksAt)
	}
	all := r.Steps[2]
	require.Len(t, all.Parts, 8)
	var sum int64
	for _, part := range all.Parts {
		sum += part.Read.IOs
		assert.Positive(t, part.Read.IOPS)
	}
	assert.Equal(t, all.Read.IOs, sum)
	assert.Equal(t, all.Read.IOs, all.Read.Latency.Count())
}

// Eight devices are each loaded as much as possible, all at the same time, as in the burn-in of a server.
func TestSaturateReally(t *testing.T) {
	var reports [8]record.RunReport
	var loops [8]testenv.Loop
	var running errgroup.Group
	fio, s := binary(t), find(t, "saturate")
	v := set(t, s, "time=2s", "ramp=0s", "writes=no", "random-jobs=1,2", "depth=4", "repeats=1")
	for i := range loops {
		loops[i] = testenv.LoopDevice(t, 4<<20, testenv.Options{Random: true})
		d, err := device.Find(sysfs.FS{}, loops[i].Path)
		require.NoError(t, err)
		target := suite.Target{
			Path: loops[i].Path, ID: d.ID, Raw: true, SizeBytes: d.SizeBytes, Device: d, CPUs: device.CPUSet{CPUs: []int{0, 1}, Cores: 2},
		}
		running.Go(func() (err error) {
			reports[i], err = suite.Execute(t.Context(), s, suite.Options{Fio: fio, Target: target, Values: v})
			return err
		})
	}
	require.NoError(t, running.Wait())
	for i, r := range reports {
		require.Len(t, r.Steps, 3)
		assert.Equal(t, loops[i].Path, r.Target)
		assert.Len(t, r.Analysis.Bounds, 3)
		for _, step := range r.Steps {
			require.NotNil(t, step.Read, step.Name)
			assert.Positive(t, step.Read.IOs, step.Name)
			assert.Nil(t, step.Write, step.Name)
			assert.Contains(t, step.JobFile, "filename="+loops[i].Path+"\n")
			assert.Contains(t, step.JobFile, "cpus_allowed=0-1\n")
		}
	}
}

// Several targets are measured one after the other, in one report.
func TestConcurrencyOfSeveralTargets(t *testing.T) {
	file := dataFile(t)
	device, _ := raw(t)
	fio, dir := witness(t)
	s := find(t, "concurrency")
	r, err := suite.Execute(t.Context(), s, suite.Options{
		Fio: fio, Target: device, More: []suite.Target{file}, Values: set(t, s, "time=100ms", "jobs=2", "repeats=2"),
	})
	require.NoError(t, err)
	sameAsFio(t, r, dir)
	require.Len(t, r.Steps, 4)
	assert.Equal(t, "4 KiB random read, depth 16, 2 jobs, on "+device.Path+" (raw)", r.Steps[0].Plan)
	assert.Equal(t, []string{file.Path}, r.Steps[1].Workload.Targets)
	assert.Equal(t, device.ID+"+"+file.ID, r.TargetID)
	require.Len(t, r.Analysis.Spreads, 2)
	assert.Equal(t, "target2-random-read-qd16-jobs2", r.Analysis.Spreads[1].Load)
}
