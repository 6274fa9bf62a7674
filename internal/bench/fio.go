package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/target"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// fioRun is what one start of fio measured and used.
type fioRun struct {
	latency fio.Histogram
	cpu     time.Duration
}

// runFio reads ios random blocks of 4 KiB of the file's data, as read-4k does.
func runFio(ctx context.Context, file *target.File, ios int64) (fioRun, error) {
	start, length := file.Data()
	c := exec.CommandContext(ctx, "fio", "--name=read-4k", "--filename="+file.Path(), "--readonly",
		"--ioengine=psync", "--direct=1", "--rw=randread", "--bs=4k", "--iodepth=1",
		"--offset="+strconv.FormatInt(start, 10), "--size="+strconv.FormatInt(length, 10),
		"--number_ios="+strconv.FormatInt(ios, 10), "--output-format=json+")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return fioRun{}, fmt.Errorf("run fio: %w: %s", err, stderr.String())
	}
	result, err := fio.ParseOutput(bytes.NewReader(out))
	if err != nil {
		return fioRun{}, err
	}
	if len(result.Jobs) != 1 || result.Jobs[0].Read == nil || result.Jobs[0].Read.IOs != ios {
		return fioRun{}, fmt.Errorf("fio did not read %d blocks", ios)
	}
	return fioRun{
		latency: result.Jobs[0].Read.Completion.Histogram,
		cpu:     c.ProcessState.UserTime() + c.ProcessState.SystemTime(),
	}, nil
}
