package analysis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
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
	got, err := analysis.ParseDataSheet(strings.NewReader(pm1743))
	require.NoError(t, err)
	assert.Equal(t, record.DataSheet{
		Model: "PM1743 15.36TB", RandomReadIOPS: new(2e6), RandomWriteIOPS: new(250e3),
		SequentialReadBytesPerSecond: new(14e9), SequentialWriteBytesPerSecond: new(3e9), RandomReadLatency: new(85 * time.Microsecond),
	}, got)
	for text, want := range map[string]string{
		"":                                 "it has no figures",
		"model: x":                         "it has no figures",
		"random-reads: 5k":                 "random-reads: unknown; want one of model, random-read, ",
		"sequential-read: 14000 MiB/s":     `sequential-read: "14000 MiB/s": want decimal bytes per second`,
		"sequential-read: 14000 Mb/s":      `want decimal bytes per second`,
		"random-read: -5k":                 "want I/Os per second",
		"random-read: inf":                 "want I/Os per second",
		"random-read-latency: 85":          `"85": want a time`,
		"random-read: [1]":                 "parse the data sheet",
		"x: " + strings.Repeat("y", 1<<17): "longer than 65536 bytes",
	} {
		_, err := analysis.ParseDataSheet(strings.NewReader(text))
		assert.ErrorContains(t, err, want)
	}
}

func FuzzParseDataSheet(f *testing.F) {
	f.Add(pm1743)
	f.Add("random-read: 850000\n")
	f.Fuzz(func(t *testing.T, text string) {
		sheet, err := analysis.ParseDataSheet(strings.NewReader(text))
		if err != nil {
			assert.Equal(t, record.DataSheet{}, sheet)
			return
		}
		for _, v := range []*float64{sheet.RandomReadIOPS, sheet.RandomWriteIOPS, sheet.SequentialReadBytesPerSecond, sheet.SequentialWriteBytesPerSecond} {
			assert.True(t, v == nil || *v > 0 && *v <= 1e15)
		}
	})
}

func TestShares(t *testing.T) {
	sheet, err := analysis.ParseDataSheet(strings.NewReader(pm1743))
	require.NoError(t, err)
	sequential := randomRead(128, 100_000)
	sequential.Name, sequential.Workload.Pattern, sequential.Read.BytesPerSecond = "sequential-read", record.Sequential, 13.3e9
	got := analysis.Shares([]step{
		randomRead(1, 10_000), randomRead(128, 1_500_000), randomRead(64, 1_900_000), sequential,
		together([]string{"a", "b"}, 3e6, 3e6), short(randomRead(32, 9e9)),
	}, sheet)
	assert.Equal(t, []record.SheetShare{
		{Figure: "random read", Unit: "IOPS", Promised: 2e6, Measured: 1.9e6, Step: "random-read-qd64", Share: 0.95},
		{Figure: "sequential read", Unit: "B/s", Promised: 14e9, Measured: 13.3e9, Step: "sequential-read", Share: 0.95},
		{Figure: "random read latency", Unit: "s", Promised: 85e-6, Measured: 100e-6, Step: "random-read-qd1", Share: 0.85},
	}, got)
}
