package recorder

import "github.com/ssdprobe/ssdprobe/internal/record"

// Settings say what is recorded, and how many recordings are kept.
type Settings struct {
	Enabled bool
	// MaxRecordings is how many recordings are kept, and MaxBytes how many bytes they may take in all. The
	// oldest are removed first.
	MaxRecordings int
	MaxBytes      int64
	// Names says whether the process and the control group that submitted a slow I/O are recorded.
	Names bool
}

// Default returns the settings that apply when nothing is configured.
func Default() Settings { return Settings{Enabled: true, MaxRecordings: 50, MaxBytes: 32 << 20} }

// Surplus returns the ids of the recordings to remove. heads must begin with the oldest.
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
