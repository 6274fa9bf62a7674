package drift

import (
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// FlagSlowBaselines adds warnings about drives that may have been slow from the first
// day: beside others of their model, and beside their data sheets.
func FlagSlowBaselines(s *record.Snapshot, sheets []record.DataSheet) {
	peers, promised := SlowerThanPeers(*s), SlowerThanDataSheet(*s, sheets)
	for i := range s.Targets {
		t := &s.Targets[i]
		t.Warnings = slices.Concat(t.Warnings, peers[t.ID], promised[t.ID])
	}
}
