package report_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// looks records whether the page is wider than the screen, how many series each visible drawing has, and the lowest
// contrast (WCAG 2.2, 1.4.11) between a line and its background.
const looks = `
	const luminance = text => {
		const [r, g, b] = text.match(/[\d.]+/g).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
		return .2126 * r + .7152 * g + .0722 * b;
	};
	const ground = luminance(getComputedStyle(document.querySelector(".card")).backgroundColor);
	let least = 21;
	const series = [];
	for (const svg of document.querySelectorAll("svg.plot")) {
		if (svg.getBoundingClientRect().width === 0) continue;
		const seen = new Set();
		for (const line of svg.querySelectorAll("path.line")) {
			if (line.getBoundingClientRect().width > 100) seen.add(line.getAttribute("class"));
			const own = luminance(getComputedStyle(line).stroke);
			least = Math.min(least, (Math.max(own, ground) + .05) / (Math.min(own, ground) + .05));
		}
		series.push(seen.size);
	}
	const wide = document.documentElement.scrollWidth > innerWidth;
	document.body.innerHTML = "<pre>" + [wide ? "wide" : "fits", innerWidth <= 500 ? "phone" : "screen", least >= 3 ? "legible" : "faint " + least,
		ground < .2 ? "dark" : "light", series.join("+")].join(" ") + "</pre>";`

// look opens a page in a browser and returns the output of the script, which replaces the page.
func look(t *testing.T, page, script string, flags ...string) string {
	t.Helper()
	page = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`).ReplaceAllString(page, "")
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, []byte(page+"<script>"+script+"</script>"), 0o600))
	dom := testenv.Chromium(t, "file://"+file, append(flags, "--dump-dom")...)
	saw := regexp.MustCompile(`<pre>([^<]*)</pre></body>`).FindStringSubmatch(dom)
	require.Len(t, saw, 2, dom[max(0, len(dom)-300):])
	return saw[1]
}

// On a phone and on a screen, light and dark, the page of overlaid runs shows the lines of all of them.
func TestBrowserShowsRunsOverEachOther(t *testing.T) {
	page := overlayText(t, linesRun(), linesRun())
	for name, c := range map[string]struct{ scheme, size, want string }{
		"phone, dark":   {"0", "400,900", "fits phone legible dark 4+4+4"},
		"screen, light": {"1", "1400,900", "fits screen legible light 4+4+4"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, look(t, page, looks, "--blink-settings=preferredColorScheme="+c.scheme, "--window-size="+c.size))
		})
	}
}

// onAPhone records whether the page is wider than the screen, how many drawings are cut, and the smallest height of a
// letter in them.
const onAPhone = `
	const drawings = [...document.querySelectorAll("svg.plot")].map(svg => svg.getBoundingClientRect()).filter(box => box.width > 0);
	const heights = [...document.querySelectorAll("svg.plot text")].map(text => {
		const box = text.getBoundingClientRect();
		return Math.max(box.height, text.hasAttribute("transform") ? box.width : 0);
	}).filter(height => height > 0);
	document.body.innerHTML = "<pre>" + [document.documentElement.scrollWidth > innerWidth ? "wide" : "fits", innerWidth <= 500 ? "phone" : "screen",
		drawings.filter(box => box.right > innerWidth).length + " cut", Math.min(10, ...heights) + " high"].join(" ") + "</pre>";`

// The page of every suite fits a phone: no sideways scrolling, no drawing is cut, and the labels are readable.
func TestPagesFitAPhone(t *testing.T) {
	c := compare.Pair(beforeUpdate(0.4), quickRun(), 0.2)
	pages := map[string]string{"compared": page(t, report.NewDocument(quickRun(), &c), report.NewDocument(probeRun(), nil))}
	for name, r := range suiteRuns() {
		pages[name] = pageOf(t, r)
	}
	for name, page := range pages {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, "fits phone 0 cut 10 high", look(t, page, onAPhone, "--window-size=400,900"))
		})
	}
}
