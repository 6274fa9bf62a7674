package fiorun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/tool"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

var (
	// ErrNotInstalled says that fio is not installed.
	ErrNotInstalled = errors.New(
		"fio is not installed: install version 3.28 or later (apt install fio, dnf install fio, zypper install fio, apk add fio)")
	// ErrTooOld says that the installed fio is too old to be supported.
	ErrTooOld = errors.New("version 3.28 or later is needed: install a newer one from your distribution or https://github.com/axboe/fio")
	// ErrEngine says that an I/O engine cannot be used here.
	ErrEngine = errors.New("this I/O engine cannot be used here")
)

// Binary is an installed fio of a supported version.
type Binary struct {
	Path    string
	Version fio.Version
}

// Find looks for fio in PATH and determines its version. Errors: ErrNotInstalled, ErrTooOld.
func Find(ctx context.Context) (Binary, error) { return At(ctx, "fio") }

// At is like Find for the fio at path, or for one of that name in PATH.
func At(ctx context.Context, path string) (Binary, error) {
	found, err := exec.LookPath(path)
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, syscall.ENOENT):
		return Binary{}, fmt.Errorf("find %s: %w", path, ErrNotInstalled)
	case err != nil:
		return Binary{}, fmt.Errorf("find fio: %w", err)
	}
	if found, err = filepath.Abs(found); err != nil { // fio is started in another directory
		return Binary{}, fmt.Errorf("find fio: %w", err)
	}
	answer, err := ask(ctx, found, "--version")
	if err != nil {
		return Binary{}, err
	}
	line, _, _ := bytes.Cut(answer, []byte("\n"))
	version, err := fio.ParseVersion(string(line))
	if err != nil {
		return Binary{}, fmt.Errorf("ask %s for its version: %w", found, err)
	}
	if version.Less(fio.Version{Major: 3, Minor: 28}) {
		return Binary{}, fmt.Errorf("%s is %s: %w", found, version, ErrTooOld)
	}
	return Binary{Path: found, Version: version}, nil
}

// answer runs fio with what it answers at once, or as soon as a busy host has loaded the program.
func answer(ctx context.Context, path string, args []string, files ...*os.File) (tool.Answer, error) {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %v", patience))
	defer cancel()
	return tool.Ask(ctx, path, args, files...)
}

// ask returns what fio answers to a question.
func ask(ctx context.Context, path, question string) ([]byte, error) {
	answer, err := answer(ctx, path, []string{question})
	if err == nil && answer.ExitCode != 0 {
		said := head{data: answer.Stderr}
		err = fmt.Errorf("exit status %d%s", answer.ExitCode, said.note())
	}
	if err != nil {
		return nil, fmt.Errorf("run %s %s: %w", path, question, err)
	}
	return answer.Stdout, nil
}
