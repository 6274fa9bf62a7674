package replay

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// PrometheusDrives returns the drives of which Prometheus has a history in the time of the query. These are one
// device, all drives of an instance, or all drives of a model, on every node or on one instance. Drives of
// several nodes are judged together as if they were on one node.
func PrometheusDrives(ctx context.Context, client *http.Client, q Query) ([]Drive, error) {
	if q.Device != "" {
		history, err := NewPrometheus(client, q)
		if err != nil {
			return nil, err
		}
		return []Drive{{Drive: judge.Drive{ID: q.Device}, History: history}}, nil
	}
	if q.Instance == "" && q.Model == "" {
		return nil, fmt.Errorf("%w: no device, no instance and no model", ErrQuery)
	}
	p, err := newPrometheus(client, q)
	if err != nil {
		return nil, err
	}
	found, err := p.watched(ctx)
	if err != nil {
		return nil, fmt.Errorf("read a history from prometheus: %w", err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: %s has no %s %s; see the labels instance and model of that metric", ErrQuery, q.URL, p.infos(), q.span())
	}
	places := q.Instance == "" || slices.ContainsFunc(found, func(w watchedDrive) bool { return w.cluster != found[0].cluster })
	drives := make([]Drive, len(found))
	for i, w := range found {
		one := q
		one.Device, one.Instance, one.Cluster, one.Model = w.id, w.instance, w.cluster, ""
		history, err := NewPrometheus(client, one)
		if err != nil {
			return nil, err
		}
		device := record.Device{Model: w.model, Transport: w.transport, SizeBytes: w.size}
		drives[i] = Drive{Drive: judge.DriveOf(w.name(found, places), device, w.kind == string(record.KindFile)), History: history}
	}
	return drives, nil
}

// watchedDrive is a drive of which Prometheus has series.
type watchedDrive struct {
	cluster, instance, id, device, model, kind, transport string
	size                                                  int64
}

// place names the node of the drive.
func (w watchedDrive) place() string { return placeOf(w.cluster, w.instance) }

// name returns the name of the device. It adds the node when places is set, and the id when two drives had
// the same name.
func (w watchedDrive) name(all []watchedDrive, places bool) string {
	name := cmp.Or(w.device, w.id)
	if slices.ContainsFunc(all, func(o watchedDrive) bool { return o.place() == w.place() && o.device == w.device && o.id != w.id }) {
		name += " (" + w.id + ")"
	}
	if places {
		name = w.place() + " " + name
	}
	return name
}

// infos returns a selector for the series that name the drives.
func (p *Prometheus) infos() string {
	if p.query.Model != "" {
		return p.of("ssdprobe_device_info", fmt.Sprintf("model=%q", p.query.Model))
	}
	return p.of("ssdprobe_device_info")
}

// watched returns the drives that match the query, by instance and device.
func (p *Prometheus) watched(ctx context.Context) ([]watchedDrive, error) {
	infos, err := p.over(ctx, p.infos())
	if err != nil {
		return nil, err
	}
	sizes, err := p.over(ctx, p.of("ssdprobe_device_size_bytes"))
	if err != nil {
		return nil, err
	}
	keyOf := func(m model.Metric) [3]model.LabelValue {
		return [3]model.LabelValue{m["cluster"], m["instance"], m["id"]}
	}
	size := map[[3]model.LabelValue]int64{}
	for _, s := range sizes {
		size[keyOf(s.Metric)] = int64(s.Value)
	}
	known := map[[3]model.LabelValue]watchedDrive{} // a drive has different labels with each firmware
	for _, s := range infos {
		label := func(name model.LabelName) string { return string(s.Metric[name]) }
		key := keyOf(s.Metric)
		known[key] = watchedDrive{
			cluster: label("cluster"), instance: label("instance"), id: label("id"), device: label("device"), model: label("model"), kind: label("kind"),
			transport: label("transport"), size: size[key],
		}
	}
	var list []watchedDrive
	for _, w := range known {
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b watchedDrive) int {
		return cmp.Or(cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.instance, b.instance), cmp.Compare(a.device, b.device), cmp.Compare(a.id, b.id))
	})
	return list, nil
}

// over returns the last value of each series that existed in the time of the query.
func (p *Prometheus) over(ctx context.Context, selector string) (model.Vector, error) {
	span := max(1, int64(p.query.To.Sub(p.query.From)/time.Second))
	found, warnings, err := p.server.Now(ctx, fmt.Sprintf("last_over_time(%s[%ds])", selector, span), p.query.To)
	p.query.doubts(warnings)
	return found, err
}
