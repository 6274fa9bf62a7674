package web_test

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func TestBrowserShowsTheKeyFacts(t *testing.T) {
	url := serve(t, options()).URL
	for path, facts := range map[string][]string{
		"/": {
			"stor-07",
			"6 warnings",
			"/dev/nvme1n1 SAMSUNG MZQL23T8HCLS-00A07, 3.84 TB 62 % slower (57 to 68 %) than before, since 12:04:11 UTC, by its probes degraded 1.62× 136 µs ⚠ 410 µs ⚠ 6 571 ⚠",
			"/dev/nvme1n1 read-4k slower than its baseline: p50 1.62× (1.57× to 1.68×)",
			"since 12:04:11 UTC, 58 min ago",
			"the PCIe link runs at 8 GT/s x4",
			"sda: excluded by the configuration",
		},
		"/devices/" + recordtest.RegressedID: {
			"p50 136 µs",
			"baseline 84.1 µs regressed 1.62× 1.57× to 1.68×",
			"disturbed, waited for a CPU for 14 % of the round",
			"PCIe link 8 GT/s x4 changed 12:57:11 UTC, 5 min ago",
		},
		"/devices/" + recordtest.FileID:    {"of 120 rounds", "from only 704 I/Os"},
		"/devices/" + recordtest.HealthyID: {"last 32 min"},
	} {
		text := testenv.Words(testenv.Chromium(t, url+path, "--dump-dom"))
		for _, fact := range facts {
			shows(t, text, fact)
		}
	}
}

// The browser applies the style, which the policy allows only by its hash. It follows the reader's choice of light or
// dark.
func TestBrowserAppliesTheStyle(t *testing.T) {
	url := serve(t, options()).URL
	for name, c := range map[string]struct {
		setting    string
		background [3]uint32
	}{
		"light": {"--blink-settings=preferredColorScheme=1", [3]uint32{0xf6, 0xf7, 0xf8}},
		"dark":  {"--blink-settings=preferredColorScheme=0", [3]uint32{0x10, 0x13, 0x16}},
	} {
		t.Run(name, func(t *testing.T) {
			picture := filepath.Join(t.TempDir(), "page.png")
			testenv.Chromium(t, url, c.setting, "--window-size=390,844", "--screenshot="+picture)
			file, err := os.Open(picture)
			require.NoError(t, err)
			defer file.Close()
			decoded, err := png.Decode(file)
			require.NoError(t, err)
			r, g, b, _ := decoded.At(2, 2).RGBA()
			background := [3]uint32{r >> 8, g >> 8, b >> 8}
			assert.Equal(t, c.background, background)
		})
	}
}
