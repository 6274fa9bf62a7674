package replay

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Round is a round of a recorded history.
type Round struct {
	drift.Round
	Conditions record.Conditions
}

// Reader reads rounds from CSV with a header. Columns, in any order, others being
// ignored: time (unix seconds, or RFC 3339); latency_p50_seconds,
// latency_p95_seconds, latency_p99_seconds, iops; and, when there are any,
// utilisation (0 to 1, the share of time that others used the device; empty when not
// known) and conditions (see ParseConditions).
type Reader struct {
	csv     *csv.Reader
	columns map[string]int
	fields  int
	// The conditions of a history hardly ever change: the last are kept parsed.
	text       string
	conditions record.Conditions
}

const (
	columnTime        = "time"
	columnUtilisation = "utilisation"
	columnConditions  = "conditions"
)

// NewReader reads the header. It refuses a file in which a needed column is missing
// or there twice.
func NewReader(r io.Reader) (*Reader, error) {
	c := csv.NewReader(r)
	c.ReuseRecord = true
	c.FieldsPerRecord = 0
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("read a history: it is empty; want a header line")
	} else if err != nil {
		return nil, fmt.Errorf("read a history: %w", err)
	}
	reader := &Reader{csv: c, columns: map[string]int{}, fields: len(header)}
	needed := []string{columnTime}
	for _, s := range record.Statistics() {
		needed = append(needed, string(s))
	}
	for i, name := range header {
		name = strings.TrimPrefix(strings.TrimSpace(name), "\ufeff")
		if _, twice := reader.columns[name]; twice {
			return nil, fmt.Errorf("read a history: the header names %q twice", name)
		}
		reader.columns[strings.Clone(name)] = i
	}
	missing := slices.DeleteFunc(needed, func(name string) bool { _, ok := reader.columns[name]; return ok })
	if len(missing) > 0 {
		return nil, fmt.Errorf("read a history: the header lacks %s", strings.Join(missing, ", "))
	}
	return reader, nil
}

// Next returns the next round, and io.EOF after the last. Errors name the line.
func (r *Reader) Next(ctx context.Context) (Round, error) {
	if err := ctx.Err(); err != nil {
		return Round{}, err
	}
	row, err := r.csv.Read()
	if errors.Is(err, io.EOF) {
		return Round{}, io.EOF
	} else if err != nil {
		return Round{}, fmt.Errorf("read a history: %w", err)
	}
	round, err := r.parse(row)
	if err != nil {
		line, _ := r.csv.FieldPos(0)
		return Round{}, fmt.Errorf("read a history: line %d: %w", line, err)
	}
	return round, nil
}

func (r *Reader) parse(row []string) (Round, error) {
	round := Round{Round: drift.Round{Utilisation: -1}}
	var err error
	if round.Time, err = parseTime(row[r.columns[columnTime]]); err != nil {
		return Round{}, err
	}
	for i, s := range record.Statistics() {
		if round.Values[i], err = parsePositive(string(s), row[r.columns[string(s)]]); err != nil {
			return Round{}, err
		}
	}
	if i, ok := r.columns[columnUtilisation]; ok && row[i] != "" {
		u, err := strconv.ParseFloat(row[i], 64)
		if err != nil || math.IsNaN(u) || u > 1 {
			return Round{}, fmt.Errorf("utilisation %q: want a share of 0 to 1, or nothing when not known", row[i])
		}
		round.Utilisation = u
	}
	if i, ok := r.columns[columnConditions]; ok {
		if row[i] != r.text {
			r.text = strings.Clone(row[i])
			r.conditions = ParseConditions(r.text)
		}
		round.Conditions = r.conditions
	}
	return round, nil
}

func parsePositive(name, text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
		return 0, fmt.Errorf("%s %q: want a number above 0", name, text)
	}
	return v, nil
}

// maxUnix is the last second of the year 9999.
const maxUnix = 253402300799

func parseTime(text string) (time.Time, error) {
	seconds, err := strconv.ParseFloat(text, 64)
	if err == nil && seconds >= 0 && seconds <= maxUnix {
		whole, part := math.Modf(seconds)
		return time.Unix(int64(whole), int64(math.Round(part*1e3))*int64(time.Millisecond)).UTC(), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Unix() < 0 {
		return time.Time{}, fmt.Errorf("time %q: want unix seconds or RFC 3339", text)
	}
	return at.UTC(), nil
}
