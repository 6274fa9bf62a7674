package faulttest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// fault is something that goes wrong, is noticed, and is repaired.
type fault struct {
	name string
	// place is the faulty part; two faults at the same time have different places.
	place string
	// inject causes the fault, and returns how to repair it.
	inject func(t *testing.T) (mend func(t *testing.T))
	// noticed matches what the daemon logs about this fault and no other. It is empty if the daemon does not log the
	// fault and inject checks it itself.
	noticed string
	// over waits until no effect of the fault is left; it may be nil.
	over func(t *testing.T)
}

// soak is a daemon that is exposed to faults.
type soak struct {
	*daemon
	// raw is a device and worn a filesystem on a device, both with faults; calm is a directory without faults.
	raw           testenv.Loop
	rawID, wornID string
	calmID        string
	worn          filesystem
	configuration string
}

// soakTime returns how long to inject faults, from SSDPROBE_SOAK ("15m"). soakSeed returns the seed of their order, from
// SSDPROBE_SOAK_SEED.
func soakTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("SSDPROBE_SOAK")
	if text == "" {
		return 20 * time.Second
	}
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

func soakSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("SSDPROBE_SOAK_SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err)
	return seed
}

func startSoak(t *testing.T) *soak {
	t.Helper()
	const rawBytes = 64 << 20
	s := &soak{raw: testenv.LoopDevice(t, rawBytes, testenv.Options{Random: true})}
	s.worn.device = testenv.LoopDevice(t, 256<<20, testenv.Options{})
	s.worn.dir = testenv.Ext4On(t, s.worn.device)
	calm := testenv.OnDisk(t)
	s.wornID, s.calmID = fileID(s.worn.dir), fileID(calm)
	s.configuration = strings.NewReplacer(
		"devices: {enabled: false}", "devices: {include: [{name: "+filepath.Base(s.raw.Path)+"}]}",
		"timeout: 3s", "timeout: 20s", // four writes take that long only on a filesystem that hangs, whatever others write
	).Replace(onFiles(t, s.worn.dir, calm))
	// Nothing is learned, so that every message is about a fault.
	s.daemon = startDaemonWith(t, eager(), t.TempDir(), s.configuration+"drift: {baseline_rounds: 100000}\n")
	s.rawID = s.idOf(t, filepath.Base(s.raw.Path))
	for _, id := range []string{s.rawID, s.wornID, s.calmID} {
		s.awaitMore(t, id, "read-4k", "ok", 2)
	}
	return s
}

// Random faults, one or two at a time, in an order that depends on the seed. Each is noticed and passes, everything
// without a fault continues, and the daemon logs no other warning. At the end it uses no more resources than at the
// beginning.
func TestSoak(t *testing.T) {
	s := startSoak(t)
	before := s.use(t)
	started := len(s.Stderr.Text())
	scraping := s.keepScraping(t)

	seed := soakSeed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	var injected, toNotice, noticed []string
	end := time.Now().Add(soakTime(t))
	for first := true; first || time.Now().Before(end); first = false {
		faults := s.choose(random)
		skip := len(s.Stderr.Text())
		mends := make([]func(*testing.T), len(faults))
		for i, f := range faults {
			injected = append(injected, f.name)
			mends[i] = f.inject(t)
		}
		for _, f := range faults {
			if f.noticed != "" {
				s.Stderr.FindAfter(t, skip, f.noticed)
				toNotice = append(toNotice, f.name)
			}
		}
		s.awaitMore(t, s.calmID, "read-4k", "ok", 1)
		for i, f := range faults {
			mends[i](t)
			if f.over != nil {
				f.over(t)
			}
		}
		noticed = append(noticed, s.noticed(s.Stderr.Text()[skip:])...)
		s.complainsOnlyOf(t, skip, faults)
		if t.Failed() {
			break
		}
	}
	assert.ElementsMatch(t, toNotice, noticed, "what was noticed is what was injected")
	t.Logf("%d faults, in this order: %s", len(injected), strings.Join(injected, ", "))

	for _, id := range []string{s.rawID, s.wornID, s.calmID} {
		s.awaitUp(t, id, true)
		s.awaitMore(t, id, "read-4k", "ok", 2)
	}
	for _, collector := range []string{"state", "configuration", "discovery"} {
		s.awaitCollector(t, collector, true)
	}
	assert.Positive(t, scraping(), "a scrape was answered")
	s.assertNoGrowth(t, before)
	after := s.use(t)
	t.Logf("before %+v, after %+v, %d bytes of log", before, after, len(s.Stderr.Text())-started)
	s.stop(t)
	assert.Len(t, saved(t, s.state), 3)
}

// noticed returns the names of all faults, injected or not, that a part of the log reports.
func (s *soak) noticed(log string) []string {
	var names []string
	for _, f := range s.faults() {
		if f.noticed != "" && regexp.MustCompile(f.noticed).MatchString(log) {
			names = append(names, f.name)
		}
	}
	return names
}

// choose picks one fault, or two with different places.
func (s *soak) choose(random *rand.Rand) []fault {
	all := s.faults()
	chosen := []fault{all[random.IntN(len(all))]}
	second := all[random.IntN(len(all))]
	if random.IntN(3) == 0 && second.place != chosen[0].place && !together(chosen[0], second, forgets, unmounted) {
		chosen = append(chosen, second)
	}
	return chosen
}

// The daemon knows from the state where a filesystem belongs. If the state cannot be read while all watches are replaced,
// it cannot notice that the filesystem is not mounted.
const forgets, unmounted = "state cannot be saved", "filesystem unmounted"

// together reports whether two faults have the given names.
func together(a, b fault, x, y string) bool {
	return a.name == x && b.name == y || a.name == y && b.name == x
}

// keepScraping scrapes as Prometheus does until stop is called, which returns how often. It requires an answer to every
// scrape.
func (s *soak) keepScraping(t *testing.T) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	type result struct {
		answers int
		err     error
	}
	done := make(chan result, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{}, Timeout: patience}
		defer client.CloseIdleConnections()
		again := time.NewTicker(250 * time.Millisecond)
		defer again.Stop()
		var r result
		for {
			select {
			case <-ctx.Done():
				done <- r
				return
			case <-again.C:
			}
			switch err := gather(client, s.url+"metrics"); {
			case err == nil:
				r.answers++
			case !errors.Is(err, errAgain):
				r.err = errors.Join(r.err, err)
			}
		}
	}()
	return func() int {
		cancel()
		r := <-done
		assert.NoError(t, r.err, "metrics continue")
		return r.answers
	}
}

// stall matches what is said of any device below a target. The machine's disk may stall without an injected fault.
var stall = regexp.MustCompile(`msg="the device stall(s|ed): `)

var complaint = regexp.MustCompile(`(?m)^.*level=(WARN|ERROR) .*$`)

// complainsOnlyOf checks that all warnings after the first skip bytes of the log are about the given faults.
func (s *soak) complainsOnlyOf(t *testing.T, skip int, faults []fault) {
	t.Helper()
	about := map[string]*regexp.Regexp{
		"device":     regexp.MustCompile("device=" + filepath.Base(s.raw.Path) + " "),
		"filesystem": regexp.MustCompile(regexp.QuoteMeta(s.worn.dir)),
		"daemon":     regexp.MustCompile(`the new configuration is refused|stored state has a problem|not a directory`),
	}
	for _, line := range complaint.FindAllString(s.Stderr.Text()[skip:], -1) {
		explained := stall.MatchString(line) && !strings.Contains(line, s.rawID)
		for _, f := range faults {
			r := about[f.place]
			explained = explained || r != nil && r.MatchString(line)
		}
		assert.True(t, explained, "a complaint without a fault: %s", line)
	}
}
