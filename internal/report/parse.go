package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ErrNewer says that a report was written by a newer ssdprobe.
var ErrNewer = errors.New("written by a newer ssdprobe")

// Parse reads the output of JSON: a Document, a run report alone, or a list of either. It
// computes the summary anew. It returns an error when the text is none of these, and
// ErrNewer when a newer ssdprobe wrote it.
func Parse(text []byte) ([]Document, error) {
	text = bytes.TrimSpace(text)
	if len(text) > 0 && text[0] == '[' {
		var each []json.RawMessage
		if err := unmarshal(text, &each); err != nil {
			return nil, err
		}
		var all []Document
		for i, one := range each {
			d, err := parseOne(one)
			if err != nil {
				return nil, fmt.Errorf("report %d: %w", i+1, err)
			}
			all = append(all, d)
		}
		return all, nil
	}
	d, err := parseOne(text)
	if err != nil {
		return nil, err
	}
	return []Document{d}, nil
}

func parseOne(text []byte) (Document, error) {
	// A report has its version at the top level; a document has the report one level
	// below.
	var d struct {
		Report     json.RawMessage    `json:"report"`
		Comparison *record.Comparison `json:"comparison"`
	}
	if err := unmarshal(text, &d); err != nil {
		return Document{}, err
	}
	if d.Report == nil {
		d.Report = text
	}
	var r record.RunReport
	var version struct {
		Version int             `json:"version"`
		Suite   string          `json:"suite"`
		Steps   json.RawMessage `json:"steps"`
	}
	if err := unmarshal(d.Report, &version); err != nil {
		return Document{}, err
	}
	switch {
	case version.Version > record.RunReportVersion:
		return Document{}, fmt.Errorf("version %d, and this ssdprobe knows %d: %w", version.Version, record.RunReportVersion, ErrNewer)
	case version.Version < 1 || version.Suite == "" || version.Steps == nil:
		return Document{}, errors.New("not a report of a run: it has no version, suite and steps")
	}
	if err := unmarshal(d.Report, &r); err != nil {
		return Document{}, err
	}
	r.Version = record.RunReportVersion // version 1 stored the conditions as text, which has been parsed above

	if d.Comparison != nil && d.Comparison.Before.Suite == "" { // written by a version with another kind of comparison
		d.Comparison = nil
	}
	return NewDocument(r, d.Comparison), nil
}

// unmarshal decodes JSON. Its error names the byte at which the text is invalid.
func unmarshal(text []byte, v any) error {
	err := json.Unmarshal(text, v)
	var syntax *json.SyntaxError
	switch {
	case len(text) == 0:
		return fmt.Errorf("not JSON: %w", io.ErrUnexpectedEOF)
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON at byte %d: %w", syntax.Offset, err)
	}
	return err
}
