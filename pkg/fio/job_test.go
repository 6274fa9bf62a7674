package fio_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// full sets every well-known option.
func full() fio.Options {
	return fio.Options{
		Filenames: []string{"/dev/nvme0n1", "/srv/a:b"}, RW: fio.RandRW, IOEngine: "libaio", Direct: new(true), Thread: new(true),
		BlockBytes: new(int64(4096)), SizeBytes: new(int64(1 << 30)), OffsetBytes: new(int64(0)), IODepth: new(32), NumJobs: new(4),
		TimeBased: new(true), Runtime: new(1500 * time.Millisecond), RampTime: new(2 * time.Second), Fsync: new(1), Fdatasync: new(0),
		RWMixRead: new(70), CPUsAllowed: "0-3,8", GroupReporting: new(true), NoRandomMap: new(false), LatPercentiles: new(true),
		AllowFileCreate: new(false), Invalidate: new(true), Stonewall: new(true),
		Extra: []fio.Option{{Key: "random_generator", Value: "lfsr"}, {Key: "verify_only", Bare: true}},
	}
}

const fullText = `[all]
filename=/dev/nvme0n1:/srv/a\:b
rw=randrw
ioengine=libaio
direct=1
thread=1
bs=4096
size=1073741824
offset=0
iodepth=32
numjobs=4
time_based=1
runtime=1500ms
ramp_time=2s
fsync=1
fdatasync=0
rwmixread=70
cpus_allowed=0-3,8
group_reporting=1
norandommap=0
lat_percentiles=1
allow_file_create=0
invalidate=1
stonewall=1
random_generator=lfsr
verify_only
`

func TestRender(t *testing.T) {
	text, err := fio.Job{Sections: []fio.Section{{Name: "all", Options: full()}}}.Render()
	require.NoError(t, err)
	assert.Equal(t, fullText, text)
}

func TestParseJobReadsWhatRenderWrites(t *testing.T) {
	job, err := fio.ParseJob(strings.NewReader(fullText))
	require.NoError(t, err)
	assert.Equal(t, fio.Job{Sections: []fio.Section{{Name: "all", Options: full()}}}, job)
}

// A user's own file: comments, blanks, aliases of options, suffixes, values of more than one number.
func TestParseJobReadsWhatPeopleWrite(t *testing.T) {
	job, err := fio.ParseJob(strings.NewReader(`
; my tests
[global]
	blocksize = 4k   # a page
	readwrite=randread
	timeout=2m
	thread
	direct=true
[db 1]
	bs=4k,8k
	size=50%
	iodepth=4
	iodepth=16
	filename=${DEV}
`))
	require.NoError(t, err)
	want := fio.Job{Sections: []fio.Section{
		{Name: "global", Options: fio.Options{
			BlockBytes: new(int64(4096)), RW: fio.RandRead, Runtime: new(2 * time.Minute), Thread: new(true),
			Extra: []fio.Option{{Key: "direct", Value: "true"}},
		}},
		{Name: "db 1", Options: fio.Options{
			IODepth: new(16),
			Extra:   []fio.Option{{Key: "bs", Value: "4k,8k"}, {Key: "size", Value: "50%"}, {Key: "filename", Value: "${DEV}"}},
		}},
	}}
	assert.Equal(t, want, job)
	assert.Equal(t, fio.Options{
		RW: fio.RandRead, Runtime: new(2 * time.Minute), Thread: new(true), IODepth: new(16),
		Extra: []fio.Option{
			{Key: "direct", Value: "true"}, {Key: "bs", Value: "4k,8k"}, {Key: "size", Value: "50%"}, {Key: "filename", Value: "${DEV}"},
		},
	}, job.Effective(1), "the section's bs replaces the global one")
}

// With kb_base in the file a suffix has another meaning, so it is kept unchanged.
func TestParseJobLeavesSuffixesUnderKBBase(t *testing.T) {
	job, err := fio.ParseJob(strings.NewReader("[a]\nbs=4k\nsize=8192\nkb_base=1000\n"))
	require.NoError(t, err)
	assert.Equal(t, fio.Options{
		SizeBytes: new(int64(8192)), Extra: []fio.Option{{Key: "bs", Value: "4k"}, {Key: "kb_base", Value: "1000"}},
	}, job.Sections[0].Options)
}

func TestParseJobRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "no section",
		"# nothing\n":              "no section",
		"bs=4k\n[a]\n":             `line 1: option "bs" outside of a section`,
		"[a]\ninclude other.fio":   `line 2: "include other.fio": include is not supported`,
		"[a\nrw=read":              `line 1: "[a": a section's name ends with a bracket`,
		"[]\n":                     `section "": no name`,
		"[a]\n=3\n":                `line 2: option "": not an option's name`,
		"[a]\nb s=3\n":             `line 2: option "b s": not an option's name`,
		"[global2]\n":              `a name that begins with "global"`,
		"[a]\nx=\x01\n":            "control character",
		"[a]\nx=" + longLine:       "fio reads 4000",
		"[" + longLine[:260] + "]": "fio reads 250",
	} {
		_, err := fio.ParseJob(strings.NewReader(text))
		assert.ErrorContains(t, err, want, "%.40q", text)
	}
}

var longLine = strings.Repeat("x", 5000)

func TestRenderRefusesWhatFioWouldReadDifferently(t *testing.T) {
	option := func(key, value string) fio.Options { return fio.Options{Extra: []fio.Option{{Key: key, Value: value}}} }
	for want, options := range map[string]fio.Options{
		`fio takes what follows "#" for a comment`:              {Filenames: []string{"/srv/a#b"}},
		`fio takes what follows ";" for a comment`:              option("exec_prerun", "a;b"),
		`a job file cannot carry the path`:                      {Filenames: []string{"/srv/$HOME"}},
		`filename: empty path`:                                  {Filenames: []string{""}},
		`iodepth: -1 is negative`:                               {IODepth: new(-1)},
		`runtime: 1ns is finer than fio's microsecond`:          {Runtime: new(time.Nanosecond)},
		`rw: set twice, as a field and in Extra`:                {RW: fio.Read, Extra: []fio.Option{{Key: "rw", Value: "write"}}},
		`readwrite: set twice, as a field and in Extra`:         {RW: fio.Read, Extra: []fio.Option{{Key: "readwrite", Value: "write"}}},
		`begins or ends with a blank`:                           option("description", " x"),
		`bare and yet with the value "1"`:                       {Extra: []fio.Option{{Key: "thread", Value: "1", Bare: true}}},
		`option "include": not an option's name`:                option("include", "x"),
		`"x=a\n[b]\nfilename=/dev/sda": control character`:      option("x", "a\n[b]\nfilename=/dev/sda"),
		`"filename=/srv/a\n[b]": control character`:             {Filenames: []string{"/srv/a\n[b]"}},
		`"ioengine=sync\nfilename=/dev/sda": control character`: {IOEngine: "sync\nfilename=/dev/sda"},
	} {
		_, err := fio.Job{Sections: []fio.Section{{Name: "a", Options: options}}}.Render()
		require.ErrorContains(t, err, want)
	}
	_, err := fio.Job{}.Render()
	require.ErrorContains(t, err, "no section")
	_, err = fio.Job{Sections: []fio.Section{{Name: "a]b"}}}.Render()
	assert.ErrorContains(t, err, `section "a]b": brackets in a name`)
}

func TestEffectiveTakesOnlyTheGlobalsBefore(t *testing.T) {
	job := fio.Job{Sections: []fio.Section{
		{Name: fio.Global, Options: fio.Options{RW: fio.Read, IODepth: new(1)}},
		{Name: "a", Options: fio.Options{IODepth: new(2)}},
		{Name: fio.Global, Options: fio.Options{RW: fio.Write}},
		{Name: "b"},
	}}
	assert.Equal(t, fio.Options{RW: fio.Read, IODepth: new(2)}, job.Effective(1))
	assert.Equal(t, fio.Options{RW: fio.Write, IODepth: new(1)}, job.Effective(3))
	assert.Equal(t, 1, *job.Sections[0].Options.IODepth, "the sections are left as they are")
}

func TestModifies(t *testing.T) {
	for text, want := range map[string][]string{
		"[a]\nrw=randread":                      nil,
		"[a]\nbs=4k":                            nil,
		"[a]\nrw=read:8":                        nil,
		"[a]\nrw=randrw":                        {`section "a": rw=randrw`},
		"[a]\nrw=trim":                          {`section "a": rw=trim`},
		"[global]\nrw=write\n[a]\n[b]\nrw=read": {`section "a": rw=write`},
		"[a]\nexec_prerun=rm x":                 {`section "a": exec_prerun=rm x`},
		"[a]\nunlink=1":                         {`section "a": unlink=1`},
		"[a]\nunlink=0":                         nil,
		"[a]\nioengine=filedelete":              {`section "a": ioengine=filedelete`},
		"[a]\nioengine=external:x.so":           {`section "a": ioengine=external:x.so`},
		"[a]\nrw=$x":                            {`section "a": rw=$x`},
		"[a]\nread_iolog=f":                     {`section "a": read_iolog=f`},
		"[a]\nwrite_iolog=f":                    {`section "a": write_iolog=f`},
		"[a]\nmem=mmapshared:/srv/x":            {`section "a": mem=mmapshared:/srv/x`},
		"[a]\niomem=mmap:/srv/x":                {`section "a": iomem=mmap:/srv/x`},
		"[a]\nmem=mmap":                         nil,
		"[a]\nioengine=${X}":                    {`section "a": ioengine=${X}`},
		"[a]\n${X}":                             {`section "a": ${X}`},
		"[a]\nu${X}=1":                          {`section "a": u${X}=1`},
	} {
		job, err := fio.ParseJob(strings.NewReader(text))
		require.NoError(t, err)
		assert.Equal(t, want, job.Modifies(), text)
	}
}

func FuzzParseJob(f *testing.F) {
	for _, seed := range []string{
		fullText, "[global]\nbs=4k\n[a]\nrw=read ; x\n", "[a]\nbs=4KiB\nkb_base=1000\nthread\n", "[a]\nfilename=a\\:b:c\n", "[a]\nruntime=1d\nsize=7g\n", "[a]\nsize=107374182P\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		job, err := fio.ParseJob(strings.NewReader(text))
		if err != nil {
			return
		}
		rendered, err := job.Render()
		require.NoError(t, err)
		again, err := fio.ParseJob(strings.NewReader(rendered))
		require.NoError(t, err)
		assert.Equal(t, job, again)
		assert.Equal(t, job.Modifies(), again.Modifies())
	})
}
