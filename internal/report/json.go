package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

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
	if _, err := w.Write(printable.JSON(joinPairs(b.Bytes()))); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// joinPairs puts arrays of two numbers on one line. A line break within a JSON string is always escaped, so a line that
// ends with a bracket opens an array. A regular expression takes most of the time of a report with histograms.
func joinPairs(document []byte) []byte {
	lines := bytes.SplitAfter(document, []byte("\n"))
	joined := make([]byte, 0, len(document))
	for len(lines) > 0 {
		if len(lines) > 3 && bytes.HasSuffix(lines[0], []byte("[\n")) && isNumber(lines[1]) && isNumber(lines[2]) && bytes.HasPrefix(bytes.TrimSpace(lines[3]), []byte("]")) {
			joined = append(append(joined, bytes.TrimRight(lines[0], "\n")...), bytes.TrimSpace(lines[1])...)
			joined = append(append(append(joined, ' '), bytes.TrimSpace(lines[2])...), bytes.TrimLeft(lines[3], " ")...)
			lines = lines[4:]
			continue
		}
		joined, lines = append(joined, lines[0]...), lines[1:]
	}
	return joined
}

// isNumber reports whether the value on a line is a number: no other begins with a digit or a minus.
func isNumber(line []byte) bool {
	line = bytes.TrimLeft(line, " ")
	return len(line) > 0 && (line[0] == '-' || line[0] >= '0' && line[0] <= '9')
}
