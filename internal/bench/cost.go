package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// roundIOs is the size of a round of read-4k; costRounds of them are timed
// together, as the CPU time of a single one is too short to be read exactly.
const (
	roundIOs   = 256
	costRounds = 40
)

// compareCost sets the CPU time of a round, all included, against that of
// starting fio for as many I/Os.
func compareCost(ctx context.Context, b *bench) ([]line, error) {
	prober, err := newProber(b.file)
	if err != nil {
		return nil, err
	}
	var shares []float64
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
		theirs, err := readByFio(ctx, b.file, roundIOs)
		if err != nil {
			return nil, err
		}
		shares = append(shares, seconds(after-before)/costRounds/seconds(theirs.cpu))
	}
	return []line{newLine("CPU time of a round of 256 I/Os", "starting fio for it", "ratio", atMost(1.0/30), shares...)}, nil
}

// ownCPU is the CPU time of this process so far, user and system.
func ownCPU() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("read the CPU time used: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
