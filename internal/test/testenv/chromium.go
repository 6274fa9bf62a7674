package testenv

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

// Chromium runs a real browser on an address, such as with --dump-dom or --screenshot=PATH, and returns what it
// prints.
func Chromium(t testing.TB, url string, arguments ...string) string {
	t.Helper()
	// The sandbox does not start for root or in containers; the page is our own.
	return run(t, "chromium", append(append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--user-data-dir=" + t.TempDir(),
	}, arguments...), url)...)
}

// Words returns the visible text of a page from the output of --dump-dom.
func Words(dom string) string {
	_, body, _ := strings.Cut(dom, "<body>")
	body = regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAllString(body, "")
	text := regexp.MustCompile(`</?(time|small|strong|bdi|code|span|a)\b[^>]*>`).ReplaceAllString(body, "")
	text = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, " ")
	return strings.Join(strings.Fields(html.UnescapeString(text)), " ")
}
