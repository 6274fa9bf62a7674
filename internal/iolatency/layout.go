package iolatency

import (
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// The sizes in bpf/iolatency.bpf.c; TestLayout compares them with those of the compiled programs.
const (
	slots      = 64 // devices that can be followed at once
	table      = 256
	chain      = 8 // number of places in the table where a device may be
	maxStripes = 16

	operations = 4
	stages     = 2
	misses     = 5

	watchedBytes   = 32
	histogramBytes = 8 + 4*record.IOBuckets
	slotBytes      = operations * stages * histogramBytes
	controlBytes   = 24 + 8*misses
	slowBytes      = 72
)

// Offsets of the fields.
const (
	atNumber, atPaused, atWatch, atSlow, atLeft = 0, 8, 12, 16, 24 // in a device's entry; its slot follows its number
	atBios, atNames, atUntold, atMissed         = 4, 8, 16, 24     // in struct control
)

// kernelOperations lists the operations in the order of the programs, as kernelStages and kernelMisses do for
// theirs.
func kernelOperations() [operations]record.Operation {
	return [...]record.Operation{record.OperationRead, record.OperationWrite, record.OperationDiscard, record.OperationFlush}
}

func kernelStages() [stages]record.IOStage {
	return [...]record.IOStage{record.StageQueue, record.StageDevice}
}

func kernelMisses() [misses]record.IOMiss {
	return [...]record.IOMiss{record.MissRoom, record.MissReplaced, record.MissNotBegun, record.MissNotIssued, record.MissNotEnded}
}
