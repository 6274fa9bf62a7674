package report_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
)

// slot is the height that each plot gets on the page of the test, in pixels.
const slot = 480

// photographed shows drawings below each other in a real browser.
func photographed(t *testing.T, scheme string, drawings []string) image.Image {
	t.Helper()
	path, err := exec.LookPath("chromium")
	require.NoError(t, err, "this test needs a browser: scripts/install.sh chromium")
	dir := t.TempDir()
	var b strings.Builder
	fmt.Fprintf(&b, `<!doctype html><meta charset="utf-8"><style>%s%s body{margin:0;padding:0;max-width:none}.slot{height:%dpx;width:760px;overflow:hidden}</style>`,
		style(t), plot.Style(), slot)
	for _, svg := range drawings {
		b.WriteString(`<div class="slot">` + svg + `</div>`)
	}
	file, picture := filepath.Join(dir, "page.html"), filepath.Join(dir, "page.png")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	// The sandbox does not start for root or in containers; the page is our own.
	command := exec.CommandContext(t.Context(), path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--blink-settings=preferredColorScheme="+scheme,
		fmt.Sprintf("--window-size=760,%d", slot*len(drawings)), "--screenshot="+picture, "file://"+file)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	require.NoError(t, command.Run(), &stderr)
	data, err := os.ReadFile(picture)
	require.NoError(t, err, &stderr)
	decoded, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	return decoded
}

// style is the page's own style sheet.
func style(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("report.css")
	require.NoError(t, err)
	return string(data)
}

// seriesColours are those in which values are drawn.
func seriesColours(t *testing.T, dark bool) map[color.RGBA]bool {
	t.Helper()
	sets := regexp.MustCompile(`--c\d: #([0-9a-f]{6});`).FindAllStringSubmatch(string(plot.Style()), -1)
	require.Len(t, sets, 3*plot.Colours)
	if dark {
		sets = sets[plot.Colours:]
	}
	found := map[color.RGBA]bool{}
	for _, set := range sets[:plot.Colours] {
		var c color.RGBA
		_, err := fmt.Sscanf(set[1], "%02x%02x%02x", &c.R, &c.G, &c.B)
		require.NoError(t, err)
		c.A = 255
		found[c] = true
	}
	return found
}

// ink counts the pixels of a slot's plot area that have the colour of a series, and
// the columns in which there are any.
func ink(picture image.Image, number int, colours map[color.RGBA]bool) (pixels, columns int) {
	const legend = 80 // at most
	for x := 20; x < 760; x++ {
		before := pixels
		for y := slot*number + legend; y < slot*(number+1); y++ {
			if c, ok := color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA); ok && colours[c] {
				pixels++
			}
		}
		if pixels > before {
			columns++
		}
	}
	return pixels, columns
}

// A browser shows values in every plot, light and dark. That the test would notice an
// empty one is part of it.
func TestBrowserDrawsEveryPlot(t *testing.T) {
	drawing := regexp.MustCompile(`(?s)<svg class="plot".*?</svg>`)
	title := regexp.MustCompile(`aria-label="([^"]*)"`)
	var drawings, names []string
	runs := suiteRuns()
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		for _, svg := range drawing.FindAllString(pageOf(t, runs[name]), -1) {
			drawings = append(drawings, svg)
			names = append(names, name+": "+title.FindStringSubmatch(svg)[1])
		}
	}
	assert.Greater(t, len(drawings), 15)
	empty := plot.Plot{Title: "empty", X: plot.Axis{Label: "x"}, Y: plot.Axis{Label: "y", Zero: true}, Series: []plot.Series{{Name: "nothing", Colour: 1}}}
	drawings, names = append(drawings, string(empty.SVG())), append(names, "empty")
	for scheme, dark := range map[string]bool{"1": false, "0": true} {
		picture := photographed(t, scheme, drawings)
		colours := seriesColours(t, dark)
		for i, name := range names {
			pixels, columns := ink(picture, i, colours)
			if name == "empty" {
				assert.Zero(t, pixels)
				continue
			}
			assert.Greater(t, pixels, 100, "%s, dark %v", name, dark)
			assert.Greater(t, columns, 8, "%s, dark %v", name, dark)
		}
	}
}

// Printed, the page is light, whatever the reader's choice on the screen is, and has
// what a click would open.
func TestBrowserPrints(t *testing.T) {
	path, err := exec.LookPath("chromium")
	require.NoError(t, err, "this test needs a browser: scripts/install.sh chromium")
	dir := t.TempDir()
	size := func(r record.RunReport) int64 {
		file, printed := filepath.Join(dir, "page.html"), filepath.Join(dir, "page.pdf")
		require.NoError(t, os.WriteFile(file, []byte(pageOf(t, r)), 0o600))
		command := exec.CommandContext(t.Context(), path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
			"--user-data-dir="+filepath.Join(dir, "profile"), "--no-pdf-header-footer", "--print-to-pdf="+printed, "file://"+file)
		out, err := command.CombinedOutput()
		require.NoError(t, err, string(out))
		data, err := os.ReadFile(printed)
		require.NoError(t, err)
		return int64(bytes.Count(data, []byte("/Type /Page\n")))
	}
	short, long := depthRun(), depthRun()
	for i := range long.Steps {
		long.Steps[i].JobFile = strings.Repeat("line=of the job file\n", 50)
	}
	assert.Positive(t, size(short))
	assert.GreaterOrEqual(t, size(long), size(short)+5, "job files are printed though they are folded on the screen")
}
