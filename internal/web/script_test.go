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

// reader adds a script with a reader's actions to the first page that is requested, and speeds up its refresh a
// hundredfold.
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
		page := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`).ReplaceAllString(answer.Body.String(), "")
		page = strings.Replace(page, `data-refresh="15"`, `data-refresh="0.15"`, 1)
		fmt.Fprint(w, strings.Replace(page, "</body>", "<script>"+does+"</script></body>", 1))
	})
}

// The page is refreshed in place: open sections, scroll position and focus remain.
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

// No page is wider than a phone.
func TestThePagesFitAPhone(t *testing.T) {
	o := withHistory()
	o.Recording = recorded().Recording
	for _, path := range []string{"/", "/devices/" + recordtest.RegressedID, "/recordings/" + recordtest.Recording().ID} {
		server := httptest.NewServer(reader(web.Handler(o), `
			const wide = document.documentElement.scrollWidth, room = innerWidth;
			document.body.id = wide > room || room > 500 ? "wide-" + wide + "-of-" + room : "fits";`))
		t.Cleanup(server.Close)
		dom := testenv.Chromium(t, server.URL+path, "--dump-dom", "--window-size=400,800")
		assert.Contains(t, dom, `<body id="fits">`, path)
	}
}

// The verdicts on 24 drives are visible at once: the table needs no scrolling on a screen of 1400 × 900. The worst
// drive is first, and the others are in natural order.
func TestOneGlanceAt24Drives(t *testing.T) {
	s := recordtest.Snapshot()
	healthy, regressed := s.Targets[0], s.Targets[1]
	s.Targets = nil
	for i := range 24 {
		d := healthy
		if i == 17 {
			d = regressed
		}
		d.ID, d.Device.Name = fmt.Sprintf("eui.%d", i), fmt.Sprintf("nvme%dn1", i)
		d.Path, d.Device.ID = "/dev/"+d.Device.Name, d.ID
		s.Targets = append(s.Targets, d)
	}
	o := options()
	o.Snapshot = func() record.Snapshot { return s }
	server := httptest.NewServer(reader(web.Handler(o), `
		const rows = [...document.querySelectorAll("table.drives tbody tr")];
		const seen = rows.map(row => row.getBoundingClientRect()).filter(box => box.bottom <= 900 && box.right <= innerWidth);
		const names = rows.map(row => row.querySelector("td.drive bdi").textContent.replace(/.*nvme(.*)n1/, "$1"));
		document.body.innerHTML = "<pre>" + [innerWidth, seen.length, names].join(" ") + "</pre>";`))
	t.Cleanup(server.Close)
	dom := testenv.Chromium(t, server.URL, "--dump-dom", "--window-size=1400,900")
	saw := regexp.MustCompile(`<pre>(.*)</pre>`).FindStringSubmatch(dom)
	require.Len(t, saw, 2, dom)
	assert.Equal(t, "1400 24 17,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,18,19,20,21,22,23", saw[1])
}

// A stale page must not look green, and says why it is stale.
func TestTheScriptSaysWhyThePageIsStale(t *testing.T) {
	for says, status := range map[string]int{
		"The daemon does not answer.":              http.StatusBadGateway,
		"The daemon no longer watches this drive.": http.StatusNotFound,
	} {
		var asked atomic.Int64
		page := web.Handler(options())
		server := httptest.NewServer(reader(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) > 1 {
				w.WriteHeader(status)
				return
			}
			page.ServeHTTP(w, r)
		}), `setInterval(() => document.body.id = getComputedStyle(document.body, "::before").content, 10);`))
		t.Cleanup(server.Close)
		dom := testenv.Chromium(t, server.URL+"/devices/"+recordtest.RegressedID, "--dump-dom", "--virtual-time-budget=20000")
		assert.Regexp(t, `<body id="&quot;`+says+`[^>]*" class="stale`, dom)
	}
}
