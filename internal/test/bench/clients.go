package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// slowReaders request everything and read nothing; idleClients connect and request nothing.
	slowReaders, idleClients = 256, 1000
	// slowReaderTime is how long the slow readers stay: longer than a client may take to read an answer.
	slowReaderTime = 40 * time.Second
)

// compareClients measures how a daemon with 256 targets copes with misbehaving clients.
func compareClients(ctx context.Context, b *bench) (lines []line, err error) {
	p, err := b.startMeasured(ctx, "clients", 256)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	p.client.Transport = &http.Transport{DisableKeepAlives: true} // each request uses a new connection
	memory, waits, err := p.besideSlowReaders(ctx)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d slow readers, 256 targets: ", slowReaders)
	lines = []line{
		newLine(what+"peak resident memory", "", "MiB", atMost(256), memory),
		newLine(what+"wait for a scrape", "", "s", shown(), waits...),
		newLine(what+"longest wait for a scrape", "", "s", shown(), slices.Max(waits)),
	}
	open, err := p.connect(ctx, idleClients)
	if err != nil {
		return nil, err
	}
	defer closeAll(open)
	waits = nil
	for range 100 {
		wait, err := p.waitFor(ctx, "/-/healthy")
		if err != nil {
			return nil, err
		}
		waits = append(waits, wait)
	}
	l := newLine(fmt.Sprintf("/-/healthy beside %d idle connections", idleClients), "", "s", shown(), waits...)
	return append(lines, l, newLine(l.What+": longest", "", "s", atMost(1), slices.Max(waits))), nil
}

// besideSlowReaders returns the peak of the process's resident memory in MiB, while slow readers request
// metrics and the snapshot, and how long a scraper beside them waits for complete answers, in seconds.
func (p *process) besideSlowReaders(ctx context.Context) (memory float64, waits []float64, err error) {
	if err := os.WriteFile(p.proc("clear_refs"), []byte("5"), 0); err != nil { // forget the earlier peak
		return 0, nil, err
	}
	for end := time.Now().Add(slowReaderTime); time.Now().Before(end); {
		open, err := p.connect(ctx, slowReaders, "GET /metrics HTTP/1.1\r\nHost: bench\r\n\r\n", "GET /api/v1/snapshot HTTP/1.1\r\nHost: bench\r\n\r\n")
		if err != nil {
			return 0, nil, err
		}
		for range 5 {
			wait, err := p.waitFor(ctx, "/metrics")
			if err == nil {
				waits = append(waits, wait)
				err = pause(ctx, time.Second)
			}
			if err != nil {
				closeAll(open)
				return 0, nil, err
			}
		}
		closeAll(open)
	}
	memory, err = p.peakMiB()
	return memory, waits, err
}

// waitFor retries until an answer is complete, and returns how long that took, in seconds.
func (p *process) waitFor(ctx context.Context, path string) (float64, error) {
	address, err := url.JoinPath(p.url, "..", path)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var body bytes.Buffer
	begun := time.Now()
	for {
		err := p.get(ctx, address, &body)
		if err == nil {
			return seconds(time.Since(begun)), nil
		}
		if pause(ctx, 10*time.Millisecond) != nil {
			return 0, fmt.Errorf("no answer within %v: %w", time.Since(begun), err)
		}
	}
}

// connect opens connections with small buffers, sends one of the requests on each, in turn, and reads nothing.
func (p *process) connect(ctx context.Context, n int, requests ...string) (open []net.Conn, err error) {
	parsed, err := url.Parse(p.url)
	if err != nil {
		return nil, err
	}
	for i := range n {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", parsed.Host)
		if err != nil {
			closeAll(open)
			return nil, err
		}
		open = append(open, c)
		_ = c.(*net.TCPConn).SetReadBuffer(4096)
		if len(requests) > 0 {
			_, _ = io.WriteString(c, requests[i%len(requests)]) // it may be cut off already
		}
	}
	return open, nil
}

func closeAll(open []net.Conn) {
	for _, c := range open {
		_ = c.Close()
	}
}

func (p *process) proc(name string) string {
	return fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, name)
}

// peakMiB returns the peak memory of the process in MiB since the peak was last cleared.
func (p *process) peakMiB() (float64, error) {
	status, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return 0, err
	}
	for l := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(l, "VmHWM:"); ok {
			n, err := strconv.ParseFloat(strings.Fields(kib)[0], 64)
			return n / 1024, err
		}
	}
	return 0, errors.New(p.proc("status") + " has no VmHWM")
}
