package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/target"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// fioRun is the result and the resource use of one run of fio.
type fioRun struct {
	read    fio.Direction // of all jobs together
	latency fio.Histogram
	cpu     time.Duration
}

// runFio runs fio on a job that only reads.
func runFio(ctx context.Context, stdin string, args ...string) (fioRun, error) {
	c := exec.CommandContext(ctx, "fio", append([]string{"--output-format=json+", "--readonly"}, args...)...)
	c.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return fioRun{}, unreachableError{"fio is not installed"}
	} else if err != nil {
		return fioRun{}, fmt.Errorf("run fio: %w: %s", err, stderr.String())
	}
	result, err := fio.ParseOutput(bytes.NewReader(out))
	if err != nil {
		return fioRun{}, err
	}
	r := fioRun{cpu: c.ProcessState.UserTime() + c.ProcessState.SystemTime()}
	for _, job := range result.Jobs {
		if job.Read == nil {
			return r, fmt.Errorf("fio's job %s read nothing", job.Name)
		}
		r.read.IOs += job.Read.IOs
		r.read.IOPS += job.Read.IOPS
		r.latency = r.latency.Merge(job.Read.Completion.Histogram)
	}
	return r, nil
}

// onData returns the arguments for the part of a probe file that holds data.
func onData(file *target.File) []string {
	start, length := file.Data()
	return []string{
		"--filename=" + file.Path(), "--offset=" + strconv.FormatInt(start, 10), "--size=" + strconv.FormatInt(length, 10),
		"--direct=1", "--rw=randread", "--bs=4k",
	}
}

// readByFio reads ios random blocks of 4 KiB of the file's data, as read-4k does.
func readByFio(ctx context.Context, file *target.File, ios int64) (fioRun, error) {
	r, err := runFio(ctx, "", append([]string{
		"--name=read-4k", "--ioengine=psync", "--iodepth=1", "--number_ios=" + strconv.FormatInt(ios, 10),
	}, onData(file)...)...)
	if err == nil && r.read.IOs != ios {
		err = fmt.Errorf("fio did not read %d blocks", ios)
	}
	return r, err
}
