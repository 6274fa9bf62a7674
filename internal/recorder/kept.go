package recorder

import (
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Settings say what is recorded, and how much is kept of it.
type Settings struct {
	Enabled bool
	// MaxRecordings and MaxBytes are how many recordings are kept and how many bytes all of them may take. The
	// oldest go first.
	MaxRecordings int
	MaxBytes      int64
	// Names says whether slow I/Os are recorded with the process and the control group that submitted them.
	Names bool
}

// Default is what holds when nothing is configured.
func Default() Settings { return Settings{Enabled: true, MaxRecordings: 50, MaxBytes: 32 << 20} }

// Sort puts the oldest first.
func Sort(heads []record.RecordingHead) {
	slices.SortStableFunc(heads, func(a, b record.RecordingHead) int { return strings.Compare(a.ID, b.ID) })
}

// Surplus returns the ids of the recordings that are too many, of those given in the order of Sort.
func (s Settings) Surplus(heads []record.RecordingHead) (ids []string) {
	bytes := record.RecorderStatus{Recordings: heads}.Bytes()
	for _, h := range heads {
		if len(heads)-len(ids) <= s.MaxRecordings && bytes <= s.MaxBytes {
			break
		}
		ids = append(ids, h.ID)
		bytes -= h.Bytes
	}
	return ids
}
