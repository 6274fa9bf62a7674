package fleetview

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"golang.org/x/sync/errgroup"

	"github.com/ssdprobe/ssdprobe/internal/promapi"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ErrNothing says that the server has no series of ssdprobe.
var ErrNothing = errors.New("no series ssdprobe_drive_health: does this server scrape ssdprobe?")

// The queries, by what each tells. All are sums over what else a series may be labelled with, as a pod or a version.
const (
	healthQuery   = `max by (instance, device, id, state) (ssdprobe_drive_health) == 1`
	aboutQuery    = `topk by (instance, device, id) (1, ssdprobe_device_info)`
	reasonQuery   = `topk by (instance, device, id) (1, ssdprobe_drive_health_info)`
	ratioQuery    = `max by (instance, device, id) (ssdprobe_drive_health_slower_ratio)`
	sinceQuery    = `min by (instance, device, id) (ssdprobe_drive_health_since_timestamp_seconds)`
	powerOnQuery  = `max by (instance, id) (ssdprobe_nvme_power_on_seconds_total) or max by (instance, id) (ssdprobe_drive_power_on_seconds_total)`
	hostQuery     = `max by (instance, state) (ssdprobe_host_health) == 1`
	hostRatio     = `max by (instance) (ssdprobe_host_health_slower_ratio)`
	silentQuery   = `group by (instance) (last_over_time(ssdprobe_build_info[1d])) unless on (instance) group by (instance) (ssdprobe_build_info)`
	excessQuery   = `max by (instance, device, id) (device:ssdprobe_probe_level_seconds:excess{statistic!~"latency_p9.*"})`
	farQuery      = `max by (instance, device, id) (device:ssdprobe_probe_level_seconds:excess > on (model, size, kind, engine, probe, statistic) group_left () model:ssdprobe_probe_level_seconds:limit)`
	limitQuery    = `max by (instance, device, id) (device:ssdprobe_probe_level_seconds:excess{statistic!~"latency_p9.*"} ^ 0 * on (model, size, kind, engine, probe, statistic) group_left () model:ssdprobe_probe_level_seconds:limit)`
	fastestQuery  = `max by (model, firmware) (model_firmware:ssdprobe_probe_level_seconds:vs_fastest{statistic!~"latency_p9.*"})`
	slowerQuery   = `max by (model, firmware) (model_firmware:ssdprobe_probe_level_seconds:vs_fastest > on (model, size, kind, engine, probe, statistic) group_left () model:ssdprobe_probe_level_seconds:firmware_limit)`
	queriesAtOnce = 4
)

// driveKey names a target: two nodes may know one id, as of a drive with two ports.
type driveKey struct{ node, id string }

type modelKey struct{ model, firmware string }

type firmware struct {
	vsFastest float64
	slower    bool
}

// Ask asks a server for the fleet at a time. Errors: ErrNothing, and those of the server.
func Ask(ctx context.Context, s promapi.Server, at time.Time) (Fleet, error) {
	queries := []string{
		healthQuery, aboutQuery, reasonQuery, ratioQuery, sinceQuery, powerOnQuery, hostQuery, hostRatio, silentQuery,
		excessQuery, farQuery, limitQuery, fastestQuery, slowerQuery,
	}
	list := make([]model.Vector, len(queries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(queriesAtOnce)
	for i, query := range queries {
		group.Go(func() (err error) {
			list[i], err = s.Now(ctx, query, at)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Fleet{}, fmt.Errorf("ask for the fleet: %w", err)
	}
	answers := make(map[string]model.Vector, len(queries))
	for i, query := range queries {
		answers[query] = list[i]
	}
	if len(answers[healthQuery]) == 0 && len(answers[silentQuery]) == 0 {
		return Fleet{}, ErrNothing
	}
	return join(answers, at), nil
}

func label(s *model.Sample, name model.LabelName) string { return string(s.Metric[name]) }

// byDrive are the values of an answer by target.
func byDrive(v model.Vector) map[driveKey]float64 {
	out := map[driveKey]float64{}
	for _, s := range v {
		if x := float64(s.Value); !math.IsNaN(x) {
			out[driveKey{label(s, "instance"), label(s, "id")}] = x
		}
	}
	return out
}

func join(answers map[string]model.Vector, at time.Time) Fleet {
	f := Fleet{Time: at, Drives: []Drive{}, Hosts: []Host{}, Silent: []string{}}
	about, reasons := map[driveKey]*model.Sample{}, map[driveKey]*model.Sample{}
	for _, s := range answers[aboutQuery] {
		about[driveKey{label(s, "instance"), label(s, "id")}] = s
	}
	for _, s := range answers[reasonQuery] {
		reasons[driveKey{label(s, "instance"), label(s, "id")}] = s
	}
	ratio, since, powerOn := byDrive(answers[ratioQuery]), byDrive(answers[sinceQuery]), byDrive(answers[powerOnQuery])
	excess, far, limit := byDrive(answers[excessQuery]), byDrive(answers[farQuery]), byDrive(answers[limitQuery])
	of := map[string]int{}
	for _, s := range answers[healthQuery] {
		key := driveKey{label(s, "instance"), label(s, "id")}
		d := Drive{
			Node: key.node, ID: key.id, Device: label(s, "device"), Verdict: record.DriveVerdict(label(s, "state")), Ratio: ratio[key],
			VsPeers: excess[key], Limit: limit[key], PowerOn: time.Duration(powerOn[key]) * time.Second,
		}
		if a := about[key]; a != nil {
			d.Kind, d.Model, d.Firmware = label(a, "kind"), label(a, "model"), label(a, "firmware")
		}
		if r := reasons[key]; r != nil {
			d.Batch = label(r, "scope") == string(record.ScopeBatch)
			if by := label(r, "witnesses"); by != "" {
				d.By = strings.Split(by, ",")
			}
		}
		if t, ok := since[key]; ok {
			d.Since = time.UnixMilli(int64(t * 1000))
		}
		d.besideTheFleet(far[key])
		if d.VsPeers > 0 {
			f.Compared++
		}
		of[d.Node]++
		f.Drives = append(f.Drives, d)
	}
	f.Hosts = hosts(answers, of)
	f.Models = models(f.Drives, firmwares(answers))
	for _, s := range answers[silentQuery] {
		f.Silent = append(f.Silent, label(s, "instance"))
	}
	f.order()
	return f
}

// besideTheFleet takes what all nodes together say of the drive: 0 where it is not far slower than its peers.
func (d *Drive) besideTheFleet(far float64) {
	if far == 0 {
		return
	}
	d.By = append(d.By, byFleet)
	if !d.Verdict.Blames() {
		d.Verdict, d.Ratio, d.Since = record.Degraded, far, time.Time{}
	}
}

func hosts(answers map[string]model.Vector, drives map[string]int) []Host {
	ratio := map[string]float64{}
	for _, s := range answers[hostRatio] {
		ratio[label(s, "instance")] = float64(s.Value)
	}
	list := []Host{}
	for _, s := range answers[hostQuery] {
		node := label(s, "instance")
		list = append(list, Host{Node: node, Drives: drives[node], Verdict: record.DriveVerdict(label(s, "state")), Ratio: ratio[node]})
	}
	return list
}

func firmwares(answers map[string]model.Vector) map[modelKey]firmware {
	out := map[modelKey]firmware{}
	for _, s := range answers[fastestQuery] {
		out[modelKey{label(s, "model"), label(s, "firmware")}] = firmware{vsFastest: float64(s.Value)}
	}
	for _, s := range answers[slowerQuery] {
		out[modelKey{label(s, "model"), label(s, "firmware")}] = firmware{vsFastest: float64(s.Value), slower: true}
	}
	return out
}
