package report_test

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
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
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// Each plot gets a slot of the test page, in pixels. Half its size is enough to tell whether it is empty.
const (
	slotWidth = 380
	slot      = 240
)

// photographed renders drawings below each other in a real browser, including those that a page this narrow
// would hide.
func photographed(t *testing.T, scheme string, drawings []string) *image.RGBA {
	t.Helper()
	path := testenv.Installed(t, "chromium")
	dir := t.TempDir()
	var b strings.Builder
	fmt.Fprintf(&b, `<!doctype html><meta charset="utf-8"><style>%s%s body{margin:0;padding:0;max-width:none}.slot{height:%dpx;width:%dpx;overflow:hidden}.slot .plot{display:block!important}</style>`,
		style(t), plot.Style(), slot, slotWidth)
	for _, svg := range drawings {
		b.WriteString(`<div class="slot">` + svg + `</div>`)
	}
	file, picture := filepath.Join(dir, "page.html"), filepath.Join(dir, "page.png")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	// The sandbox does not start for root or in containers; the page comes from this test.
	command := exec.CommandContext(t.Context(), path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--blink-settings=preferredColorScheme="+scheme,
		fmt.Sprintf("--window-size=%d,%d", slotWidth, slot*len(drawings)), "--screenshot="+picture, "file://"+file)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	require.NoError(t, command.Run(), &stderr)
	data, err := os.ReadFile(picture)
	require.NoError(t, err, &stderr)
	decoded, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	pixels := image.NewRGBA(decoded.Bounds())
	draw.Draw(pixels, pixels.Bounds(), decoded, image.Point{}, draw.Src)
	return pixels
}

// style returns the page's style sheet.
func style(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("html/page.css")
	require.NoError(t, err)
	return string(data)
}

// blank returns a drawing without its values, with only axes, ticks, grid and legend.
func blank(svg string) string {
	values := regexp.MustCompile(`(?s)<(path|rect) [^>]*class="(line|point|area|interval|mean)[ "][^>]*(/>|>.*?</(path|rect)>)|<rect [^>]*class="(area|interval)[^>]*/>`)
	return values.ReplaceAllString(svg, "")
}

// ink counts the pixels in which two slots differ, and the columns and rows that contain such pixels.
func ink(picture *image.RGBA, one, other int) (pixels, columns, rows int) {
	inRow := map[int]bool{}
	for x := range slotWidth {
		before := pixels
		for y := range slot {
			if picture.RGBAAt(x, one*slot+y) != picture.RGBAAt(x, other*slot+y) {
				pixels++
				inRow[y] = true
			}
		}
		if pixels > before {
			columns++
		}
	}
	return pixels, columns, len(inRow)
}

// A browser shows values in every plot, light and dark: each plot differs all over its area from a copy
// without values. The test also verifies that it would notice an empty plot.
func TestBrowserDrawsEveryPlot(t *testing.T) {
	drawing := regexp.MustCompile(`(?s)<svg class="plot".*?</svg>`)
	title := regexp.MustCompile(`aria-label="([^"]*)"`)
	var drawings, names []string
	add := func(name, svg string) {
		drawings, names = append(drawings, svg, blank(svg)), append(names, name+": "+title.FindStringSubmatch(svg)[1])
	}
	runs := suiteRuns()
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		for _, svg := range drawing.FindAllString(pageOf(t, runs[name]), -1) {
			add(name, svg)
		}
	}
	assert.Greater(t, len(names), 15)
	nothing := plot.Plot{Title: "empty", X: plot.Axis{Label: "x"}, Y: plot.Axis{Label: "y", Zero: true}, Series: []plot.Series{{Shape: plot.Line}}}
	add("none", string(nothing.SVG()))
	for name, scheme := range map[string]string{"light": "1", "dark": "0"} {
		picture := photographed(t, scheme, drawings)
		for i := range names {
			pixels, columns, rows := ink(picture, 2*i, 2*i+1)
			if names[i] == "none: empty" {
				assert.Zero(t, pixels)
				continue
			}
			assert.Greater(t, pixels, 150, "%s, %s", names[i], name)
			assert.Greater(t, columns, 20, "%s, %s", names[i], name)
			assert.Greater(t, rows, 5, "%s, %s", names[i], name)
		}
	}
}

// In print, the page is light whatever the reader chose for the screen, and folded parts are open.
func TestBrowserPrints(t *testing.T) {
	path := testenv.Installed(t, "chromium")
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
