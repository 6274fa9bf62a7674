package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Machine is a running machine. It is safe for concurrent use.
type Machine struct {
	options    Options
	drives     []*drive
	hypervisor *hypervisor
	console    *console

	monitorLine, agentLine net.Conn
	monitor                *qmp

	addresses map[int]string // of forwarded ports
	bootTime  time.Duration

	changing sync.Mutex // held during changes from outside: drives and resets

	mu      sync.Mutex
	guest   *guest     // of this boot
	started []*Process // all processes, in order
}

// Start boots a machine, which ends with the test. When the test fails, the console is in its log.
func Start(t testing.TB, options Options) *Machine {
	t.Helper()
	begun := time.Now()
	m, err := boot(t.Context(), options)
	if err != nil {
		t.Fatalf("laboratory: %v", err)
	}
	t.Cleanup(func() {
		if err := m.close(); err != nil {
			t.Errorf("laboratory: %v", err)
		}
		if t.Failed() {
			t.Logf("laboratory's console:\n%s", m.console)
		}
		t.Logf("laboratory: booted in %v, ended after %v", m.bootTime.Round(time.Millisecond),
			time.Since(begun).Round(time.Millisecond))
	})
	return m
}

func boot(ctx context.Context, options Options) (*Machine, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	tools, err := locate()
	if err != nil {
		return nil, err
	}
	h, err := describe(options, tools)
	defer h.closeFiles()
	if err != nil {
		return nil, err
	}
	m := &Machine{options: options, drives: h.drives, console: &console{}}
	begun := time.Now()
	err = m.powerOn(h, tools.qemu)
	if err == nil {
		err = m.comeUp(ctx)
	}
	if err != nil {
		return nil, m.console.with(errors.Join(err, m.close()))
	}
	m.bootTime = time.Since(begun)
	return m, nil
}

func (m *Machine) powerOn(h *hardware, program string) error {
	monitorLine, monitorEnd, err := line("monitor")
	if err != nil {
		return err
	}
	m.monitorLine = monitorLine
	agentLine, agentEnd, err := line("agent")
	if err != nil {
		return errors.Join(err, monitorEnd.Close())
	}
	m.agentLine = agentLine
	if err := h.addLines(monitorEnd, agentEnd); err != nil {
		return err
	}
	m.hypervisor, err = startHypervisor(program, h.args, h.files, nil, m.console, m.console)
	h.closeFiles() // then only QEMU holds its ends, so that its exit closes them
	return err
}

// comeUp waits until the machine is usable.
func (m *Machine) comeUp(ctx context.Context) error {
	ctx, cancel := m.bootContext(ctx)
	defer cancel()
	var err error
	if m.monitor, err = openQMP(ctx, m.monitorLine); err != nil {
		return m.explain(ctx, err)
	}
	if m.addresses, err = m.monitor.forwardedPorts(ctx); err != nil {
		return m.explain(ctx, err)
	}
	if err := m.announceThrottling(); err != nil {
		return m.explain(ctx, err)
	}
	return m.greet(ctx)
}

// greet waits for the agent and for the drives.
func (m *Machine) greet(ctx context.Context) error {
	g, err := openGuest(ctx, m.agentLine)
	if err != nil {
		return m.explain(ctx, err)
	}
	m.mu.Lock()
	m.guest = g
	m.mu.Unlock()
	for _, d := range m.drives {
		if !d.plugged {
			continue
		}
		if _, err := m.find(ctx, d); err != nil {
			return err
		}
	}
	return m.admitIdentifiers(ctx)
}

func (m *Machine) bootContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, m.options.BootTimeout,
		fmt.Errorf("machine is not up after %v: %w", m.options.BootTimeout, context.DeadlineExceeded))
}

// close ends QEMU and all connections.
func (m *Machine) close() error {
	var err error
	if m.hypervisor != nil {
		err = m.hypervisor.kill()
	}
	for _, line := range []net.Conn{m.monitorLine, m.agentLine} {
		if line != nil {
			err = errors.Join(err, line.Close())
		}
	}
	return err
}

// explain adds how the machine ended to an error that is caused by its end.
func (m *Machine) explain(ctx context.Context, err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) &&
		!errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, os.ErrClosed) {
		return err
	}
	select {
	case <-m.hypervisor.done:
		if m.hypervisor.err == nil {
			return fmt.Errorf("machine was switched off: %w", err)
		}
		return fmt.Errorf("machine has ended: QEMU: %w: %w", m.hypervisor.err, err)
	case <-ctx.Done():
		return err
	}
}

// Addr returns the address on this host of a port in Options.ForwardPorts. The server in the guest
// has to listen on all addresses, or on 10.0.2.15. It panics for another port.
func (m *Machine) Addr(port int) string {
	address, ok := m.addresses[port]
	if !ok {
		panic(fmt.Sprintf("lab: port %d is not forwarded", port))
	}
	return address
}

// Kernel returns the release of the guest's kernel.
func (m *Machine) Kernel() string { return m.current().kernel }

// BootTime returns how long it took from the start of QEMU until the guest and all its drives were usable.
func (m *Machine) BootTime() time.Duration { return m.bootTime }

// Console returns what the guest's kernel, its agent and QEMU have written so far.
func (m *Machine) Console() string { return m.console.String() }

func (m *Machine) current() *guest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.guest
}
