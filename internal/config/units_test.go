package config_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "512B": 512, "4KiB": 4096, "4 KiB": 4096, "007KiB": 7168, "128MiB": 128 << 20, "1GiB": 1 << 30,
		"2TiB": 2 << 40, "4kB": 4000, "1MB": 1e6, "1GB": 1e9, "1TB": 1e12, "9223372036854775807": math.MaxInt64, "8388607TiB": 8388607 << 40,
	} {
		got, err := config.ParseSize(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	const number = "a whole number of bytes with an optional unit, e.g. 4096, 4KiB, 128KiB"
	const unit = "KiB, MiB, GiB, TiB (powers of 1024) or kB, MB, GB, TB (powers of 1000), e.g. 4KiB"
	for text, want := range map[string]string{
		"":                     "is empty; want " + number,
		"many":                 `"many" is not a size; want ` + number,
		"-1":                   `"-1" is not a size; want ` + number,
		"+1":                   `"+1" is not a size; want ` + number,
		"1.5GiB":               `"1.5GiB" is not a size; want ` + number,
		" 1":                   `" 1" is not a size; want ` + number,
		"1  KiB":               `"1  KiB" is not a size; want ` + number,
		"4KB0":                 `"4KB0" is not a size; want ` + number,
		"0x10":                 `"0x10" is not a size; want ` + number,
		"１KiB":                 `"１KiB" is not a size; want ` + number,
		"4k":                   `"4k" has no clear unit; want ` + unit,
		"4K":                   `"4K" has no clear unit; want ` + unit,
		"4KB":                  `"4KB" has no clear unit; want ` + unit,
		"4kib":                 `"4kib" has no clear unit; want ` + unit,
		"1M":                   `"1M" has no clear unit; want ` + unit,
		"1PiB":                 `"1PiB" has no clear unit; want ` + unit,
		"9223372036854775808":  `"9223372036854775808" is too large for a size; want at most 8388607TiB`,
		"8388608TiB":           `"8388608TiB" is too large for a size; want at most 8388607TiB`,
		"99999999999999999KiB": `"99999999999999999KiB" is too large for a size; want at most 8388607TiB`,
	} {
		_, err := config.ParseSize(text)
		assert.EqualError(t, err, want, text)
	}
}

func TestFormatSize(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0", 1: "1", 512: "512", 1000: "1kB", 1024: "1KiB", 1500: "1500", 4096: "4KiB", 1536: "1536", 1 << 20: "1MiB",
		1e9: "1GB", 1e12: "1TB", 3 << 39: "1536GiB", 1024e6: "1024MB", 500107862016: "488386584KiB", math.MaxInt64: "9223372036854775807",
	} {
		assert.Equal(t, want, config.FormatSize(bytes))
	}
}

func FuzzParseSize(f *testing.F) {
	for _, seed := range []string{"4096", "4KiB", "1TB", "4KB0", "8388608TiB", "", "1 B"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := config.ParseSize(text)
		if err != nil {
			assert.ErrorAs(t, err, new(config.Problem))
			return
		}
		require.GreaterOrEqual(t, n, int64(0))
		again, err := config.ParseSize(config.FormatSize(n))
		require.NoError(t, err)
		assert.Equal(t, n, again)
	})
}

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0s": 0, "500ms": 500 * time.Millisecond, "30s": 30 * time.Second, "1.5h": 90 * time.Minute, "1h30m": 90 * time.Minute,
		"7d": 7 * day, "1d12h": 36 * time.Hour, "0d1s": time.Second, "20µs": 20 * time.Microsecond, "106751d": 106751 * day,
	} {
		got, err := config.ParseDuration(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	const want = "; want a number with its unit (ms, s, m, h or d), e.g. 500ms, 30s, 1h30m, 7d"
	for text, problem := range map[string]string{
		"":                      "is empty" + want,
		"soon":                  `"soon" is not a duration` + want,
		"30":                    `"30" has no unit` + want,
		"0":                     `"0" has no unit` + want,
		"1.5":                   `"1.5" has no unit` + want,
		"-1s":                   `"-1s" is not a duration` + want,
		"+1s":                   `"+1s" is not a duration` + want,
		"1.5d":                  `"1.5d" is not a duration` + want,
		"1h 30m":                `"1h 30m" is not a duration` + want,
		"12h1d":                 `"12h1d" is not a duration` + want,
		"1d12":                  `"1d12" is not a duration` + want,
		"5min":                  `"5min" is not a duration` + want,
		"106752d":               `"106752d" is too long for a duration; want at most 106751d`,
		"106751d999h":           `"106751d999h" is too long for a duration; want at most 106751d`,
		"99999999999h":          `"99999999999h" is too long for a duration; want at most 106751d`,
		"99999999999999999999d": `"99999999999999999999d" is too long for a duration; want at most 106751d`,
	} {
		_, err := config.ParseDuration(text)
		assert.EqualError(t, err, problem, text)
	}
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 500 * time.Millisecond: "500ms", 30 * time.Second: "30s", time.Minute: "1m", 10 * time.Minute: "10m", 90 * time.Second: "1m30s",
		time.Hour: "1h", 10 * time.Hour: "10h", 70 * time.Minute: "1h10m", time.Hour + time.Second: "1h0m1s", 24 * time.Hour: "1d", 36 * time.Hour: "36h",
		-time.Minute: "-1m",
	} {
		assert.Equal(t, want, config.FormatDuration(d))
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"30s", "1h30m", "7d", "1d12h", "1.5h", "-1s", "", "106751d23h47m16s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := config.ParseDuration(text)
		if err != nil {
			assert.ErrorAs(t, err, new(config.Problem))
			return
		}
		require.GreaterOrEqual(t, d, time.Duration(0))
		again, err := config.ParseDuration(config.FormatDuration(d))
		require.NoError(t, err)
		assert.Equal(t, d, again)
	})
}

func TestParseRatio(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "0.8": 0.8, "80%": 0.8, "80 %": 0.8, "12.5%": 0.125, "7%": 0.07, "1": 1, "150%": 1.5, "10": 10, "0.05": 0.05,
	} {
		got, err := config.ParseRatio(text)
		require.NoError(t, err, text)
		assert.InDelta(t, want, got, 0, text)
	}
	const want = "; want a share or a percentage, e.g. 0.8 or 80%"
	for text, problem := range map[string]string{
		"": "is empty" + want, "half": `"half" is not a ratio` + want, "-0.1": `"-0.1" is not a ratio` + want, "NaN": `"NaN" is not a ratio` + want,
		"Inf": `"Inf" is not a ratio` + want, "1e3": `"1e3" is not a ratio` + want, "0x1p-2": `"0x1p-2" is not a ratio` + want, ".5": `".5" is not a ratio` + want,
		"0,8": `"0,8" is not a ratio` + want, "80%%": `"80%%" is not a ratio` + want,
	} {
		_, err := config.ParseRatio(text)
		assert.EqualError(t, err, problem, text)
	}
}

func FuzzParseRatio(f *testing.F) {
	for _, seed := range []string{"0.8", "80%", "1", "12.5 %", "", "-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ratio, err := config.ParseRatio(text)
		if err != nil {
			assert.ErrorAs(t, err, new(config.Problem))
			return
		}
		require.False(t, ratio < 0 || math.IsInf(ratio, 0) || math.IsNaN(ratio), "%v", ratio)
		again, err := config.ParseRatio(config.FormatNumber(ratio))
		require.NoError(t, err)
		assert.InDelta(t, ratio, again, 0)
	})
}
