package report_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// Hundreds of loop devices share a line; each disk has its own.
func TestLeftOut(t *testing.T) {
	of := func(kind record.Kind, name, reason string) record.Ignored {
		return record.Ignored{Device: record.Device{Name: name, Kind: kind}, Reason: reason}
	}
	ignored := []record.Ignored{of(record.KindDisk, "sda", "a hard disk")}
	for i := range 160 {
		ignored = append(ignored, of(record.KindLoop, fmt.Sprint("loop", i), "a loop device"))
	}
	ignored = append(ignored, of(record.KindLoop, "loop700", "excluded"), of(record.KindRAM, "ram0", "it is memory"),
		of(record.KindZRAM, "zram0", "it is memory"), of(record.KindDisk, "sdb", "a hard disk"), of(record.KindDisk, "sdc", "excluded"))
	assert.Equal(t, []string{
		"sda: a hard disk", "loop0, loop1 and 158 more: a loop device", "loop700: excluded", "ram0, zram0: it is memory",
		"sdb: a hard disk", "sdc: excluded",
	}, report.LeftOut(ignored))
	assert.Empty(t, report.LeftOut(nil))
}
