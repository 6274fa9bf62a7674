package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/target"
)

// roundIOs is the size of a round of read-4k; costRounds of them are timed together,
// because the CPU time of a single one is too short to be measured exactly.
const (
	roundIOs   = 256
	costRounds = 40
)

// compareCost compares the total CPU time of a round with that of a run of fio with as many
// I/Os: on the drive, and on a disk in memory, where the drive's driver takes no part.
func compareCost(ctx context.Context, b *bench) ([]line, error) {
	const what = "CPU time of a round of 256 I/Os"
	lines, err := b.costOn(ctx, b.file, what)
	if err != nil {
		return nil, err
	}
	more, err := b.onMemoryDisk(ctx, func(_ *memoryDisk, file *target.File) ([]line, error) {
		return b.costOn(ctx, file, what+" on a disk in memory")
	})
	return append(lines, more...), err
}

func (b *bench) costOn(ctx context.Context, file *target.File, what string) ([]line, error) {
	prober, err := newProber(file)
	if err != nil {
		return nil, err
	}
	var shares, bare []float64
	for range b.pairs {
		before, err := ownCPU()
		if err != nil {
			return nil, err
		}
		if _, err := rounds(ctx, prober, costRounds*roundIOs); err != nil {
			return nil, err
		}
		after, err := ownCPU()
		if err != nil {
			return nil, err
		}
		barely, err := bareReads(ctx, file, costRounds*roundIOs)
		if err != nil {
			return nil, err
		}
		theirs, err := readByFio(ctx, file, roundIOs)
		if err != nil {
			return nil, err
		}
		shares = append(shares, seconds(after-before)/costRounds/seconds(theirs.cpu))
		bare = append(bare, seconds(after-before)/seconds(barely))
	}
	return []line{
		newLine(what, "starting fio for it", "ratio", atMost(1.0/30), shares...),
		newLine(what, "256 bare preads", "ratio", shown(), bare...),
	}, nil
}

// bareReads returns the CPU time of as many reads of 4 KiB by one thread that does nothing
// else. That is the kernel's cost, a lower bound for any reader.
func bareReads(ctx context.Context, file *target.File, ios int) (used time.Duration, err error) {
	fd, err := unix.Open(file.Path(), unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", file.Path(), err)
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	buffer, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_POPULATE)
	if err != nil {
		return 0, fmt.Errorf("map a buffer: %w", err)
	}
	defer func() { err = errors.Join(err, unix.Munmap(buffer)) }()
	start, length := file.Data()
	before, err := ownCPU()
	if err != nil {
		return 0, err
	}
	for range ios {
		if _, err := unix.Pread(fd, buffer, start+rand.Int64N(length/4096)*4096); err != nil { //nolint:gosec // where to read is no secret
			return 0, fmt.Errorf("read %s: %w", file.Path(), err)
		}
	}
	after, err := ownCPU()
	return after - before, errors.Join(err, ctx.Err())
}

// ownCPU returns the CPU time of this process so far, user and system.
func ownCPU() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("read the CPU time used: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
