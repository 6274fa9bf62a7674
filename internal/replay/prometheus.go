package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/promapi"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ErrAmbiguous says that more than one device matches the query. ErrQuery says that the query is invalid, or that no
// drive matches it.
var (
	ErrAmbiguous = errors.New("more than one device is meant")
	ErrQuery     = errors.New("read a history from prometheus")
)

// Query says which history to read from Prometheus.
type Query struct {
	// URL is the address of the server, with its path prefix if it has one.
	URL string
	// Device is the label device or id of the history. A name like nvme0n1 occurs on many nodes, so Instance may be
	// needed as well.
	Device string
	// Instance is the label instance, and Cluster the label cluster, where one server has several; empty for any. Model is
	// the label model, for use without Device.
	Instance, Cluster, Model string
	Probe                    string
	From, To                 time.Time
	// Step is the time between samples; a minute when zero. The daemon's figures are those of its window, so steps
	// below a minute add nothing.
	Step time.Duration
	// Utilisation is a PromQL expression for the share (0 to 1) of time in which the device was busy with I/O of
	// others; empty when not recorded. With node_exporter:
	// rate(node_disk_io_time_seconds_total{device="nvme0n1"}[5m]).
	Utilisation string
	// Doubt is called with each warning of the server: its answer may lack a part of the history. It may be nil.
	Doubt func(warning string)
}

// doubts passes on warnings of the server.
func (q Query) doubts(warnings []string) {
	if q.Doubt == nil {
		return
	}
	for _, w := range warnings {
		q.Doubt(w)
	}
}

// drives names the drives that the query is about: "nvme0n1 on stor-07:10040".
func (q Query) drives() string {
	which := q.Device
	switch {
	case q.Device == "" && q.Model != "":
		which = "model " + q.Model
	case q.Device == "":
		return placeOf(q.Cluster, q.Instance)
	}
	if q.Instance != "" {
		which += " on " + placeOf(q.Cluster, q.Instance)
	}
	return which
}

// NothingFound is the error when Prometheus has nothing to judge of the drives. It wraps ErrQuery.
func (q Query) NothingFound() error {
	return fmt.Errorf("%w: %s has no round of the probe %s and no traffic of %s %s; see the labels device, id, instance and probe of ssdprobe_probe_iops",
		ErrQuery, q.URL, q.Probe, q.drives(), q.span())
}

// span names the time that the query is about.
func (q Query) span() string {
	return fmt.Sprintf("from %s to %s", q.From.UTC().Format(time.RFC3339), q.To.UTC().Format(time.RFC3339))
}

func (q Query) validate() error {
	switch {
	case q.URL == "":
		return fmt.Errorf("%w: no URL", ErrQuery)
	case q.Probe == "":
		return fmt.Errorf("%w: no probe", ErrQuery)
	case !q.From.Before(q.To):
		return fmt.Errorf("%w: it ends before it begins", ErrQuery)
	}
	return nil
}

// Prometheus reads the history that a Prometheus server recorded of a daemon's metrics, through its HTTP API and in
// pages of 10 000 steps. The server keeps the figures of the daemon's window and not single rounds. A rare slow round
// is therefore less visible than it was to the daemon.
type Prometheus struct {
	server promapi.Server
	query  Query
	next   time.Time // start of the next page
	page   []Sample
	// conditions are the last ones known, as texts, by the metric that has them.
	conditions map[string]map[string]string
}

// pointsPerPage is below the limit of 11 000 points in one answer of Prometheus.
const pointsPerPage = 10_000

// NewPrometheus returns a reader for the history of one device. client may be nil; its transport is the place for
// credentials.
func NewPrometheus(client *http.Client, q Query) (*Prometheus, error) {
	if q.Device == "" {
		return nil, fmt.Errorf("%w: no device", ErrQuery)
	}
	return newPrometheus(client, q)
}

func newPrometheus(client *http.Client, q Query) (*Prometheus, error) {
	if err := q.validate(); err != nil {
		return nil, err
	}
	if client == nil {
		client = &http.Client{Timeout: time.Minute}
	}
	if q.Step <= 0 {
		q.Step = time.Minute
	}
	q.From, q.To = q.From.Truncate(time.Second), q.To.Truncate(time.Second)
	asked, err := promapi.New(q.URL, client)
	if err != nil {
		return nil, fmt.Errorf("read a history from prometheus: %w", err)
	}
	return &Prometheus{server: asked, query: q, next: q.From, conditions: map[string]map[string]string{}}, nil
}

// Next returns the next sample, or io.EOF after the last one.
func (p *Prometheus) Next(ctx context.Context) (Sample, error) {
	for len(p.page) == 0 {
		if p.next.After(p.query.To) {
			return Sample{}, io.EOF
		}
		end := p.next.Add(pointsPerPage * p.query.Step)
		if end.After(p.query.To) {
			end = p.query.To
		}
		page, err := p.read(ctx, p.next, end)
		if err != nil {
			return Sample{}, fmt.Errorf("read the history of %s from prometheus: %w", p.query.drives(), err)
		}
		p.page, p.next = page, end.Add(p.query.Step)
	}
	r := p.page[0]
	p.page = p.page[1:]
	return r, nil
}

// selector returns a selector for the series of the device, by its label device or id.
func (p *Prometheus) selector(metric string, more ...string) string {
	with := func(label string) string {
		return p.of(metric, append([]string{fmt.Sprintf("%s=%q", label, p.query.Device)}, more...)...)
	}
	return with("device") + " or " + with("id")
}

// of returns a selector for the series of all devices of the instance and the cluster.
func (p *Prometheus) of(metric string, matchers ...string) string {
	if p.query.Instance != "" {
		matchers = append(matchers, fmt.Sprintf("instance=%q", p.query.Instance))
	}
	if p.query.Cluster != "" {
		matchers = append(matchers, fmt.Sprintf("cluster=%q", p.query.Cluster))
	}
	return metric + "{" + strings.Join(matchers, ",") + "}"
}

// figure returns the metric of a statistic, and the matchers that select its series.
func figure(s record.Statistic, probe string) (metric string, more []string) {
	more = []string{fmt.Sprintf("probe=%q", probe)}
	percentile := map[record.Statistic]string{record.LatencyP50: "50", record.LatencyP95: "95", record.LatencyP99: "99"}[s]
	if percentile == "" {
		return "ssdprobe_probe_iops", more
	}
	return "ssdprobe_probe_latency_percentile_seconds", append(more, fmt.Sprintf("percentile=%q", percentile))
}

// read returns the samples between two times, in order of time. A time at which a statistic is missing has no round;
// it may have traffic.
func (p *Prometheus) read(ctx context.Context, from, to time.Time) ([]Sample, error) {
	samples := map[int64]*Sample{}
	at := func(unixMilli int64) *Sample {
		s := samples[unixMilli]
		if s == nil {
			s = &Sample{Round: drift.Round{Time: time.UnixMilli(unixMilli).UTC(), Utilisation: -1}}
			samples[unixMilli] = s
		}
		return s
	}
	for i, statistic := range record.Statistics() {
		metric, more := figure(statistic, p.query.Probe)
		values, err := p.one(ctx, p.selector(metric, more...), driveOf, from, to)
		if err != nil {
			return nil, err
		}
		for t, v := range values {
			at(t).Values[i] = v
		}
	}
	if err := p.addTraffic(ctx, at, from, to); err != nil {
		return nil, err
	}
	if err := p.addUtilisation(ctx, samples, from, to); err != nil {
		return nil, err
	}
	if err := p.addConditions(ctx, samples, from, to); err != nil {
		return nil, err
	}
	var list []Sample
	for _, s := range samples {
		if slices.ContainsFunc(s.Values[:], func(v float64) bool { return math.IsNaN(v) || v <= 0 || v > drift.MostValue }) {
			s.Values = drift.Values{}
		}
		if s.Probed() || s.Traffic.Known() {
			list = append(list, *s)
		}
	}
	slices.SortFunc(list, func(a, b Sample) int { return cmp.Compare(a.Time.UnixMilli(), b.Time.UnixMilli()) })
	return list, nil
}

// series returns the series of a query.
func (p *Prometheus) series(ctx context.Context, query string, from, to time.Time) (model.Matrix, error) {
	found, warnings, err := p.server.Range(ctx, query, from, to, p.query.Step)
	p.query.doubts(warnings)
	return found, err
}

// placeOf names a node: "cluster/instance", or the instance alone.
func placeOf(cluster, instance string) string {
	if cluster == "" {
		return instance
	}
	return cluster + "/" + instance
}

// driveOf names the drive that a series is of. Two nodes, or two clusters, may have the same id, such as that of a slot.
func driveOf(m model.Metric) string {
	return fmt.Sprintf("%s %s %s", placeOf(string(m["cluster"]), string(m["instance"])), m["device"], m["id"])
}

// one returns the samples, by unix milliseconds, of a query that yields the series of at most one owner at any time.
func (p *Prometheus) one(ctx context.Context, query string, of func(model.Metric) string, from, to time.Time) (map[int64]float64, error) {
	series, err := p.series(ctx, query, from, to)
	if err != nil {
		return nil, err
	}
	out, owner := map[int64]float64{}, ""
	for _, s := range series {
		// The same device may have other labels later, and its series then follow each other. At any one time, there
		// may be only one.
		name := of(s.Metric)
		for _, v := range s.Values {
			at := int64(v.Timestamp)
			if _, twice := out[at]; twice && name != owner {
				return nil, fmt.Errorf("%w by %q: %s and %s; name the instance, the cluster or the device's id", ErrAmbiguous, p.query.Device, owner, name)
			}
			out[at] = float64(v.Value)
		}
		owner = name
	}
	return out, nil
}

func (p *Prometheus) addUtilisation(ctx context.Context, rounds map[int64]*Sample, from, to time.Time) error {
	if p.query.Utilisation == "" || len(rounds) == 0 {
		return nil
	}
	samples, err := p.one(ctx, p.query.Utilisation, model.Metric.String, from, to)
	if err != nil {
		return fmt.Errorf("utilisation: %w", err)
	}
	for at, v := range samples {
		if r := rounds[at]; r != nil && !math.IsNaN(v) {
			r.Utilisation = min(1, max(0, v))
		}
	}
	return nil
}

// addConditions takes the conditions from the info metrics. At a time without one of those, as when a daemon has just
// started, its conditions are as before: an unknown condition is no change of it.
func (p *Prometheus) addConditions(ctx context.Context, rounds map[int64]*Sample, from, to time.Time) error {
	if len(rounds) == 0 {
		return nil
	}
	for _, metric := range []string{"ssdprobe_device_info", "ssdprobe_device_conditions_info"} {
		series, err := p.series(ctx, p.selector(metric), from, to)
		if err != nil {
			return err
		}
		known := map[int64]map[string]string{}
		for _, s := range series {
			texts := map[string]string{}
			for label, value := range s.Metric {
				if isCondition(string(label)) {
					texts[string(label)] = string(value)
				}
			}
			for _, v := range s.Values {
				known[int64(v.Timestamp)] = texts
			}
		}
		for _, at := range slices.Sorted(maps.Keys(rounds)) {
			if texts, ok := known[at]; ok {
				p.conditions[metric] = texts
			}
			if err := setConditions(&rounds[at].Conditions, p.conditions[metric]); err != nil {
				return fmt.Errorf("read %s: %w", metric, err)
			}
		}
	}
	return nil
}
