package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Document is the JSON form of a run: the whole report, which can be stored and compared
// later, the figures that people ask for, and the comparison with the baseline if there
// is one.
type Document struct {
	Report     record.RunReport   `json:"report"`
	Summary    []Summary          `json:"summary"`
	Comparison *record.Comparison `json:"comparison,omitempty"`
}

// NewDocument combines a run and its comparison, which may be nil.
func NewDocument(r record.RunReport, c *record.Comparison) Document {
	return Document{Report: r, Summary: Summarise(r), Comparison: c}
}

// JSON writes v indented by two spaces and with sorted map keys, so that equal values
// give equal text. Pairs of numbers, the bins of histograms, stay on one line.
func JSON(w io.Writer, v any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // "4 KiB > 128 KiB" is for terminals, not for web pages
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	// A line break within a JSON string is always escaped, so this matches only arrays.
	pair := regexp.MustCompile(`\[\n\s+(-?[0-9.eE+-]+),\n\s+(-?[0-9.eE+-]+)\n\s+\]`)
	if _, err := w.Write(printable.JSON(pair.ReplaceAll(b.Bytes(), []byte("[$1, $2]")))); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
