package iolatency

import (
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// The sizes of bpf/iolatency.bpf.c; TestLayout compares them with those of the compiled programs.
const (
	slots      = 64 // devices that can be followed at once
	table      = 256
	chain      = 8 // places of the table where a device may be
	maxStripes = 16

	operations = 4
	stages     = 2

	watchedBytes   = 24
	histogramBytes = 8 + 4*record.IOBuckets
	slotBytes      = operations * stages * histogramBytes
	controlBytes   = 16
)

// Where the fields are.
const (
	atNumber, atSlot, atPaused, atSlow = 0, 4, 8, 16 // of a device
	atSelf, atBios, atEvicted          = 0, 4, 8     // of the control
)

// kernelOperations are in the order of the programs, and kernelStages.
func kernelOperations() [operations]record.Operation {
	return [...]record.Operation{record.OperationRead, record.OperationWrite, record.OperationDiscard, record.OperationFlush}
}

func kernelStages() [stages]record.IOStage {
	return [...]record.IOStage{record.StageQueue, record.StageDevice}
}
