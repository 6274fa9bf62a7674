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

// Sample is a row of a recorded history: a round, and what others did to the drive at that time.
type Sample struct {
	// Round has zero Values when it was refused or none was tried.
	drift.Round
	Conditions record.Conditions
	Traffic    Traffic
}

// Probed reports whether the sample has a round.
func (s Sample) Probed() bool { return s.Values != drift.Values{} }

// Traffic is what I/O of others experienced: mean latencies in seconds, 0 where there was none.
type Traffic struct {
	ReadLatency, WriteLatency, FlushLatency float64
	// InFlight is the mean number of I/Os in flight.
	InFlight float64
}

// Known reports whether there was any traffic.
func (t Traffic) Known() bool { return t.ReadLatency > 0 || t.WriteLatency > 0 || t.FlushLatency > 0 }

// ErrHistory says that a file is not a history that a Reader reads.
var ErrHistory = errors.New("read a history")

// ErrEmpty says that there is nothing to judge.
var ErrEmpty = errors.New("the history holds no round")

// Reader reads samples from CSV with a header, in rows that are in order of time. These columns may
// come in any order; others are ignored:
//
//   - time: unix seconds, or RFC 3339
//   - latency_p50_seconds, latency_p95_seconds, latency_p99_seconds, iops: a round; all four are
//     empty where it was refused
//   - utilisation: 0 to 1, the share of time that others used the device; empty when not known
//   - conditions: see ParseConditions
//   - others_read_iops, others_write_iops, others_read_bytes_per_second,
//     others_write_bytes_per_second: the load of others on the device
//   - others_read_latency_seconds, others_write_latency_seconds, others_flush_latency_seconds,
//     in_flight: what others experienced; empty where there was none
//
// Every file needs the columns of a round or one of the latencies of others.
type Reader struct {
	name    string
	csv     *csv.Reader
	columns map[string]int
	probed  bool // the file has the columns of a round
	// The conditions of a history hardly ever change, so the last ones are kept parsed.
	text       string
	conditions record.Conditions
	last       place
}

// place is where a sample was, and its time as the file has it.
type place struct {
	line int
	text string
	time time.Time
}

const (
	columnTime        = "time"
	columnUtilisation = "utilisation"
	columnConditions  = "conditions"

	columnReads        = "others_read_iops"
	columnWrites       = "others_write_iops"
	columnReadBytes    = "others_read_bytes_per_second"
	columnWrittenBytes = "others_write_bytes_per_second"
	columnReadLatency  = "others_read_latency_seconds"
	columnWriteLatency = "others_write_latency_seconds"
	columnFlushLatency = "others_flush_latency_seconds"
	columnInFlight     = "in_flight"
)

// NewReader reads the header. It rejects a file in which a required column is missing or occurs
// twice. name is that of the file, for errors. Errors: ErrHistory, and those of r.
func NewReader(name string, r io.Reader) (*Reader, error) {
	c := csv.NewReader(r)
	c.ReuseRecord = true
	c.FieldsPerRecord = 0
	reader := &Reader{name: name, csv: c, columns: map[string]int{}}
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, reader.wrong(errors.New("it is empty; want a header line"))
	} else if err != nil {
		return nil, reader.unread(err)
	}
	for i, name := range header {
		name = strings.TrimPrefix(strings.TrimSpace(name), "\ufeff")
		if _, twice := reader.columns[name]; twice {
			return nil, reader.wrong(fmt.Errorf("the header names %q twice", name))
		}
		reader.columns[strings.Clone(name)] = i
	}
	has := func(name string) bool { _, ok := reader.columns[name]; return ok }
	var missing []string
	for _, s := range record.Statistics() {
		if has(string(s)) {
			reader.probed = true
		} else {
			missing = append(missing, string(s))
		}
	}
	if !reader.probed && slices.ContainsFunc([]string{columnReadLatency, columnWriteLatency, columnFlushLatency}, has) {
		missing = nil // a history of traffic alone
	}
	if !has(columnTime) {
		missing = slices.Insert(missing, 0, columnTime)
	}
	if len(missing) > 0 {
		return nil, reader.wrong(fmt.Errorf("the header lacks %s", strings.Join(missing, ", ")))
	}
	return reader, nil
}

// wrong returns the error for a file that is not a history.
func (r *Reader) wrong(err error) error { return fmt.Errorf("%w: %s: %w", ErrHistory, r.name, err) }

// unread returns the error for a row that is not CSV or could not be read.
func (r *Reader) unread(err error) error {
	if errors.As(err, new(*csv.ParseError)) {
		return r.wrong(err)
	}
	return fmt.Errorf("read %s: %w", r.name, err)
}

// Next returns the next sample, or io.EOF after the last one. Errors name the file and the line: ErrHistory,
// and those of the file and of ctx.
func (r *Reader) Next(ctx context.Context) (Sample, error) {
	if err := ctx.Err(); err != nil {
		return Sample{}, err
	}
	row, err := r.csv.Read()
	if errors.Is(err, io.EOF) {
		return Sample{}, io.EOF
	} else if err != nil {
		return Sample{}, r.unread(err)
	}
	line, _ := r.csv.FieldPos(0)
	sample, err := r.parse(row)
	if err == nil {
		err = r.follow(line, r.field(row, columnTime), sample.Time)
	}
	if err != nil {
		return Sample{}, r.wrong(fmt.Errorf("line %d: %w", line, err))
	}
	return sample, nil
}

// follow rejects a row that is earlier than the one before it. The judge would take that for a clock that was set
// back, drop its evidence, and find nothing.
func (r *Reader) follow(line int, text string, at time.Time) error {
	if at.Before(r.last.time) {
		return fmt.Errorf("time %q is before the %q of line %d; sort the rows by time, the earliest first", text, r.last.text, r.last.line)
	}
	r.last = place{line, text, at}
	return nil
}

// field returns the value of a column; empty when there is no such column.
func (r *Reader) field(row []string, name string) string {
	if i, ok := r.columns[name]; ok {
		return row[i]
	}
	return ""
}

func (r *Reader) parse(row []string) (Sample, error) {
	sample := Sample{Round: drift.Round{Utilisation: -1}}
	var err error
	if sample.Time, err = parseTime(r.field(row, columnTime)); err != nil {
		return Sample{}, err
	}
	if r.probed && !r.refused(row) {
		for i, s := range record.Statistics() {
			if sample.Values[i], err = parsePositive(string(s), r.field(row, string(s))); err != nil {
				return Sample{}, err
			}
		}
	}
	if text := r.field(row, columnUtilisation); text != "" {
		u, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(u) || u > 1 {
			return Sample{}, fmt.Errorf("utilisation %q: want a share of 0 to 1, or nothing when not known", text)
		}
		sample.Utilisation = u
	}
	if err := r.parseOthers(row, &sample); err != nil {
		return Sample{}, err
	}
	if text := r.field(row, columnConditions); text != r.text {
		r.text = strings.Clone(text)
		r.conditions = ParseConditions(r.text)
	}
	sample.Conditions = r.conditions
	return sample, nil
}

// refused reports whether a row has no round: all of its figures are empty.
func (r *Reader) refused(row []string) bool {
	return !slices.ContainsFunc(record.Statistics(), func(s record.Statistic) bool { return r.field(row, string(s)) != "" })
}

func (r *Reader) parseOthers(row []string, sample *Sample) error {
	for _, c := range []struct {
		name string
		to   *float64
		work bool
	}{
		{columnReads, &sample.Work.Reads, true},
		{columnWrites, &sample.Work.Writes, true},
		{columnReadBytes, &sample.Work.ReadBytes, true},
		{columnWrittenBytes, &sample.Work.WrittenBytes, true},
		{columnReadLatency, &sample.Traffic.ReadLatency, false},
		{columnWriteLatency, &sample.Traffic.WriteLatency, false},
		{columnFlushLatency, &sample.Traffic.FlushLatency, false},
		{columnInFlight, &sample.Traffic.InFlight, false},
	} {
		text := r.field(row, c.name)
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || v < 0 || v > drift.MostValue {
			return fmt.Errorf("%s %q: want a number of 0 or more, at most %g, or nothing when not known", c.name, text, drift.MostValue)
		}
		*c.to = v
		sample.Work.Known = sample.Work.Known || c.work
	}
	return nil
}

func parsePositive(name, text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || v <= 0 || v > drift.MostValue {
		return 0, fmt.Errorf("%s %q: want a number above 0, at most %g", name, text, drift.MostValue)
	}
	return v, nil
}

// maxUnix is the last second of the year 9999, in unix seconds.
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
