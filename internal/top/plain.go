package top

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// WriteText writes a sample as plain text, in lines of at most width characters; 0 means unlimited.
func WriteText(w io.Writer, s Sample, width int) error {
	lines := []Line{line(Plain, fmt.Sprintf("%s  %s  %s  %s", s.Node, units.Time(s.Time), units.Span(s.Length), Summary(s.Devices)))}
	lines = append(lines, Notes(s)...)
	if len(s.Devices) > 0 {
		head, rows := Table(s.Devices, width)
		lines = append(append(lines, head), rows...)
	}
	for _, l := range lines {
		if _, err := fmt.Fprintln(w, l.clip(width).Text()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// WriteJSON writes a sample as one line of JSON.
func WriteJSON(w io.Writer, s Sample) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", printable.JSON(text))
	return err
}
