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

// SignalError says that a signal ended it.
type SignalError struct{ Signal syscall.Signal }

// Error names the signal.
func (e *SignalError) Error() string { return e.Signal.String() }

// escapeWait is how long the rest of a key may take that begins as Escape does.
const escapeWait = 50 * time.Millisecond

// ShowLive shows samples on a terminal until the user ends it. Errors: *SignalError when a signal does, Ctrl-C included,
// and those of the source and the terminal, which is as it was before in any case.
func ShowLive(ctx context.Context, in, out *os.File, source *Source, view *View) (err error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGTSTP, unix.SIGWINCH)
	defer signal.Stop(signals)
	screen, err := OpenScreen(in, out, Coloured())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, screen.Close()) }() // after a panic, too
	source.options.onPanic = func() { _ = screen.Close() }    // the panic is what counts

	// Signals end it by name, so the context of the command, which they end as well, does not.
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
	rest    string // of what was typed: the beginning of a key
}

// run makes samples.
func (l *live) run(ctx context.Context, ended chan<- error) {
	ended <- l.source.Run(ctx, func(s Sample) {
		select {
		case l.samples <- s:
		case <-ctx.Done():
		}
	})
}

// read sends what is typed. It ends with the process: nothing else ends a read of a terminal.
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

// follow shows the view again after each sample, key and change of the size.
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

// press does what was typed, and reports whether that ends it.
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

// suspend gives the terminal to others until somebody continues the process.
func (l *live) suspend() error {
	if err := l.screen.Close(); err != nil {
		return err
	}
	if err := unix.Kill(unix.Getpid(), unix.SIGSTOP); err != nil {
		return err
	}
	return l.screen.Resume()
}
