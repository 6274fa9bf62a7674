package suite

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// impossible warns of what physics forbids: more bytes a second than the PCIe
// link carries in one direction. Blocks that were never written are the usual
// reason: the platform need not move what it knows to be zeros.
func impossible(s record.Step, t Target) []record.Warning {
	if t.Device.Link == nil {
		return nil
	}
	most := t.Device.Link.BytesPerSecond()
	for _, r := range []*record.Result{s.Read, s.Write} {
		if r != nil && r.BytesPerSecond > most {
			return []record.Warning{{Code: record.WarnUnmapped, Text: fmt.Sprintf(
				"%s/s is more than the PCIe link (%s) carries, %s/s: most likely blocks that were never written were read; fill the drive first.",
				humanize.Bytes(uint64(r.BytesPerSecond)), t.Device.Link, humanize.Bytes(uint64(most)))}}
		}
	}
	return nil
}
