package record

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSlowerThanPeers(t *testing.T) {
	far := func(source string, s Statistic, of int, ratio float64) Beside {
		return Beside{Source: source, Statistic: s, Far: true, Of: of, Ratio: ratio, Since: time.Unix(1, 0)}
	}
	near := Beside{Source: "read-4k", Statistic: LatencyP95, Of: 3, Ratio: 1.02}
	linked := far("read-128k", LatencyP50, 1, 1.88)
	linked.OnlyHere = []string{"PCIe link 8 GT/s x4"}
	assert.Equal(t, []Warning{
		{Code: WarnSlowerThanPeers, Text: "probe read-4k is far slower than that of the 3 other drives of this model on the node (p50 83 % slower, p99 2.4 times slower)"},
		{Code: WarnSlowerThanPeers, Text: "probe read-128k is far slower than that of the other drive of this model on the node (p50 88 % slower); only here: PCIe link 8 GT/s x4"},
		{Code: WarnSlowerThanPeers, Text: "the drive's own traffic is far slower than that of the 7 other drives of this model with similar work on the node (reads of others 60 % slower)"},
	}, SlowerThanPeers([]Beside{
		far("read-4k", LatencyP50, 3, 1.83), near, far("read-4k", LatencyP99, 3, 2.4), linked, far("traffic", OthersReadLatency, 7, 1.6),
	}))
	assert.Empty(t, SlowerThanPeers([]Beside{near}))
}

// A level ends only after more than an hour, and not at all while it cannot be compared. Until then it was far slower.
func TestSlowerThanPeersSaysWhen(t *testing.T) {
	far := func(ratio float64, unjudged string) []Beside {
		return []Beside{{Source: "read-4k", Statistic: LatencyP50, Far: true, Of: 3, Ratio: ratio, Limit: 1.25, Unjudged: unjudged}}
	}
	for text, list := range map[string][]Beside{
		"probe read-4k is far slower than that of the 3 other drives of this model on the node (p50 15 % slower)":                     far(1.15, ""),
		"probe read-4k was far slower than that of the 3 other drives of this model on the node (p50 5 % faster now)":                 far(0.95, ""),
		"probe read-4k was far slower than that of the 3 other drives of this model on the node (p50 50 % slower when last compared)": far(1.5, "too little was measured lately"),
	} {
		assert.Equal(t, []Warning{{Code: WarnSlowerThanPeers, Text: text}}, SlowerThanPeers(list))
	}
}
