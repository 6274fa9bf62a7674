package store

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Unwrap returns the value in the text of a state file, wherever that file is now, and
// false if the text is not a state file. It returns an error if the version is newer
// (ErrNewer) or the file is damaged.
func (s Schema) Unwrap(text []byte) (data json.RawMessage, found bool, err error) {
	var outer struct {
		Format string `json:"format"`
	}
	_ = json.Unmarshal(text, &outer) // text that is not JSON is not a state file
	kind, found := strings.CutPrefix(outer.Format, "ssdprobe/")
	if !found {
		return nil, false, nil
	}
	e, err := s.decode(text, kind)
	if err == nil {
		data, err = s.upgraded(kind, e)
	}
	if err != nil {
		return nil, true, fmt.Errorf("file of a state directory: %w", err)
	}
	return data, true, nil
}
