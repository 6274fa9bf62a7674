package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const pm1743 = `# as printed
model: PM1743 15.36TB
random-read: 2000k IOPS
random-write: 0.25M
sequential-read: 14000 MB/s
sequential-write: 3GB/s
random-read-latency: 85 us
`

func TestParseDataSheet(t *testing.T) {
	got, err := config.ParseDataSheet(strings.NewReader(pm1743))
	require.NoError(t, err)
	assert.Equal(t, record.DataSheet{
		Model: "PM1743 15.36TB", RandomReadIOPS: new(2e6), RandomWriteIOPS: new(250e3),
		SequentialReadBytesPerSecond: new(14e9), SequentialWriteBytesPerSecond: new(3e9), RandomReadLatency: new(85 * time.Microsecond),
	}, got)
	for text, want := range map[string]string{
		"":                             "the file has no figures; want those of the data sheet, e.g. random-read-latency: 85us",
		"model: x":                     "the file has no figures; want those of the data sheet, e.g. random-read-latency: 85us",
		"random-reads: 5k":             "line 1: random-reads: is not a key here (did you mean random-read?); want one of model, random-read, ",
		"sequential-read: 14000 MiB/s": `line 1: sequential-read: "14000 MiB/s" is not a rate of a data sheet; want decimal bytes per second, e.g. 14000 MB/s`,
		"sequential-read: 14000 Mb/s":  "want decimal bytes per second",
		"random-read: -5k":             `"-5k" is not I/Os per second; want a number, e.g. 2000k IOPS`,
		"random-read: inf":             "is not I/Os per second",
		"random-read-latency: 85":      `"85" is not a latency; want a time, e.g. 85us`,
		"random-read: [1]":             "line 1: random-read: is a list; want a single value",
		strings.Repeat("y", 1<<21):     "the file is too large; want at most 1MiB",
	} {
		_, err := config.ParseDataSheet(strings.NewReader(text))
		assert.ErrorContains(t, err, want)
	}
}

func FuzzParseDataSheet(f *testing.F) {
	f.Add(pm1743)
	f.Add("random-read: 850000\n")
	f.Fuzz(func(t *testing.T, text string) {
		sheet, err := config.ParseDataSheet(strings.NewReader(text))
		if err != nil {
			assert.Equal(t, record.DataSheet{}, sheet)
			return
		}
		for _, v := range []*float64{sheet.RandomReadIOPS, sheet.RandomWriteIOPS, sheet.SequentialReadBytesPerSecond, sheet.SequentialWriteBytesPerSecond} {
			assert.True(t, v == nil || *v > 0 && *v <= 1e15)
		}
	})
}
