package top

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// SignalError says that a signal ended the view.
type SignalError struct{ Signal syscall.Signal }

// Error returns the name of the signal.
func (e *SignalError) Error() string { return e.Signal.String() }

// escapeWait is how long to wait for more after a lone ESC before it counts as the key Escape.
const escapeWait = 50 * time.Millisecond

// ShowLive shows samples on a terminal until the user ends the view. It returns a *SignalError if a signal
// ended it, Ctrl-C included, or an error of the source or the terminal. It always restores the terminal.
func ShowLive(ctx context.Context, in, out *os.File, source *Source, view *View) (err error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGTSTP, unix.SIGWINCH)
	defer signal.Stop(signals)
	screen, err := OpenScreen(in, out, Coloured())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, screen.Close()) }() // also after a panic
	source.options.onPanic = func() { _ = screen.Close() }    // the panic matters more than this error

	// The caller's context ends on the same signals, but SignalError must name the signal.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	l := live{screen: screen, view: view, source: source, samples: make(chan Sample), typed: make(chan string), signals: signals}
	ended := make(chan error, 1)
	go l.run(ctx, ended)
	go l.read(ctx, in)
	return l.follow(ended)
}

// live is a view on a screen.
type live struct {
	screen *Screen
	view   *View
	source *Source

	samples chan Sample
	typed   chan string
	signals <-chan os.Signal
	rest    string // incomplete beginning of a key
}

// run produces samples.
func (l *live) run(ctx context.Context, ended chan<- error) {
	ended <- l.source.Run(ctx, func(s Sample) {
		select {
		case l.samples <- s:
		case <-ctx.Done():
		}
	})
}

// read sends what is typed. It runs until the process ends, because nothing else interrupts a read from a
// terminal.
func (l *live) read(ctx context.Context, in io.Reader) {
	defer l.source.guarded()
	defer close(l.typed)
	buffer := make([]byte, 256)
	for {
		n, err := in.Read(buffer)
		if err != nil {
			return
		}
		select {
		case l.typed <- string(buffer[:n]):
		case <-ctx.Done():
			return
		}
	}
}

// follow updates the view after each sample, key press and change of the terminal's size.
func (l *live) follow(ended <-chan error) error {
	for {
		if err := l.screen.Show(l.view.Lines(l.screen.Size())); err != nil {
			return err
		}
		var whole <-chan time.Time
		if l.rest != "" {
			whole = time.After(escapeWait)
		}
		select {
		case err := <-ended:
			return err
		case s := <-l.samples:
			l.view.Add(s)
		case <-whole:
			l.rest = ""
			l.view.Press(KeyEscape)
		case text, more := <-l.typed:
			if !more { // the terminal is gone
				return &SignalError{unix.SIGHUP}
			}
			if done, err := l.press(text); done || err != nil {
				return err
			}
		case s := <-l.signals:
			if err := l.signalled(s.(syscall.Signal)); err != nil {
				return err
			}
		}
	}
}

// press handles typed text, and reports whether that ends the view.
func (l *live) press(text string) (done bool, err error) {
	var pressed []Key
	pressed, l.rest = keys(l.rest + text)
	for _, k := range pressed {
		switch l.view.Press(k) {
		case Quit:
			return true, nil
		case Interrupt:
			return true, &SignalError{unix.SIGINT}
		case Suspend:
			err = l.suspend()
		case Redraw:
			err = l.screen.Clear()
		case Nothing:
		}
		if err != nil {
			return true, err
		}
	}
	l.source.ShowAll(l.view.All)
	return false, nil
}

func (l *live) signalled(s syscall.Signal) error {
	switch s {
	case unix.SIGWINCH:
		return l.screen.Clear()
	case unix.SIGTSTP:
		return l.suspend()
	default:
		return &SignalError{s}
	}
}

// suspend gives back the terminal and stops the process until somebody continues it.
func (l *live) suspend() error {
	if err := l.screen.Close(); err != nil {
		return err
	}
	if err := unix.Kill(unix.Getpid(), unix.SIGSTOP); err != nil {
		return err
	}
	return l.screen.Resume()
}
