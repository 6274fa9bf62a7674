package store

import (
	"encoding/json"
	"fmt"
)

// Schema is the form of the values in a state directory.
type Schema struct {
	// Version is the version that is written; 1 or more. Values of a later one are refused: ErrNewer.
	Version int
	// Migrate returns data of a kind, written in an earlier version, in the form of Version. It is
	// called with no other data, and may be nil when Version is 1.
	Migrate func(kind string, version int, data json.RawMessage) (json.RawMessage, error)
}

// upgraded returns the data of an envelope in the form of the schema.
func (s Schema) upgraded(kind string, e envelope) (json.RawMessage, error) {
	if e.Version == s.Version {
		return e.Data, nil
	}
	data, err := s.Migrate(kind, e.Version, e.Data)
	if err != nil {
		return nil, fmt.Errorf("migrate from version %d to %d: %w", e.Version, s.Version, err)
	}
	return data, nil
}
