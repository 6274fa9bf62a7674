package store

import (
	"encoding/json"
	"fmt"
)

// Schema describes the form of the values in a state directory.
type Schema struct {
	// Version is the version in which values are written, at least 1. Values of a later version are
	// refused with ErrNewer.
	Version int
	// Migrate converts data of the given kind from an earlier version to Version. It is not called
	// for data of other versions, and may be nil if Version is 1.
	Migrate func(kind string, version int, data json.RawMessage) (json.RawMessage, error)
}

// upgraded returns the data of an envelope in the current version of the schema.
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
