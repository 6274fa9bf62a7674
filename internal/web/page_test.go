package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/web"
)

func TestPages(t *testing.T) {
	server := serve(t, options())
	for name, path := range map[string]string{"overview.html": "/", "device.html": "/devices/" + recordtest.RegressedID} {
		got := get(t, server.URL+path)
		policy := got.header.Get("Content-Security-Policy")
		rest := got.body
		for _, of := range []string{"style", "script"} {
			part := regexp.MustCompile(`(?s)<`+of+`>(.*?)</`+of+`>`).FindAllStringSubmatch(got.body, -1)
			require.Len(t, part, 1, of)
			sum := sha256.Sum256([]byte(part[0][1]))
			assert.Contains(t, policy, of+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'", "a browser takes it only when its hash is the policy's")
			rest = strings.Replace(rest, part[0][1], "", 1)
		}
		hides(t, got.body, "ZgotmplZ") // html/template inserts this for what it rejects
		hides(t, got.body, "style=")   // the policy would reject it
		golden(t, name, rest)
	}
}

func TestPageOfNothing(t *testing.T) {
	o, s := options(), record.Snapshot{Time: recordtest.Now(), Started: recordtest.Now(), Node: "stor-07"}
	o.Snapshot = func() record.Snapshot { return s }
	server := serve(t, o)
	body := get(t, server.URL+"/").body
	shows(t, body, "<title>nothing is watched · stor-07 · ssdprobe</title>")
	shows(t, body, "<p>Nothing is watched.</p>")

	s.NotReady = "devices are being discovered"
	shows(t, get(t, server.URL+"/").body, "<p>Nothing is watched yet.</p>")
}

func TestPageWhenAllIsWell(t *testing.T) {
	o := options()
	o.Snapshot = func() record.Snapshot {
		s := recordtest.Snapshot()
		s.Targets, s.Collectors, s.Warnings = s.Targets[:1], s.Collectors[:1], nil
		return s
	}
	body := get(t, serve(t, o).URL+"/").body
	shows(t, body, `<strong class="badge good">all well</strong>`)
	hides(t, body, "What needs attention")
}

// Green means known to be good.
func TestPageIsNotGreenWhereNothingIsKnown(t *testing.T) {
	body := get(t, serve(t, unknown()).URL+"/").body
	shows(t, body, `<strong class="badge quiet">no problem found, 1 of 1 target not fully judged</strong>`)
	shows(t, body, `<span class="badge quiet">unknown</span>`)
	hides(t, body, `badge good`)
	body = devicePage(t, serve(t, unknown()).URL, recordtest.HealthyID)
	shows(t, body, `<span class="badge quiet">unknown</span>`)
	hides(t, body, `badge good`)
	hides(t, body, `<div class="good">`)
	hides(t, body, `<strong class="good">`)
	shows(t, body, "p50, p95, p99, IOPS, because rounds were refused: 40 I/Os in flight, above the limit of 32")
}

// On the first day, tails are not judged yet although the median is.
func TestPageIsNotGreenWhereOnlyAPartIsJudged(t *testing.T) {
	o := unknown()
	alone := o.Snapshot()
	alone.Targets[0].Probes = recordtest.Snapshot().Targets[0].Probes[:1]
	alone.Targets[0].Verdict.Verdict = record.Healthy
	tail := &alone.Targets[0].Probes[0].Drift[2]
	tail.State, tail.Unjudged = record.Waiting, &record.WhyUnjudged{Reason: record.ReasonFirstDay, Since: alone.Time.Add(-5 * time.Hour)}
	o.Snapshot = func() record.Snapshot { return alone }
	body := get(t, serve(t, o).URL+"/").body
	shows(t, body, `<span class="badge quiet">partly judged</span>`)
	shows(t, body, "partly judged, because it takes a day to learn what is normal: <bdi>"+alone.Targets[0].Path)
	hides(t, body, "all well")
	body = devicePage(t, serve(t, o).URL, recordtest.HealthyID)
	shows(t, body, "p99, because it takes a day to learn what is normal")

	// An early baseline shows only large shifts, so a drive may be several times slower and "stable".
	shows(t, body, `<div class="good">`)
	baseline := *alone.Targets[0].Probes[0].Baseline
	baseline.Maturity, alone.Targets[0].Probes[0].Baseline = record.Early, &baseline
	hides(t, devicePage(t, serve(t, o).URL, recordtest.HealthyID), `<div class="good">`)

	last := alone.Targets[0].Probes[0].Last
	shows(t, body, `<strong class="good">ok</strong>`)
	last.Start = alone.Time.Add(-2 * time.Hour)
	hides(t, devicePage(t, serve(t, o).URL, recordtest.HealthyID), `<strong class="good">ok</strong>`)
}

// On a badge, improved takes precedence over not judged, but the summary counts what is not judged.
func TestPageCountsWhatIsNotJudgedBesideWhatImproved(t *testing.T) {
	o := unknown()
	alone := o.Snapshot()
	alone.Targets[0].Probes = recordtest.Snapshot().Targets[0].Probes[:1]
	alone.Targets[0].Verdict.Verdict = record.Healthy
	drifts := alone.Targets[0].Probes[0].Drift
	drifts[0].State = record.Improved
	o.Snapshot = func() record.Snapshot { return alone }
	hides(t, get(t, serve(t, o).URL+"/").body, "not fully judged")
	drifts[2].State, drifts[2].Unjudged = record.Waiting, &record.WhyUnjudged{Reason: record.ReasonFirstDay, Since: alone.Time.Add(-5 * time.Hour)}
	shows(t, get(t, serve(t, o).URL+"/").body, "no problem found, 1 of 1 target not fully judged")
	shows(t, devicePage(t, serve(t, o).URL, recordtest.HealthyID), `<span class="badge info">improved</span>`)
}

func TestADriveWithoutProbesHasItsVerdict(t *testing.T) {
	o := unknown()
	alone := o.Snapshot()
	for verdict, class := range map[record.DriveVerdict]string{
		record.Healthy: "good", record.Watch: "warn", record.Severe: "bad", record.Unjudged: "quiet",
	} {
		o.Snapshot = func() record.Snapshot {
			s := alone
			s.Targets = []record.TargetStatus{{ID: "a", Path: "/dev/sda", Verdict: &record.Judgement{Verdict: verdict}}}
			return s
		}
		shows(t, get(t, serve(t, o).URL+"/").body, fmt.Sprintf(`<span class="badge %s">%s</span>`, class, verdict))
	}
}

// A drive that cannot be probed has no verdict, and is worse than one on watch or one that is being learned.
func TestPageHasTheWorstFirst(t *testing.T) {
	o := options()
	o.Snapshot = func() record.Snapshot {
		s := recordtest.Snapshot()
		s.Targets = nil
		for _, d := range []struct {
			name, problem string
			verdict       record.DriveVerdict
		}{
			{"sda", "", record.Healthy}, {"sdb", "", record.Unjudged}, {"sdc", "no medium found", record.Unjudged},
			{"sdd", "", record.Watch}, {"sde", "", record.Severe}, {"sdf", "", record.Degraded},
		} {
			s.Targets = append(s.Targets, record.TargetStatus{ID: d.name, Path: "/dev/" + d.name, Problem: d.problem, Verdict: &record.Judgement{Verdict: d.verdict}})
		}
		return s
	}
	_, table, _ := strings.Cut(get(t, serve(t, o).URL+"/").body, "<tbody>")
	table, _, _ = strings.Cut(table, "</tbody>")
	var order []string
	for _, link := range regexp.MustCompile(`<bdi>/dev/(\w+)</bdi>`).FindAllStringSubmatch(table, -1) {
		order = append(order, link[1])
	}
	assert.Equal(t, []string{"sde", "sdf", "sdc", "sdd", "sdb", "sda"}, order)
}

// unknown returns a drive whose rounds were all refused for three hours.
func unknown() web.Options {
	o := options()
	o.Snapshot = func() record.Snapshot {
		s := recordtest.Snapshot()
		s.Targets, s.Collectors, s.Warnings = s.Targets[:1], s.Collectors[:1], nil
		t := &s.Targets[0]
		since := s.Time.Add(-3 * time.Hour)
		t.Verdict = &record.Judgement{Verdict: record.Unjudged}
		for i := range t.Probes {
			p := &t.Probes[i]
			p.Window, p.LastSuccess = nil, s.Time.Add(-time.Minute) // from a small round, which is not compared
			p.Last.Outcome, p.Last.Reason = record.OutcomeBusy, "40 I/Os in flight, above the limit of 32"
			for k := range p.Drift {
				p.Drift[k] = record.Drift{
					Statistic: p.Drift[k].Statistic, State: record.Unknown, Since: since, Unjudged: &record.WhyUnjudged{Reason: record.ReasonNoRounds, Since: since},
				}
			}
			p.ExplainUnjudged("", s.Time)
		}
		return s
	}
	return o
}

func TestPageTellsWhenSuitesAreDue(t *testing.T) {
	now := recordtest.Now()
	body := func(r record.RunStatus) string {
		o := options()
		o.Snapshot = func() record.Snapshot {
			s := recordtest.Snapshot()
			r.Suite = "quick"
			s.Targets[0].Runs = []record.RunStatus{r}
			return s
		}
		page := devicePage(t, serve(t, o).URL, recordtest.HealthyID)
		return strings.ReplaceAll(page, "\u00a0", " ")
	}
	shows(t, body(record.RunStatus{Next: now.Add(3 * time.Hour)}), ", in 3 h; has not run yet</li>")
	shows(t, body(record.RunStatus{Next: now.Add(-50 * time.Hour)}), ", 2 d ago, and has not completed since</span>; has not run yet</li>")
	shows(t, body(record.RunStatus{Next: now.Add(-time.Minute), Since: now.Add(-time.Minute)}), "<strong>quick</strong> runs for 1 min; has not run yet</li>")
	shows(t, body(record.RunStatus{Next: now.Add(-time.Minute), Waits: "the device is busy"}), "<strong>quick</strong> waits: the device is busy; has not run yet</li>")
	finished := &record.RunReport{Started: now.Add(-2 * time.Hour), Finished: now.Add(-2*time.Hour + 30*time.Second)}
	shows(t, body(record.RunStatus{Last: finished, Problem: "cut short"}), ", 1 h ago, took 30 s; cut short</li>")
	c := record.Comparison{Runs: 5, Verdict: record.Slower, Loads: []record.ComparedLoad{{
		Load: "mixed", Direction: record.Read, Before: 5, After: 1, Verdict: record.Slower, Figures: []record.ComparedFigure{{
			Statistic: record.IOPS, Before: 1000, After: 800, Best: 1010, Worst: 990, Slower: record.Interval{Value: 1.25}, Verdict: record.Slower,
		}},
	}}}
	shows(t, body(record.RunStatus{Last: finished, Comparison: &c}),
		`took 30 s<br><strong class="warn">slower than the 5 runs before it in 1 of 1 load, most of all mixed read IOPS, 25 % slower</strong>`+
			"<br>mixed read IOPS: 25 % slower than their median of 1 000 IOPS (1 010 IOPS to 990 IOPS)</li>")
	few := record.Comparison{Verdict: record.Inconclusive, Reason: "it takes 4 earlier runs"}
	shows(t, body(record.RunStatus{Last: finished, Comparison: &few}), "took 30 s<br>inconclusive: it takes 4 earlier runs</li>")
}

// A drive may report any bytes as its model, and a path may contain any name.
func TestPageShowsForeignTextAsText(t *testing.T) {
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(2)>` + "\u202e\u200b\x1b"
	o := options()
	o.Snapshot = func() record.Snapshot {
		s := recordtest.Snapshot()
		target := &s.Targets[0]
		target.ID, target.Path, target.Problem = "file:/"+evil, "/"+evil, evil
		target.Device.Model, target.Device.Serial = evil, "\x00\xff"+evil
		target.Conditions.Scheduler = evil
		target.Warnings = []record.Warning{{Code: evil, Text: evil}}
		target.Probes[0].Probe.Name = evil
		target.Probes[0].Last.Reason, target.Probes[0].Errors = evil, map[string]uint64{evil: 1}
		s.Node, s.Ignored[0].Reason, s.Collectors[1].Error = evil, evil, evil
		return s
	}
	body := pages(t, serve(t, o).URL)
	assert.Equal(t, 4, strings.Count(body, "<script"), "our own, of each page")
	hides(t, body, "<img")
	for _, r := range "\u202e\u200b\x1b\x00" {
		hides(t, body, string(r))
	}
	assert.Greater(t, strings.Count(body, "&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"), 9)
}

// shows fails without printing the whole page.
func shows(t *testing.T, page, text string) {
	t.Helper()
	if !strings.Contains(page, text) {
		t.Errorf("the page does not show %q", text)
	}
}

func hides(t *testing.T, page, text string) {
	t.Helper()
	if strings.Contains(page, text) {
		t.Errorf("the page shows %q", text)
	}
}

// Every warning appears next to the numbers that it is about.
func TestPageDoubtsTheNumbersThatMayBeWrong(t *testing.T) {
	o := options()
	o.Snapshot = func() record.Snapshot {
		s := recordtest.Snapshot()
		s.Targets = s.Targets[:1]
		s.Targets[0].Probes = s.Targets[0].Probes[:1]
		s.Targets[0].Probes[0].Last.Warnings = []record.Warning{{
			Code: record.WarnRepeatedBlocks, Text: "the same blocks were read again: the figures are the drive's cache's",
		}}
		return s
	}
	server := serve(t, o)
	overview := get(t, server.URL+"/").body
	assert.Equal(t, 3, strings.Count(overview, `<span class="doubt">⚠</span>`), "each of the three figures")
	assert.Equal(t, 1, strings.Count(overview, `<p class="small">⚠ repeated blocks: <bdi>/dev/nvme0n1</bdi></p>`), "and once why")
	body := devicePage(t, server.URL, recordtest.HealthyID)
	assert.Equal(t, 4, strings.Count(body, `<dd class="doubt">⚠ repeated blocks</dd>`), "each of the four figures")
	_, below, found := strings.Cut(body, `</dl>`)
	require.True(t, found)
	assert.True(t, strings.HasPrefix(strings.TrimSpace(below), `<p class="note warn"><strong>warning:</strong> the same blocks`), below[:200])
}

// Nobody hovers over a phone: what is wrong is text, and what is well takes no room.
func TestNothingIsToldByTooltipsAlone(t *testing.T) {
	o := options()
	o.Snapshot = func() record.Snapshot {
		s := recordtest.Snapshot()
		s.Host = &record.Judgement{Verdict: record.Healthy, Scope: record.ScopeHost, Since: s.Time.Add(-time.Hour)}
		for i := range s.Targets {
			if v := s.Targets[i].Verdict; v != nil && v.Verdict == record.Healthy {
				v.Since = s.Time.Add(-time.Hour)
			}
		}
		return s
	}
	server := serve(t, o)
	for _, path := range []string{"/", "/devices/" + recordtest.RegressedID} {
		assert.NotContains(t, get(t, server.URL+path).body, " title=", path)
	}
	body := get(t, server.URL+"/").body
	assert.Equal(t, 1, strings.Count(body, `class="why"`))
	assert.Contains(t, body, ` <span class="why">62 % slower (57 to 68 %) than before, since 12:04:11 UTC, by its probes</span></td>`)
	assert.Contains(t, body, `<p class="small">unknown, because the baseline is being learned: <bdi>/var/lib/ssdprobe/probe/data</bdi></p>`)
	assert.Contains(t, body, `<td data-name="verdict"><span class="badge good">healthy</span></td>`)
	assert.Contains(t, body, `<span>· host <span class="badge good">healthy</span></span></p>`)
}

// The pages say that all their times are UTC.
func TestThePagesShowNoLocalTimes(t *testing.T) {
	o := options()
	o.Snapshot = func() record.Snapshot {
		s := recordtest.Snapshot()
		s.Host = s.Targets[1].Verdict
		s.Targets[1].Verdict.Unjudged = &record.WhyUnjudged{Reason: record.ReasonBusy, Since: s.Time.Add(-time.Hour)}
		return s
	}
	body := html.UnescapeString(pages(t, serve(t, o).URL))
	shows(t, body, "when last compared, 12:02:11 UTC (")
	shows(t, body, "since 12:04:11 UTC, by its probes")
	assert.NotContains(t, body, "+02:00")
}
