package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/internal/web"
)

// reader adds to the page that is asked for first what a person does with it, and runs the page's clock a hundred times as fast.
func reader(next http.Handler, does string) http.Handler {
	var asked atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/favicon") || asked.Add(1) > 1 {
			next.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		answer.Header().Del("Content-Security-Policy")
		answer.Header().Del("Content-Length")
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		page := strings.Replace(answer.Body.String(), `data-refresh="15"`, `data-refresh="0.15"`, 1)
		fmt.Fprint(w, strings.Replace(page, "</body>", "<script>"+does+"</script></body>", 1))
	})
}

// The page is renewed in place: the open parts, the scroll and the focus stay.
func TestTheScriptKeepsWhatAReaderDid(t *testing.T) {
	o := options()
	var asked atomic.Int64
	o.Snapshot = func() record.Snapshot {
		s := recordtest.Snapshot()
		s.Node = fmt.Sprintf("answer-%d", asked.Add(1))
		return s
	}
	server := httptest.NewServer(reader(web.Handler(o), `
		document.querySelector("#ignored").open = true;
		document.querySelector("#readings").open = false;
		document.querySelector("td a").focus({preventScroll: true});
		scrollTo(0, 200);
		const first = document.querySelector("main");
		setInterval(() => {
			if (document.querySelector("main") === first) return;
			const e = document.createElement("pre");
			e.id = "saw";
			e.textContent = [scrollY, document.activeElement.getAttribute("href"), document.querySelector("#ignored").open, document.querySelector("#readings").open].join(" ");
			document.body.replaceChildren(e);
		}, 10);`))
	t.Cleanup(server.Close)
	dom := testenv.Chromium(t, server.URL, "--dump-dom", "--window-size=800,400", "--virtual-time-budget=20000")
	saw := regexp.MustCompile(`<pre id="saw">(.*)</pre>`).FindStringSubmatch(dom)
	require.Len(t, saw, 2, "the page was not renewed")
	assert.Equal(t, "200 /devices/"+recordtest.RegressedID+" true false", saw[1])
}

// Nothing of a page is wider than a phone.
func TestThePagesFitAPhone(t *testing.T) {
	for _, path := range []string{"/", "/devices/" + recordtest.RegressedID} {
		server := httptest.NewServer(reader(web.Handler(withHistory()), `
			const wide = document.documentElement.scrollWidth, room = innerWidth;
			document.body.id = wide > room || room > 500 ? "wide-" + wide + "-of-" + room : "fits";`))
		t.Cleanup(server.Close)
		dom := testenv.Chromium(t, server.URL+path, "--dump-dom", "--window-size=400,800")
		assert.Contains(t, dom, `<body id="fits">`, path)
	}
}

// Green that is stale would be a lie.
func TestTheScriptSaysWhenTheDaemonDoesNotAnswer(t *testing.T) {
	var asked atomic.Int64
	page := web.Handler(options())
	server := httptest.NewServer(reader(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 1 {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		page.ServeHTTP(w, r)
	}), ""))
	t.Cleanup(server.Close)
	dom := testenv.Chromium(t, server.URL, "--dump-dom", "--virtual-time-budget=20000")
	assert.Contains(t, dom, `<body class="stale">`)
}
