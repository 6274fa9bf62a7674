package fio

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ParseOutput reads what fio 3.0 or later prints with --output-format=json or json+,
// also of jobs on other hosts (--client).
// Values that versions before 3.28 do not print are derived where that is exact, and
// are zero otherwise. Lines of text before and after the JSON are kept as notes.
// Everything else is strict: a field that is missing, of another type, negative or not
// a number is a [*FieldError]; so is a histogram that does not add up. Two reports in
// one output (--status-interval) are an error. Unknown fields are ignored.
func ParseOutput(r io.Reader) (Output, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return Output{}, fmt.Errorf("read fio output: %w", err)
	}
	data = escapeControls(quoteNaNs(data))
	before, document, after, err := splitOutput(data)
	if err != nil {
		return Output{}, fmt.Errorf("parse fio output: %w", err)
	}
	out := decodeOutput(object{fields: document, err: &err})
	if hosts := hosts(out.Jobs); err == nil && hosts > 1 {
		out.GlobalOptions, err = sharedOptions(data[len(before):], hosts)
	}
	if err != nil {
		return Output{}, fmt.Errorf("parse fio output: %w", err)
	}
	out.Notes = append(notes(before), notes(after)...)
	return out, nil
}

// splitOutput finds the JSON object, which begins on a line of its own.
func splitOutput(data []byte) (before []byte, document map[string]any, after []byte, err error) {
	start := objectStart(data)
	if start < 0 {
		begin := notes(data[:min(len(data), 1<<10)])
		return nil, nil, nil, fmt.Errorf("no JSON in %d bytes: %s", len(data), abridge(strings.Join(begin, "; ")))
	}
	decoder := json.NewDecoder(bytes.NewReader(data[start:]))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, nil, nil, syntaxError(data[start:], syntax)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, nil, nil, fmt.Errorf("the JSON is cut off: %w", err)
		}
		return nil, nil, nil, err
	}
	after = data[start+int(decoder.InputOffset()):]
	if objectStart(after) >= 0 {
		return nil, nil, nil, errors.New("more than one report: fio ran with --status-interval")
	}
	return data[:start], document, after, nil
}

// objectStart returns the offset of the brace in the first line that is only a brace or
// begins an object, or -1 if there is none.
func objectStart(data []byte) int {
	at := regexp.MustCompile(`(?m)^\s*\{\s*("|\}|$)`).FindIndex(data)
	if at == nil {
		return -1
	}
	return at[0] + bytes.IndexByte(data[at[0]:], '{')
}

// quoteNaNs makes texts of the figures that are not finite. fio prints numbers with printf, so they read nan or inf, which
// no JSON has. A field that is needed then fails with its path, and the others do not matter.
func quoteNaNs(data []byte) []byte {
	return regexp.MustCompile(`(?m)^([ \t]*"[^"\n]*"[ \t]*:[ \t]*)(-?(?:nan|inf))([ \t\r]*,?[ \t\r]*)$`).ReplaceAll(data, []byte(`$1"$2"$3`))
}

// escapeControls escapes the control characters in a key or a value, each of which fio prints on a line of its own, and as it
// stands in the job file.
func escapeControls(data []byte) []byte {
	const controls = `[\x00-\x09\x0b\x0c\x0e-\x1f]`
	control, line := regexp.MustCompile(controls), regexp.MustCompile(`(?m)^[ \t]*"[^\n]*`+controls+`[^\n]*$`)
	return line.ReplaceAllFunc(data, func(line []byte) []byte {
		begin := bytes.IndexByte(line, '"')
		escaped := control.ReplaceAllFunc(line[begin:], func(c []byte) []byte { return fmt.Appendf(nil, `\u%04x`, c[0]) })
		return append(line[:begin:begin], escaped...)
	})
}

// syntaxError shows the line that is not valid JSON.
func syntaxError(data []byte, syntax *json.SyntaxError) error {
	read := min(int(syntax.Offset), len(data))
	begin := bytes.LastIndexByte(data[:max(read-1, 0)], '\n') + 1
	line, _, _ := bytes.Cut(data[begin:], []byte("\n"))
	return fmt.Errorf("at byte %d, %q: %w", syntax.Offset, abridge(string(line)), syntax)
}

func notes(text []byte) []string {
	var list []string
	for line := range strings.SplitSeq(string(text), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

func decodeOutput(o object) Output {
	out := Output{GlobalOptions: o.texts("global options")}
	jobs := "jobs"
	if o.has(ofClients) {
		jobs = ofClients
	}
	if jobs == ofClients && !o.has("timestamp_ms") {
		out.Time = o.moment("timestamp", time.Second)
	} else {
		out.Time = o.moment("timestamp_ms", time.Millisecond)
	}
	version, err := ParseVersion(o.text("fio version"))
	if err != nil {
		o.fail("fio version", o.text("fio version"), err.Error())
	}
	out.Version = version
	if err == nil && version.Major < 3 {
		o.fail("fio version", version.String(), "the figures of versions before 3.0 have other units")
	}
	o.older = version.Less(Version{Major: 3, Minor: 28})
	for _, job := range o.list(jobs) {
		// fio ends with a sum over all clients, without options, percentiles and bins.
		if jobs != ofClients || job.has("job options") || job.text("jobname") != "All clients" {
			out.Jobs = append(out.Jobs, decodeJob(job))
		}
	}
	if len(out.Jobs) == 0 {
		o.fail(jobs, "", "empty")
	}
	// The results of clients come as the clients end.
	slices.SortStableFunc(out.Jobs, func(a, b JobResult) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Port, b.Port)) })
	if o.has("disk_util") {
		for _, disk := range o.list("disk_util") {
			out.DiskUtil = append(out.DiskUtil, decodeDiskUtil(disk))
		}
	}
	return out
}

// ofClients is the key of the jobs of fio --client.
const ofClients = "client_stats"

// hosts returns the number of clients that executed the jobs, which are in their order; 0 if fio executed them itself.
func hosts(jobs []JobResult) int {
	n := 0
	for i, job := range jobs {
		if job.Host != "" && (i == 0 || job.Host != jobs[i-1].Host || job.Port != jobs[i-1].Port) {
			n++
		}
	}
	return n
}

// sharedOptions returns the global options that all clients have in common. fio prints those of all of them as one object, in
// which a key occurs for each client, and does not say whose is whose.
func sharedOptions(document []byte, clients int) (map[string]string, error) {
	var raw struct {
		Options json.RawMessage `json:"global options"`
	}
	if err := json.NewDecoder(bytes.NewReader(document)).Decode(&raw); err != nil || raw.Options == nil {
		return nil, err
	}
	options := json.NewDecoder(bytes.NewReader(raw.Options))
	if _, err := options.Token(); err != nil { // the brace
		return nil, err
	}
	values := map[string][]string{}
	for options.More() {
		key, err := options.Token()
		if err != nil {
			return nil, err
		}
		var value string
		if err := options.Decode(&value); err != nil {
			return nil, fmt.Errorf("global options.%v: %w", key, err)
		}
		name := fmt.Sprint(key)
		values[name] = append(values[name], value)
	}
	shared := map[string]string{}
	for key, each := range values {
		if len(each) >= clients && len(slices.Compact(each)) == 1 {
			shared[key] = each[0]
		}
	}
	return shared, nil
}

func decodeJob(o object) JobResult {
	const percent = 100
	j := JobResult{
		Name:            o.text("jobname"),
		Group:           o.small("groupid"),
		Errno:           o.small("error"),
		Options:         o.texts("job options"),
		UserCPU:         o.real("usr_cpu") / percent,
		SystemCPU:       o.real("sys_cpu") / percent,
		ContextSwitches: o.count("ctx"),
		MajorFaults:     o.count("majf"),
		MinorFaults:     o.count("minf"),
	}
	if o.has("hostname") {
		j.Host, j.Port = o.text("hostname"), o.small("port")
	}
	if o.has("elapsed") || j.Host == "" && !o.older {
		j.Elapsed = o.span("elapsed", time.Second)
	}
	if o.has("iodepth_level") {
		j.Depths = decodeDepths(o.child("iodepth_level"))
	}
	for _, d := range []struct {
		key string
		at  **Direction
	}{{"read", &j.Read}, {"write", &j.Write}, {"trim", &j.Trim}, {"mixed", &j.Mixed}} {
		if o.has(d.key) {
			*d.at = decodeDirection(o.child(d.key))
		}
	}
	if j.Read == nil && j.Mixed == nil {
		o.fail("read", "", "missing, and mixed too")
	}
	if !o.lacks("job_runtime") {
		j.Runtime = o.span("job_runtime", time.Millisecond)
	}
	if o.has("sync") {
		sync := decodeLatency(o.child("sync").child("lat_ns"), 0)
		j.Sync = &sync
	}
	if o.has("total_err") {
		j.Errors = &Errors{Total: o.count("total_err"), First: o.small("first_error")}
	}
	return j
}

// lastLevel is the lowest depth of the last level, which has no upper end.
const lastLevel = 64

// decodeDepths reads percentages by depth: "1", "2", … "32", ">=64".
func decodeDepths(o object) []DepthLevel {
	const percent = 100
	var levels []DepthLevel
	for least := 1; least <= lastLevel; least *= 2 {
		key := strconv.Itoa(least)
		if least == lastLevel {
			key = ">=" + key
		}
		if share := o.real(key) / percent; share > 0 {
			levels = append(levels, DepthLevel{Least: least, Share: share})
		}
	}
	return levels
}

func decodeDirection(o object) *Direction {
	d := Direction{
		IOs:     o.count("total_ios"),
		Bytes:   o.count("io_bytes"),
		IOPS:    o.real("iops"),
		Runtime: o.span("runtime", time.Millisecond),
	}
	if !o.lacks("short_ios") {
		d.ShortIOs = o.count("short_ios")
	}
	if !o.lacks("drop_ios") {
		d.DroppedIOs = o.count("drop_ios")
	}
	switch {
	case !o.lacks("bw_bytes"):
		d.BytesPerSecond = o.count("bw_bytes")
	case d.Runtime > 0: // as fio computes it
		d.BytesPerSecond = int64(float64(d.Bytes) / d.Runtime.Seconds())
	}
	for _, l := range []struct {
		key string
		at  *Latency
	}{{"slat_ns", &d.Submission}, {"clat_ns", &d.Completion}, {"lat_ns", &d.Total}} {
		if !o.lacks(l.key) {
			*l.at = decodeLatency(o.child(l.key), d.IOs)
		}
	}
	return &d
}

// decodeLatency reads the latency of ios I/Os. Older versions do not print their number with the latency.
func decodeLatency(o object, ios int64) Latency {
	l := Latency{
		Min:    o.span("min", time.Nanosecond),
		Max:    o.span("max", time.Nanosecond),
		Mean:   o.nanoseconds("mean"),
		StdDev: o.nanoseconds("stddev"),
	}
	if o.has("percentile") {
		l.Percentiles = decodePercentiles(o.child("percentile"))
	}
	if o.has("bins") {
		l.Histogram = decodeBins(o.child("bins"))
	}
	switch {
	case !o.lacks("N"):
		l.Samples = o.count("N")
	case l.Histogram != nil:
		l.Samples = l.Histogram.Count()
	case l.Max > 0: // otherwise it was not tracked
		l.Samples = ios
	}
	if o.has("bins") {
		if n := l.Histogram.Count(); n != l.Samples {
			o.fail("bins", "", fmt.Sprintf("they add up to %d I/Os, N is %d", n, l.Samples))
		}
	}
	return l
}

func decodePercentiles(o object) []Percentile {
	var list []Percentile
	for _, key := range slices.Sorted(maps.Keys(o.fields)) {
		rank, err := strconv.ParseFloat(key, 64)
		if err == nil && rank == 0 {
			continue // fio before 3.2 pads the list with rank 0
		}
		if err != nil || !(rank > 0 && rank <= 100) {
			o.fail(abridge(key), "", "not a rank between 0 and 100")
			return nil
		}
		list = append(list, Percentile{Rank: rank, Latency: o.span(key, time.Nanosecond)})
	}
	slices.SortFunc(list, func(a, b Percentile) int {
		if a.Rank < b.Rank {
			return -1
		}
		return 1
	})
	return list
}

func decodeBins(o object) Histogram {
	var bins []Bin
	var total int64
	for _, key := range slices.Sorted(maps.Keys(o.fields)) {
		latency, err := strconv.ParseUint(key, 10, 63)
		if err != nil {
			o.fail(abridge(key), "", "not a latency in nanoseconds")
			return nil
		}
		n := o.count(key)
		if total += n; total < 0 {
			o.fail(abridge(key), strconv.FormatInt(n, 10), "more I/Os than can be counted")
			return nil
		}
		bins = append(bins, Bin{Latency: time.Duration(latency), Count: n})
	}
	return NewHistogram(bins)
}

func decodeDiskUtil(o object) DiskUtil {
	const percent = 100
	d := DiskUtil{
		Name:        o.text("name"),
		ReadIOs:     o.count("read_ios"),
		WriteIOs:    o.count("write_ios"),
		ReadMerges:  o.count("read_merges"),
		WriteMerges: o.count("write_merges"),
		ReadTime:    o.span("read_ticks", time.Millisecond),
		WriteTime:   o.span("write_ticks", time.Millisecond),
		Busy:        o.span("in_queue", time.Millisecond),
		Utilisation: o.real("util") / percent,
	}
	if o.has("hostname") {
		d.Host, d.Port = o.text("hostname"), o.small("port")
	}
	return d
}
