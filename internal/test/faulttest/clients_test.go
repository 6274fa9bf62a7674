package faulttest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// watched starts a daemon for the clients, and returns its resource use before they connect.
func watched(t *testing.T) (*daemon, string, use) {
	t.Helper()
	dir := testenv.OnDisk(t)
	d := startDaemonWith(t, eager(), t.TempDir(), onFiles(t, dir))
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)
	return d, fileID(dir), d.use(t)
}

// address is where a daemon listens.
func (d *daemon) address(t *testing.T) string {
	t.Helper()
	parsed, err := url.Parse(d.url)
	require.NoError(t, err)
	return parsed.Host
}

// crowdTime returns how long a crowd of clients stays at least: a minute in a soak.
func crowdTime() time.Duration {
	if os.Getenv("SSDPROBE_SOAK") == "" {
		return 0
	}
	return time.Minute
}

// 200 scrapers at once, each with a connection of its own. Every answer is complete or a refusal,
// each scraper gets its answers, and probing continues.
func TestParallelScrapers(t *testing.T) {
	t.Parallel()
	const scrapers, answers = 200, 2
	d, id, before := watched(t)
	// Hundreds of answers need many waits: with other packages on two CPUs they take a minute.
	ctx, cancel := context.WithTimeout(t.Context(), crowdTime()+3*patience)
	defer cancel()
	start := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for range scrapers {
		group.Go(func() error {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			again := time.NewTicker(time.Second)
			defer again.Stop()
			for got := 0; got < answers || time.Since(start) < crowdTime(); {
				whole, err := scrapeOnce(ctx, client, d.url+"metrics")
				switch {
				case err != nil:
					return err
				case whole:
					got++
				default: // refused; a scraper that retries at once is not refused for long
					<-again.C
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	d.awaitMore(t, id, "read-4k", "ok", 2)
	d.assertNoGrowth(t, before)
	d.stop(t)
}

// answerTime is the server's time limit for sending an answer; on a busy machine that may be too short for a crowd.
const answerTime = 10 * time.Second

// scrapeOnce reports whether the answer was complete; false means a refusal because of too many
// requests, or a timeout.
func scrapeOnce(ctx context.Context, client *http.Client, address string) (whole bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return false, err
	}
	asked := time.Now()
	late := func(err error) error {
		if (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) && time.Since(asked) >= answerTime {
			return nil
		}
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return false, late(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return false, late(err)
	case response.StatusCode == http.StatusServiceUnavailable:
		return false, nil
	case response.StatusCode != http.StatusOK:
		return false, fmt.Errorf("%s: %s", response.Status, body)
	case len(body) == 0 || body[len(body)-1] != '\n':
		return false, errors.New("half an answer")
	}
	return true, nil
}

// dial opens a connection with a small buffer, so that a client that does not read blocks the server's writes.
func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	require.NoError(t, c.(*net.TCPConn).SetReadBuffer(4096))
	return c
}

// 100 clients request everything, several times over one connection, and read nothing.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	const readers = 100
	d, id, before := watched(t)
	open := make([]net.Conn, readers)
	for i := range open {
		c := dial(t, d.address(t))
		open[i] = c
		for range 8 {
			_, err := io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\nGET /api/v1/snapshot HTTP/1.1\r\nHost: x\r\n\r\n")
			require.NoError(t, err)
		}
	}
	d.awaitMore(t, id, "read-4k", "ok", 3)
	for _, c := range open {
		require.NoError(t, c.Close())
	}
	d.assertNoGrowth(t, before)
	d.stop(t)
}

// 10 000 connections without a complete request, half a request on every other one: a scraper is still answered.
func TestHalfOpenConnections(t *testing.T) {
	t.Parallel()
	const connections, spare = 10_000, 1000
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	n := min(connections, int(limit.Cur)-spare)
	require.Greater(t, n, 100, "the limit of open files is too low")
	if n < connections {
		t.Logf("only %d connections: the limit of open files is %d", n, limit.Cur)
	}
	d, id, before := watched(t)
	scraper := &http.Client{Transport: &http.Transport{}, Timeout: 30 * time.Second}
	address := d.address(t)
	open := make([]net.Conn, 0, n)
	for i := range n {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		require.NoError(t, err)
		open = append(open, c)
		if i%2 == 0 {
			_, _ = io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: ") // it may be cut off already
		}
		if i%500 == 0 {
			err := gather(scraper, d.url+"metrics")
			require.NoError(t, err, "with %d connections open", i)
		}
	}
	during := d.scrape(t)
	assert.Less(t, during.of(t, "process_open_fds", nil), 400.0, "they are bounded: 256 connections, and what a daemon has open")
	d.awaitMore(t, id, "read-4k", "ok", 2)
	for _, c := range open {
		require.NoError(t, c.Close())
	}
	scraper.CloseIdleConnections()
	d.assertNoGrowth(t, before)
	d.stop(t)
}
