package record_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestSum(t *testing.T) {
	assert.Nil(t, record.Sum(nil))
	assert.Nil(t, record.Sum([]*record.Result{nil, nil}))
	assert.Equal(t, &record.Result{
		IOs: 4, Bytes: 16384, IOPS: 40, BytesPerSecond: 400, Min: 5, Mean: 11, Max: 30, // Mean is over I/Os, not over results: 45 ns / 4
		Latency: record.Histogram{{Latency: 5, Count: 2}, {Latency: 6, Count: 1}, {Latency: 30, Count: 1}},
	}, record.Sum([]*record.Result{
		nil,
		{}, // without I/O there is no lowest latency
		{IOs: 1, Bytes: 4096, IOPS: 10, BytesPerSecond: 100, Latency: record.Histogram{{Latency: 30, Count: 1}}, Min: 30, Mean: 30, Max: 30},
		{IOs: 3, Bytes: 12288, IOPS: 30, BytesPerSecond: 300, Latency: record.Histogram{{Latency: 5, Count: 2}, {Latency: 6, Count: 1}}, Min: 5, Mean: 5, Max: 6},
	}))
}
