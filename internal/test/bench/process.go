package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/target"
)

// process is a running exporter: a daemon of ssdprobe, or node_exporter.
type process struct {
	cmd    *exec.Cmd
	url    string // of its metrics
	output *bytes.Buffer
	client *http.Client
	// ready is how long the start took until the first answer.
	ready time.Duration
}

const (
	// startPatience is how long an exporter may take to be ready.
	startPatience = time.Minute
	startLook     = 2 * time.Millisecond
)

// startExporter starts a program that listens on a free port, and waits until readyPath answers with 200.
func startExporter(ctx context.Context, readyPath string, command func(address string) *exec.Cmd) (*process, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: command(address), url: "http://" + address + "/metrics", output: new(bytes.Buffer), client: &http.Client{Transport: &http.Transport{}}}
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	begun := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	again := time.NewTicker(startLook)
	defer again.Stop()
	for {
		if err = p.get(ctx, "http://"+address+readyPath, new(bytes.Buffer)); err == nil {
			p.ready = time.Since(begun)
			return p, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("start %s: %w", p.cmd, err), p.stop())
		case <-again.C:
		}
	}
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// cpu returns the CPU time of the process so far, as the scheduler counts it. On many kernels /proc
// and the metrics count the clock ticks that hit the process. That is too high for a process that
// timers wake, because they come with a tick.
func (p *process) cpu() (time.Duration, error) {
	const scheduler = 2                               // CPUCLOCK_SCHED
	clock := int32(^p.cmd.Process.Pid)<<3 | scheduler //nolint:gosec // a process number has 22 bits; clock_getcpuclockid(3) makes it so
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0, fmt.Errorf("read the CPU time of process %d: %w", p.cmd.Process.Pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// stop ends the process as systemd does.
func (p *process) stop() error {
	p.client.CloseIdleConnections()
	if err := p.cmd.Process.Signal(unix.SIGTERM); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := p.cmd.Wait(); errors.As(err, &exit) && exit.Sys().(interface{ Signaled() bool }).Signaled() {
		return nil // node_exporter does not catch the signal
	} else if err != nil {
		return fmt.Errorf("stop %s: %w: %s", p.cmd, err, p.output)
	}
	return nil
}

// get reads the answer of an address into body, replacing its content.
func (p *process) get(ctx context.Context, address string, body *bytes.Buffer) error {
	body.Reset()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = body.ReadFrom(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", address, response.Status)
	}
	return err
}

// sample is one scrape: the values by series, as they are written.
type sample map[string]float64

func (p *process) scrape(ctx context.Context) (sample, error) {
	s, _, err := p.timedScrape(ctx)
	return s, err
}

// timedScrape scrapes once, and also returns how long the answer took.
func (p *process) timedScrape(ctx context.Context) (s sample, took time.Duration, err error) {
	var body bytes.Buffer
	begun := time.Now()
	if err := p.get(ctx, p.url, &body); err != nil {
		return nil, 0, err
	}
	took = time.Since(begun)
	s = sample{}
	lines := bufio.NewScanner(&body)
	for lines.Scan() {
		text := lines.Text()
		i := strings.LastIndexByte(text, ' ')
		if i < 0 || strings.HasPrefix(text, "#") {
			continue
		}
		if s[text[:i]], err = strconv.ParseFloat(text[i+1:], 64); err != nil {
			return nil, took, fmt.Errorf("scrape %s: %w", p.url, err)
		}
	}
	return s, took, lines.Err()
}

// with adds up the series whose names begin with prefix and contain all texts, and counts them.
func (s sample) with(prefix string, texts ...string) (sum float64, count int) {
series:
	for name, value := range s {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		for _, text := range texts {
			if !strings.Contains(name, text) {
				continue series
			}
		}
		sum += value
		count++
	}
	return sum, count
}

// startDaemon starts an ssdprobe daemon with its own state directory and locks.
func (b *bench) startDaemon(ctx context.Context, name, configuration string) (*process, error) {
	dir := filepath.Join(b.work, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "ssdprobe.yaml")
	configuration = "devices: {enabled: false}\nlock_dir: " + filepath.Join(dir, "locks") + "\n" + configuration
	if err := os.WriteFile(path, []byte(configuration), 0o600); err != nil {
		return nil, err
	}
	return startExporter(ctx, "/-/ready", func(address string) *exec.Cmd {
		return exec.CommandContext(ctx, b.binary, "daemon", "--config", path, "--state-dir", filepath.Join(dir, "state"), "--web.listen-address", address)
	})
}

// startNodeExporter starts the node_exporter of the distribution, with its defaults except for the arguments.
func startNodeExporter(ctx context.Context, arguments ...string) (*process, error) {
	path, err := exec.LookPath("prometheus-node-exporter")
	if err != nil {
		return nil, unreachableError{"prometheus-node-exporter is not installed: scripts/install.sh prometheus-node-exporter"}
	}
	return startExporter(ctx, "/metrics", func(address string) *exec.Cmd {
		return exec.CommandContext(ctx, path, append(arguments, "--web.listen-address="+address)...)
	})
}

// targets returns n targets on the drive for a configuration.
func (b *bench) targets(ctx context.Context, n int) (string, error) {
	return targetsIn(ctx, b.work, n)
}

// targetsIn returns n targets for a configuration: paths below parent that are hard links to one
// probe file of 16 MiB, so that 256 of them fit anywhere. The daemon identifies them by their paths.
func targetsIn(ctx context.Context, parent string, n int) (string, error) {
	one := filepath.Join(parent, "one")
	if err := os.MkdirAll(one, 0o700); err != nil {
		return "", err
	}
	file, err := target.PrepareFile(ctx, one, target.FileOptions{SizeBytes: record.MinProbeFileBytes})
	if err != nil {
		return "", err
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString("files:\n")
	for i := range n {
		dir := filepath.Join(parent, "targets", strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		if err := os.Link(file.Path(), filepath.Join(dir, record.ProbeFileName)); err != nil && !errors.Is(err, os.ErrExist) {
			return "", err
		}
		fmt.Fprintf(&text, "  - {path: %s, size: 16MiB}\n", dir)
	}
	return text.String(), nil
}

// pause waits for d, and returns the cause if ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	schedule.Pause(ctx, d)
	return context.Cause(ctx)
}
