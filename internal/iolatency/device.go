package iolatency

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// device is a followed device.
type device struct {
	id        string
	since     time.Time
	at        int // its place in the table
	watch     uint32
	threshold threshold
	slot      int // number of its histograms, from 1 on
	paused    bool
	last      []byte // its slot in all stripes, as last read
	next      []byte
	counted   [operations][stages]counts
}

// counts is what one histogram has counted since the device was first followed.
type counts struct {
	sum     time.Duration
	buckets [record.IOBuckets]uint64
}

func newDevice(id string, slot, allStripes int) *device {
	size := slotBytes * allStripes
	return &device{id: id, since: time.Now(), slot: slot, last: make([]byte, size), next: make([]byte, size)}
}

// read adds what was counted since the last call. Each counter may wrap around once in between.
func (d *device) read(k *kernel) {
	if _, err := k.counts.ReadAt(d.next, int64((d.slot-1)*len(d.next))); err != nil {
		return // cannot happen: it is memory, and the slot is within it
	}
	for at := 0; at < len(d.next); at += histogramBytes {
		index := at % slotBytes / histogramBytes
		d.counted[index/stages][index%stages].add(d.last[at:], d.next[at:])
	}
	d.last, d.next = d.next, d.last
}

// add adds the difference between two readings.
func (c *counts) add(before, after []byte) {
	if bytes.Equal(before[:histogramBytes], after[:histogramBytes]) {
		return
	}
	c.sum += time.Duration(binary.NativeEndian.Uint64(after) - binary.NativeEndian.Uint64(before))
	for i := range c.buckets {
		at := 8 + 4*i
		c.buckets[i] += uint64(binary.NativeEndian.Uint32(after[at:]) - binary.NativeEndian.Uint32(before[at:]))
	}
}

// histograms returns the histograms that hold at least one I/O.
func (d *device) histograms() []record.IOHistogram {
	var all []record.IOHistogram
	for i, operation := range kernelOperations() {
		for j, stage := range kernelStages() {
			c := &d.counted[i][j]
			h := record.IOHistogram{Operation: operation, Stage: stage, Buckets: map[int]uint64{}, Sum: c.sum, Since: d.since}
			for k, n := range &c.buckets {
				if n > 0 {
					h.Buckets[k] = n
				}
			}
			if len(h.Buckets) > 0 {
				all = append(all, h)
			}
		}
	}
	return all
}
