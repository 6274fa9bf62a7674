package store

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Unwrap returns the value in the text of a file of a state directory, wherever the
// file is now, and false when the text is none. It errs with ErrNewer, and when the
// checksum is wrong.
func (s Schema) Unwrap(text []byte) (data json.RawMessage, found bool, err error) {
	var outer struct {
		Format string `json:"format"`
	}
	_ = json.Unmarshal(text, &outer) // what is no JSON is no file of ours
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
