package fleetview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"golang.org/x/sync/errgroup"

	"github.com/ssdprobe/ssdprobe/internal/promapi"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// ErrNothing says that the server has no series of ssdprobe at the time that was asked for.
var ErrNothing = errors.New("no series ssdprobe_drive_health")

// The queries, by what they return. Sources may disagree for a moment, such as two replicas of Prometheus, or a pod and
// its successor. A drive may then have two states: see worst.
const (
	healthQuery  = `max by (cluster, instance, device, id, state) (ssdprobe_drive_health) == 1`
	aboutQuery   = `topk by (cluster, instance, device, id) (1, ssdprobe_device_info)`
	reasonQuery  = `topk by (cluster, instance, device, id) (1, ssdprobe_drive_health_info)`
	ratioQuery   = `max by (cluster, instance, device, id) (ssdprobe_drive_health_slower_ratio)`
	lowerQuery   = `max by (cluster, instance, device, id) (ssdprobe_drive_health_slower_ratio_lower)`
	upperQuery   = `max by (cluster, instance, device, id) (ssdprobe_drive_health_slower_ratio_upper)`
	sinceQuery   = `min by (cluster, instance, device, id) (ssdprobe_drive_health_since_timestamp_seconds)`
	changesQuery = `group by (cluster, instance, id, condition, from, to) (ssdprobe_drive_health_attribution_info)`
	powerOnQuery = `max by (cluster, instance, id) (ssdprobe_nvme_power_on_seconds_total) or max by (cluster, instance, id) (ssdprobe_drive_power_on_seconds_total)`
	hostQuery    = `max by (cluster, instance, state) (ssdprobe_host_health) == 1`
	hostRatio    = `max by (cluster, instance) (ssdprobe_host_health_slower_ratio)`
	hostLower    = `max by (cluster, instance) (ssdprobe_host_health_slower_ratio_lower)`
	hostUpper    = `max by (cluster, instance) (ssdprobe_host_health_slower_ratio_upper)`
	hostSince    = `min by (cluster, instance) (ssdprobe_host_health_since_timestamp_seconds)`
	silentQuery  = `group by (cluster, instance) (last_over_time(ssdprobe_build_info[1d])) unless on (cluster, instance) group by (cluster, instance) (ssdprobe_build_info)`
	emptyQuery   = `group by (cluster, instance) (ssdprobe_build_info) unless on (cluster, instance) group by (cluster, instance) (ssdprobe_drive_health)`
	// These need the recording rules. besideQuery relates each drive to its limit, by the statistic that is nearest to
	// the limit or furthest beyond it. limitQuery returns the limits. alertQuery returns the alert that fires after hours
	// beyond a limit. A server may have the rules of several clusters, each with limits of its own: that of the drive's
	// cluster counts, as for the alert. Rules over all clusters give limits without a cluster.
	besideQuery  = `topk by (cluster, instance, device, id) (1, device:ssdprobe_probe_level_seconds:excess / ` + ofCluster + `(model:ssdprobe_probe_level_seconds:limit) or device:ssdprobe_probe_level_seconds:excess / ` + ofAll + `(model:ssdprobe_probe_level_seconds:limit))`
	limitQuery   = `max by (cluster, ` + level + `) (model:ssdprobe_probe_level_seconds:limit)`
	alertQuery   = `group by (cluster, instance, id) (ALERTS{alertname="SsdprobeDriveSlowerThanPeers",alertstate="firing"})`
	fastestQuery = `max by (model, firmware) (model_firmware:ssdprobe_probe_level_seconds:vs_fastest{statistic!~"latency_p9.*"})`
	slowerQuery  = `max by (model, firmware) (model_firmware:ssdprobe_probe_level_seconds:vs_fastest > ` + ofCluster + `(model:ssdprobe_probe_level_seconds:firmware_limit) or model_firmware:ssdprobe_probe_level_seconds:vs_fastest > ` + ofAll + `(model:ssdprobe_probe_level_seconds:firmware_limit))`
	// level has the labels of a limit besides the cluster. ofCluster relates a series to the limit of its own cluster, and ofAll
	// to that of all.
	level     = `model, size, kind, engine, probe, statistic`
	ofCluster = `on (cluster, ` + level + `) group_left () max by (cluster, ` + level + `) `
	ofAll     = `on (` + level + `) group_left () max by (` + level + `) `

	queriesAtOnce = 4
)

// driveKey identifies a target. Two nodes may know the same id, such as that of a dual-port drive. A host has no id.
type driveKey struct {
	node Node
	id   string
}

func keyOf(s *model.Sample) driveKey { return driveKey{nodeOf(s), label(s, "id")} }

func nodeOf(s *model.Sample) Node { return Node{label(s, "cluster"), label(s, "instance")} }

type modelKey struct{ model, firmware string }

type firmware struct {
	vsFastest float64
	slower    bool
}

// Ask queries a server for the fleet at a time. It returns ErrNothing or the errors of the server.
func Ask(ctx context.Context, s promapi.Server, at time.Time) (Fleet, error) {
	queries := []string{
		healthQuery, aboutQuery, reasonQuery, ratioQuery, lowerQuery, upperQuery, sinceQuery, changesQuery, powerOnQuery,
		hostQuery, hostRatio, hostLower, hostUpper, hostSince, silentQuery, emptyQuery,
		besideQuery, limitQuery, alertQuery, fastestQuery, slowerQuery,
	}
	list, warnings := make([]model.Vector, len(queries)), make([][]string, len(queries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(queriesAtOnce)
	for i, query := range queries {
		group.Go(func() (err error) {
			list[i], warnings[i], err = s.Now(ctx, query, at)
			list[i] = slices.DeleteFunc(list[i], notANumber)
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
	if len(answers[healthQuery])+len(answers[silentQuery])+len(answers[emptyQuery]) == 0 {
		return Fleet{}, fmt.Errorf("%w at %s: does this server scrape ssdprobe?", ErrNothing, units.Time(at))
	}
	f := join(answers, at)
	f.Problems = slices.Compact(slices.Sorted(slices.Values(slices.Concat(warnings...))))
	return f, nil
}

func label(s *model.Sample, name model.LabelName) string { return string(s.Metric[name]) }

// notANumber reports whether a sample has no finite value, such as a ratio to 0. It says nothing, and JSON has no form for it.
func notANumber(s *model.Sample) bool {
	return math.IsNaN(float64(s.Value)) || math.IsInf(float64(s.Value), 0)
}

// byDrive returns the values of an answer by target.
func byDrive(v model.Vector) map[driveKey]float64 {
	out := map[driveKey]float64{}
	for _, s := range v {
		out[keyOf(s)] = float64(s.Value)
	}
	return out
}

// slower combines the answers of three queries into ratios with their intervals.
func slower(ratio, lower, upper model.Vector) map[driveKey]Slower {
	lowers, uppers := byDrive(lower), byDrive(upper)
	out := map[driveKey]Slower{}
	for key, r := range byDrive(ratio) {
		out[key] = Slower{r, lowers[key], uppers[key]}
	}
	return out
}

// onsets returns the times of an answer by target.
func onsets(v model.Vector) map[driveKey]time.Time {
	out := map[driveKey]time.Time{}
	for key, t := range byDrive(v) {
		out[key] = time.UnixMilli(int64(t * 1000))
	}
	return out
}

// changed returns the changes of conditions of each drive, by their names.
func changed(v model.Vector) map[driveKey][]record.Change {
	out := map[driveKey][]record.Change{}
	for _, s := range v {
		out[keyOf(s)] = append(out[keyOf(s)], record.Change{Condition: label(s, "condition"), From: label(s, "from"), To: label(s, "to")})
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b record.Change) int { return cmp.Compare(a.Condition, b.Condition) })
	}
	return out
}

func join(answers map[string]model.Vector, at time.Time) Fleet {
	f := Fleet{Time: at, Drives: []Drive{}, Hosts: []Host{}, Silent: places(answers[silentQuery]), Empty: places(answers[emptyQuery])}
	about, reasons := map[driveKey]*model.Sample{}, map[driveKey]*model.Sample{}
	for _, s := range answers[aboutQuery] {
		about[keyOf(s)] = s
	}
	for _, s := range answers[reasonQuery] {
		reasons[keyOf(s)] = s
	}
	ratios := slower(answers[ratioQuery], answers[lowerQuery], answers[upperQuery])
	since, changes, powerOn := onsets(answers[sinceQuery]), changed(answers[changesQuery]), byDrive(answers[powerOnQuery])
	beside, alerts := standings(answers), byDrive(answers[alertQuery])
	of := map[Node]int{}
	for key, s := range worst(answers[healthQuery], keyOf) {
		d := Drive{
			Node: key.node, ID: key.id, Device: label(s, "device"), Verdict: record.DriveVerdict(label(s, "state")), Slower: ratios[key], Since: since[key],
			Attribution: changes[key], standing: beside[key], PowerOn: time.Duration(powerOn[key]) * time.Second,
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
		_, alerted := alerts[key]
		d.besideTheFleet(alerted)
		if d.VsPeers > 0 {
			f.Compared++
		}
		of[d.Node]++
		f.Drives = append(f.Drives, d)
	}
	f.Hosts = hosts(answers, of)
	f.Models = models(f.Drives, firmwares(answers))
	f.order()
	return f
}

// places returns the nodes of an answer.
func places(v model.Vector) []string {
	list := []string{}
	for _, s := range v {
		list = append(list, nodeOf(s).Place())
	}
	return list
}

// besideTheFleet applies the comparison with the drives of all nodes. A drive beyond its limit is on watch at first, as a
// job may make it slow for an hour. alerted says that it was beyond the limit for hours, which makes it degraded.
func (d *Drive) besideTheFleet(alerted bool) {
	if d.VsPeers <= d.Limit {
		return
	}
	d.By = append(d.By, byFleet)
	verdict := record.Watch
	if alerted {
		verdict = record.Degraded
	}
	if verdict.Badness() <= d.Verdict.Badness() {
		return
	}
	d.Verdict = verdict
	if d.VsPeers > d.Ratio {
		d.Slower = Slower{Ratio: d.VsPeers}
	}
}

// limitKey is what a limit is for. The cluster is empty for the rules of a single one, or over all of them.
type limitKey struct{ cluster, model, size, kind, engine, probe, statistic string }

func limitKeyOf(s *model.Sample) limitKey {
	return limitKey{label(s, "cluster"), label(s, "model"), label(s, "size"), label(s, "kind"), label(s, "engine"), label(s, "probe"), label(s, "statistic")}
}

// standings returns how drives compare with their peers on all nodes.
func standings(answers map[string]model.Vector) map[driveKey]standing {
	own, highest := map[limitKey]float64{}, map[limitKey]float64{}
	for _, s := range answers[limitQuery] {
		key, limit := limitKeyOf(s), float64(s.Value)
		own[key] = limit
		key.cluster = ""
		highest[key] = max(highest[key], limit)
	}
	out := map[driveKey]standing{}
	for _, s := range answers[besideQuery] {
		key := limitKeyOf(s)
		limit, found := own[key]
		if key.cluster = ""; !found {
			limit = highest[key]
		}
		if limit > 0 {
			out[keyOf(s)] = standing{
				VsPeers: float64(s.Value) * limit, Limit: limit, Probe: label(s, "probe"), Statistic: record.Statistic(label(s, "statistic")),
			}
		}
	}
	return out
}

// worst returns for each key the sample with the worst state.
func worst[K comparable](v model.Vector, of func(*model.Sample) K) map[K]*model.Sample {
	badness := func(s *model.Sample) int { return record.DriveVerdict(label(s, "state")).Badness() }
	out := map[K]*model.Sample{}
	for _, s := range v {
		if known := out[of(s)]; known == nil || badness(s) > badness(known) {
			out[of(s)] = s
		}
	}
	return out
}

func hosts(answers map[string]model.Vector, drives map[Node]int) []Host {
	ratios, since := slower(answers[hostRatio], answers[hostLower], answers[hostUpper]), onsets(answers[hostSince])
	list := []Host{}
	for node, s := range worst(answers[hostQuery], nodeOf) {
		key := driveKey{node: node}
		list = append(list, Host{Node: node, Drives: drives[node], Verdict: record.DriveVerdict(label(s, "state")), Slower: ratios[key], Since: since[key]})
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
