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
		Model: "PM1743 15.36TB", RandomReadIOPS: &record.Promise[float64]{Value: 2e6}, RandomWriteIOPS: &record.Promise[float64]{Value: 250e3},
		SequentialReadBytesPerSecond: &record.Promise[float64]{Value: 14e9}, SequentialWriteBytesPerSecond: &record.Promise[float64]{Value: 3e9}, RandomReadLatency: &record.Promise[time.Duration]{Value: 85 * time.Microsecond},
	}, got)
	for text, want := range map[string]string{
		"":                               "the file has no figures; want those of the data sheet, e.g. random-read-latency: 85us",
		"model: x":                       "the file has no figures; want those of the data sheet, e.g. random-read-latency: 85us",
		"random-reads: 5k":               "line 1: random-reads: is not a key here (did you mean random-read?); want one of model, random-read, ",
		"sequential-read: 14000 MiB/s":   `line 1: sequential-read: "14000 MiB/s" is not a rate of a data sheet; want decimal bytes per second, e.g. 14000 MB/s or 14000 MB/s at 1MiB`,
		"sequential-read: 14000 Mb/s":    "want decimal bytes per second",
		"random-read: -5k":               `"-5k" is not I/Os per second; want a number, e.g. 2000k IOPS or 40k IOPS at 16KiB`,
		"random-read: inf":               "is not I/Os per second",
		"random-write: 40k IOPS at 16KB": `line 1: random-write: "40k IOPS at 16KB" has no valid block size; want 512, 1KiB, 2KiB, 4KiB and so on to 16MiB, e.g. 40k IOPS at 16KiB`,
		"random-write: 40k at 12KiB":     `"40k at 12KiB" has no valid block size`,
		"random-write: 40k at 256":       `"40k at 256" has no valid block size`,
		"random-write: 40k at 32MiB":     `"40k at 32MiB" has no valid block size`,
		"random-write: 40k at":           `"40k at" is not I/Os per second; want a number, e.g. 2000k IOPS or 40k IOPS at 16KiB`,
		"random-write: 40k (16KiB)":      `"40k (16KiB)" is not I/Os per second`,
		"sequential-read: 7 GB/s at x":   `line 1: sequential-read: "7 GB/s at x" has no valid block size; want 512, 1KiB, 2KiB, 4KiB and so on to 16MiB, e.g. 7000 MB/s at 1MiB`,
		"random-read-latency: 85":        `"85" is not a latency; want a time, e.g. 85us or 85us at 16KiB`,
		"random-read-latency: 85us@16K":  `"85us@16K" is not a latency; want a time, e.g. 85us or 85us at 16KiB`,
		"random-read: [1]":               "line 1: random-read: is a list; want a single value",
		strings.Repeat("y", 1<<21):       "the file is too large; want at most 1MiB",
	} {
		_, err := config.ParseDataSheet(strings.NewReader(text))
		assert.ErrorContains(t, err, want)
	}
}

// Sheets of drives with large mapping units state random writes for blocks of that size.
func TestFiguresOfADataSheetNameTheirBlocks(t *testing.T) {
	got, err := config.ParseDataSheet(strings.NewReader(`random-read: 1005k IOPS
random-write: 43k IOPS at 16KiB
sequential-write: 3000 MB/s  at 1 MiB
random-write-latency: 30 us at 4096
`))
	require.NoError(t, err)
	assert.Equal(t, record.DataSheet{
		RandomReadIOPS: &record.Promise[float64]{Value: 1005e3}, RandomWriteIOPS: &record.Promise[float64]{Value: 43e3, BlockBytes: 16 << 10},
		SequentialWriteBytesPerSecond: &record.Promise[float64]{Value: 3e9, BlockBytes: 1 << 20},
		RandomWriteLatency:            &record.Promise[time.Duration]{Value: 30 * time.Microsecond, BlockBytes: 4 << 10},
	}, got)
}

func FuzzParseDataSheet(f *testing.F) {
	f.Add(pm1743)
	f.Add("random-read: 850000\n")
	f.Add("random-write: 43k IOPS at 16KiB\n")
	f.Fuzz(func(t *testing.T, text string) {
		sheet, err := config.ParseDataSheet(strings.NewReader(text))
		if err != nil {
			assert.Equal(t, record.DataSheet{}, sheet)
			return
		}
		for _, v := range []*record.Promise[float64]{sheet.RandomReadIOPS, sheet.RandomWriteIOPS, sheet.SequentialReadBytesPerSecond, sheet.SequentialWriteBytesPerSecond} {
			assert.True(t, v == nil || v.Value > 0 && v.Value <= 1e15 && v.BlockBytes >= 0 && v.BlockBytes <= 16<<20)
		}
	})
}
