package state

import (
	"errors"
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Recording is the stored form of a recording of the flight recorder.
type Recording struct {
	record.RecordingHead
	// Lines is the recording as recorder.Encode returns it and as it is exported.
	Lines []byte `json:"lines_gzip"`
}

// ErrNoRecording says that no recording has this id.
var ErrNoRecording = errors.New("no such recording")

// SaveRecording stores a recording.
func (d Dir) SaveRecording(r Recording) error { return d.Save(kindRecordings, r.ID, r) }

// RemoveRecording removes a recording; it is no error if there is none.
func (d Dir) RemoveRecording(id string) error { return d.Remove(kindRecordings, id) }

// Recordings returns all recordings, the oldest first. The error joins what could not be read; damaged files are set
// aside.
func (d Dir) Recordings() ([]Recording, error) {
	return all[Recording](d, kindRecordings)
}

// Recording returns the recording with this id. Errors: ErrNoRecording, and those of reading it.
func (d Dir) Recording(id string) (r Recording, err error) {
	found, err := d.Load(kindRecordings, id, &r)
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", id, ErrNoRecording)
	}
	return r, err
}
