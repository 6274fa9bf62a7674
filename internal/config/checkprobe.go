package config

import (
	"fmt"
	"regexp"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	minBlockBytes = 512
	maxBlockBytes = 16 << 20
	maxRoundBytes = 1 << 30
	// maxFlightBytes is how much memory the buffers of a round may take. A pod may have less than a round has bytes.
	maxFlightBytes = 64 << 20

	wantBlockBytes = "512, 1KiB, 2KiB, 4KiB and so on to 16MiB"
)

var probeName = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)

func (c Config) checkProbes(f *findings) {
	names := unique{}
	for i, p := range c.Probes {
		field := item("probes", i)
		checkProbe(f, field, p)
		names.check(f, field+".name", p.Name, p.Name)
	}
}

func checkProbe(f *findings, field string, p record.Probe) {
	at := func(key string) string { return join(field, key) }
	f.need(p.BlockBytes&(p.BlockBytes-1) == 0, Problem{
		Field: at("block_size"), Value: FormatSize(p.BlockBytes), Wrong: "is not a power of two", Want: wantBlockBytes,
	})
	f.need(p.Direction != record.Read || !p.Datasync, Problem{
		Field: at("datasync"), Value: "true", Wrong: "is only for write probes", Want: "direction: write, or no datasync",
	}, at("direction"))
	f.need(p.Direction != record.Write || p.Targets != record.OnDevices, Problem{
		Field: at("targets"), Value: string(p.Targets), Wrong: "is not for write probes: block devices are never written",
		Want: "files, or direction: read",
	}, at("direction"))
	f.need(p.QueueDepth <= p.IOs, Problem{
		Field: at("queue_depth"), Value: formatCount(p.QueueDepth), Wrong: "is above ios", Want: "at most " + formatCount(p.IOs),
	}, at("ios"))
	f.need(int64(p.QueueDepth)*p.BlockBytes <= maxFlightBytes, Problem{
		Field: at("queue_depth"), Value: formatCount(p.QueueDepth), Wrong: "keeps too much in flight, queue_depth × block_size",
		Want: fmt.Sprintf("at most %d, which are %s", maxFlightBytes/max(1, p.BlockBytes), FormatSize(maxFlightBytes)),
	}, at("block_size"), at("ios"))
	f.need(p.RoundBytes() <= maxRoundBytes, Problem{
		Field: field, Value: FormatSize(p.RoundBytes()), Wrong: "is too much for a round, (ios + warmup_ios) × block_size",
		Want: "at most " + FormatSize(maxRoundBytes),
	}, at("ios"), at("warmup_ios"), at("block_size"))
}
