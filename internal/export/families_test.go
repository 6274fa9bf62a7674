package export_test

import (
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

// movement is a change of one fact, with the families that show it.
type movement struct {
	name     string
	families []string
	change   func(*record.Snapshot, *export.Latencies)
}

// moves returns a movement of a fact about the node.
func moves(name string, change func(*record.Snapshot), families ...string) movement {
	return movement{name, families, func(s *record.Snapshot, _ *export.Latencies) { change(s) }}
}

// ofTarget returns a movement of a fact about the regressed raw device.
func ofTarget(name string, change func(*record.TargetStatus), families ...string) movement {
	return moves(name, func(s *record.Snapshot) { change(&s.Targets[1]) }, families...)
}

// ofProbe returns a movement of a fact about a probe on that device.
func ofProbe(name string, change func(*record.ProbeStatus), families ...string) movement {
	return ofTarget(name, func(t *record.TargetStatus) { change(&t.Probes[0]) }, families...)
}

func movements() []movement {
	later := recordtest.Now().Add(-time.Second)
	return slices.Concat([]movement{
		moves("a source fails", func(s *record.Snapshot) { s.Collectors[0].Success = false }, "ssdprobe_collector_success", "ssdprobe_finding"),
		moves("a source is slow", func(s *record.Snapshot) { s.Collectors[0].Duration *= 2 }, "ssdprobe_collector_duration_seconds"),
		moves("the configuration file is edited", func(s *record.Snapshot) { s.ConfigChanged = new(true) }, "ssdprobe_config_file_changed"),
		moves("there is nothing but the fallback file", func(s *record.Snapshot) { s.FallbackUsed = new(true) }, "ssdprobe_fallback_file_used"),
		moves("a probe runs more often", func(s *record.Snapshot) {
			for i := range s.Targets {
				s.Targets[i].Probes[0].Probe.Interval /= 2
			}
		}, "ssdprobe_probe_interval_seconds"),
		moves("quiet hours begin", func(s *record.Snapshot) { s.QuietUntil = later.Add(time.Hour) }, "ssdprobe_quiet", "ssdprobe_finding"),
		moves("a warning of the node", func(s *record.Snapshot) { s.Warnings = nil }, "ssdprobe_finding"),
		moves("time goes on", func(s *record.Snapshot) { s.Time = s.Time.Add(time.Second) }, "ssdprobe_probe_inflight_seconds"),
		moves("disturbance cannot be seen", func(s *record.Snapshot) {
			s.Warnings = append(s.Warnings, record.Warning{Code: record.WarnDisturbanceBlind})
		}, "ssdprobe_finding", "ssdprobe_probe_cpu_wait_ratio"),
		moves("the baseline needs more", func(s *record.Snapshot) { s.Targets[2].Probes[0].LearningGoal++ }, "ssdprobe_baseline_samples_goal"),
		moves("one more round is learned", func(s *record.Snapshot) { s.Targets[2].Probes[0].LearningRounds++ }, "ssdprobe_baseline_samples"),
		moves("a file is written", func(s *record.Snapshot) { s.Targets[2].Probes[2].WrittenBytes++ }, "ssdprobe_probe_written_bytes_total"),
		{"one more round is observed", []string{"ssdprobe_probe_latency_seconds"}, func(s *record.Snapshot, l *export.Latencies) {
			l.Observe("nvme0n1", *s.Targets[0].Probes[0].Last)
		}},
	}, recorderMovements(), targetMovements(later), verdictMovements(later), trafficMovements(), ioMovements(), runMovements(later), probeMovements(later), driftMovements(later), controllerMovements(later))
}

func recorderMovements() []movement {
	ofRecorder := func(name string, change func(*record.RecorderStatus), families ...string) movement {
		return moves(name, func(s *record.Snapshot) { change(s.Recorder) }, families...)
	}
	all := []string{
		"ssdprobe_recordings", "ssdprobe_recordings_size_bytes", "ssdprobe_recordings_written_total", "ssdprobe_recordings_failures_total",
		"ssdprobe_recording_last_timestamp_seconds",
	}
	return []movement{
		ofRecorder("the same was recorded twice", func(r *record.RecorderStatus) {
			h := r.Recordings[0]
			h.Bytes = 0
			r.Recordings = append(r.Recordings, h)
		}, all[0]),
		ofRecorder("a larger recording", func(r *record.RecorderStatus) { r.Recordings[0].Bytes++ }, all[1]),
		ofRecorder("one more recording was written", func(r *record.RecorderStatus) { r.Written++ }, all[2]),
		ofRecorder("a recording could not be written", func(r *record.RecorderStatus) { r.Failed++ }, all[3]),
		ofRecorder("a later recording", func(r *record.RecorderStatus) {
			r.Recordings[0].Until = r.Recordings[0].Until.Add(time.Second)
		}, all[4]),
		ofRecorder("nothing is recorded", func(r *record.RecorderStatus) { r.Recordings = nil }, all[0], all[1], all[4]),
		moves("no recorder", func(s *record.Snapshot) { s.Recorder = nil }, all...),
	}
}

func targetMovements(later time.Time) []movement {
	return []movement{
		ofTarget("another model", func(t *record.TargetStatus) { t.Device.Model += "X" }, "ssdprobe_device_info"),
		ofTarget("another size", func(t *record.TargetStatus) { t.Device.SizeBytes++ }, "ssdprobe_device_size_bytes"),
		ofTarget("another scheduler", func(t *record.TargetStatus) { t.Conditions.Scheduler = "bfq" }, "ssdprobe_device_conditions_info"),
		ofTarget("a condition changed", func(t *record.TargetStatus) { t.Changed["kernel"] = later }, "ssdprobe_conditions_changed_timestamp_seconds"),
		ofTarget("a slower slot", func(t *record.TargetStatus) { t.Device.Link.MaxGTs = 8 }, "ssdprobe_pcie_link_speed_transfers_per_second"),
		ofTarget("a narrower slot", func(t *record.TargetStatus) { t.Device.Link.MaxLanes = 2 }, "ssdprobe_pcie_link_width_lanes"),
		ofTarget("a slower link", func(t *record.TargetStatus) { t.Device.Link.CurrentGTs = 5 },
			"ssdprobe_pcie_link_speed_transfers_per_second"),
		ofTarget("it comes back", func(t *record.TargetStatus) { t.Returns++ }, "ssdprobe_device_returns_total"),
		ofTarget("a problem", func(t *record.TargetStatus) { t.Problem = "open /dev/nvme1n1: no such device" }, "ssdprobe_target_up", "ssdprobe_finding"),
		ofTarget("more of it written", func(t *record.TargetStatus) { *t.WrittenRatio = 0.5 }, "ssdprobe_device_written_ratio"),
		ofTarget("more blocks to read from", func(t *record.TargetStatus) { t.PoolBlocks++ }, "ssdprobe_device_pool_blocks"),
		ofTarget("a warning of the target", func(t *record.TargetStatus) { t.Warnings = nil }, "ssdprobe_finding"),
		ofTarget("a source of the target fails", func(t *record.TargetStatus) { t.Collectors[0].Success = false }, "ssdprobe_collector_success", "ssdprobe_finding"),
	}
}

func verdictMovements(later time.Time) []movement {
	ofDrive := func(name string, change func(*record.Judgement), families ...string) movement {
		return ofTarget(name, func(t *record.TargetStatus) { change(t.Verdict) }, families...)
	}
	of := func(what string) []string {
		var all []string
		for _, part := range []string{"", "_info", "_slower_ratio", "_slower_ratio_lower", "_slower_ratio_upper", "_since_timestamp_seconds"} {
			all = append(all, "ssdprobe_"+what+"_health"+part)
		}
		return all
	}
	const onsets = "ssdprobe_drive_health_onset_timestamp_seconds"
	drive, host := append(of("drive"), onsets), of("host")
	slow := record.Judgement{
		Verdict: record.Severe, Ratio: record.Ratio{Ratio: 1.4, Lower: 1.3, Upper: 1.5}, Since: later, Witnesses: []string{"probes", "traffic"}, Source: "read-4k",
		Onsets: map[string]time.Time{"probes": later, "traffic": later},
	}
	return []movement{
		ofDrive("the drive is well", func(v *record.Judgement) { *v = record.Judgement{Verdict: record.Healthy} }, drive...),
		ofDrive("the drive is twice as slow", func(v *record.Judgement) { *v = slow }, append(drive, "ssdprobe_finding")...),
		ofDrive("what was healthy has a ratio that blames nobody", func(v *record.Judgement) { v.Verdict = record.Healthy }, drive...),
		ofDrive("another ratio of the drive", func(v *record.Judgement) { v.Ratio.Ratio++ }, drive[2]),
		ofDrive("a wider interval of the drive", func(v *record.Judgement) { v.Ratio.Lower, v.Ratio.Upper = 1.1, 1.9 }, drive[3:5]...),
		ofDrive("too little is known for an interval", func(v *record.Judgement) { v.Ratio.Lower, v.Ratio.Upper = 0, 0 }, drive[3:5]...),
		ofDrive("a slow drive that only stalls now", func(v *record.Judgement) { v.Ratio = record.Ratio{} }, drive[2:5]...),
		ofDrive("slow since later", func(v *record.Judgement) { v.Since = later }, drive[5]),
		ofDrive("it stalls, too, and that began later", func(v *record.Judgement) {
			v.Onsets = map[string]time.Time{"probes": v.Since, "stalls": later}
		}, onsets),
		ofDrive("what changed when the drive got slower", func(v *record.Judgement) {
			v.Attribution = []record.Change{{Condition: "firmware", From: "A", To: "B"}}
		}, "ssdprobe_drive_health_attribution_info"),
		ofDrive("somebody accepted its level", func(v *record.Judgement) { v.Accepted = later }, "ssdprobe_drive_accepted_timestamp_seconds"),
		moves("somebody accepted what the host does", func(s *record.Snapshot) { s.Host.Accepted = later }, "ssdprobe_host_accepted_timestamp_seconds"),
		moves("the host is well", func(s *record.Snapshot) { s.Host = &record.Judgement{Verdict: record.Healthy} }, host[0], host[1]),
		moves("the host cannot be judged for another reason", func(s *record.Snapshot) {
			s.Host = &record.Judgement{Verdict: record.Unjudged, Unjudged: &record.WhyUnjudged{Reason: record.ReasonLearning}}
		}, host[1]),
		moves("the host is slow", func(s *record.Snapshot) { s.Host = new(slow) }, host...),
		moves("nobody judges the host", func(s *record.Snapshot) { s.Host = nil }, host[0], host[1]),
	}
}

func ioMovements() []movement {
	return []movement{
		moves("an event was not seen", func(s *record.Snapshot) { s.IOLatencyMissed[record.MissRecursion]++ }, "ssdprobe_io_latency_missed_total"),
		moves("no programs run", func(s *record.Snapshot) { s.IOLatencyMissed, s.IOLatencyUnreported = nil, nil },
			"ssdprobe_io_latency_missed_total", "ssdprobe_io_latency_unreported_total"),
		moves("there was no room for the report of a slow I/O", func(s *record.Snapshot) { s.IOLatencyUnreported[record.UnreportedRoom]++ },
			"ssdprobe_io_latency_unreported_total"),
		ofTarget("one more read of an application", func(t *record.TargetStatus) { t.IOLatency.Histograms[1].Buckets[60]++ }, "ssdprobe_io_latency_seconds"),
		ofTarget("the same reads take longer", func(t *record.TargetStatus) { t.IOLatency.Histograms[1].Sum *= 2 }, "ssdprobe_io_latency_seconds"),
		ofTarget("there is no room for the device", func(t *record.TargetStatus) { t.IOLatency.Unavailable = record.IOLatencyFull }, "ssdprobe_io_latency_available"),
	}
}

func trafficMovements() []movement {
	ofTraffic := func(name string, change func(*record.TrafficStatus), families ...string) movement {
		return ofTarget(name, func(t *record.TargetStatus) { change(t.Traffic) }, families...)
	}
	latencies := []string{"ssdprobe_traffic_latency_mean_seconds", "ssdprobe_traffic_latency_worst_seconds", "ssdprobe_traffic_ios"}
	stalls := []string{"ssdprobe_device_stalls_total", "ssdprobe_device_stall_seconds_total"}
	total := func(cause record.StallCause, s record.StallTotal) func(*record.TrafficStatus) {
		return func(t *record.TrafficStatus) { t.StallTotals[cause] = s }
	}
	return []movement{
		ofTraffic("others' reads are slower", func(t *record.TrafficStatus) { t.Last.Read.MeanLatency *= 2 }, latencies[0]),
		ofTraffic("others' flushes were slow for a second", func(t *record.TrafficStatus) { t.Last.Flush.WorstSecond *= 9 }, latencies[1]),
		ofTraffic("one more write of others", func(t *record.TrafficStatus) { t.Last.Write.IOs++ }, latencies[2]),
		ofTraffic("others discard", func(t *record.TrafficStatus) {
			t.Last.Discard = record.Served{IOs: 1, MeanLatency: time.Second, WorstSecond: time.Second}
		}, latencies...),
		ofTraffic("a run of ours hides others", func(t *record.TrafficStatus) { t.Last.Unusable = "a run of ssdprobe used the device" },
			append(latencies, "ssdprobe_traffic_known")...),
		ofTraffic("times in ticks of the kernel's clock", func(t *record.TrafficStatus) { t.Last.CoarseTimes = true }, "ssdprobe_traffic_coarse_times"),
		ofTraffic("no interval is over", func(t *record.TrafficStatus) { t.Last = nil }, append(latencies, "ssdprobe_traffic_known")...),
		ofTraffic("one more stall", total(record.StallByDevice, record.StallTotal{Count: 5, Length: 5 * time.Second}), stalls[0]),
		ofTraffic("a longer stall", total(record.StallByDevice, record.StallTotal{Count: 4, Length: 6 * time.Second}), stalls[1]),
		ofTraffic("the first stall by discards", total(record.StallByDiscard, record.StallTotal{Count: 1, Length: 6 * time.Second}), stalls...),
		ofTraffic("the longest was longer", func(t *record.TrafficStatus) { t.Stalls[1].Length += 400 * time.Millisecond }, "ssdprobe_device_stall_longest_seconds"),
		ofTraffic("a stall that a person should know of", func(t *record.TrafficStatus) { t.Stalls[1].Length = 3 * time.Second },
			"ssdprobe_device_stall_longest_seconds", "ssdprobe_finding"),
		ofTraffic("another reset of the controller is no stall by the device", func(t *record.TrafficStatus) { t.Stalls[0].Length *= 9 }),
		ofTarget("nothing is known of the traffic", func(t *record.TargetStatus) { t.Traffic = nil },
			slices.Concat(latencies, stalls, []string{"ssdprobe_traffic_known", "ssdprobe_device_stall_longest_seconds"})...),
	}
}

func runMovements(later time.Time) []movement {
	ofRun := func(name string, change func(*record.RunStatus), families ...string) movement {
		return ofTarget(name, func(t *record.TargetStatus) { change(&t.Runs[0]) }, families...)
	}
	load := func(r *record.RunStatus) *record.ComparedLoad { return &r.Comparison.Loads[0] }
	slow, few := record.Histogram{{Latency: time.Second, Count: 10_000}}, record.Histogram{{Latency: time.Second, Count: 500}}
	return []movement{
		ofRun("one more earlier run", func(r *record.RunStatus) { load(r).Before++ }, "ssdprobe_run_baseline_runs"),
		ofRun("earlier runs were slower", func(r *record.RunStatus) { load(r).Figures[0].Before /= 2 }, "ssdprobe_run_baseline_value"),
		ofRun("it compares otherwise", func(r *record.RunStatus) { load(r).Figures[0].Slower.Value *= 2 }, "ssdprobe_run_drift_ratio"),
		ofRun("it is called slower", func(r *record.RunStatus) { load(r).Figures[0].Verdict = record.Slower }, "ssdprobe_run_drift_state"),
		ofRun("all of it is", func(r *record.RunStatus) { r.Comparison.Verdict = record.Slower }, "ssdprobe_run_verdict", "ssdprobe_finding"),
		ofRun("one more run", func(r *record.RunStatus) { r.Outcomes[record.RunOK]++ }, "ssdprobe_runs_total"),
		ofRun("a run in progress", func(r *record.RunStatus) { r.Since = later }, "ssdprobe_run_in_progress"),
		ofRun("due later", func(r *record.RunStatus) { r.Next = later }, "ssdprobe_run_next_timestamp_seconds"),
		ofRun("a longer run", func(r *record.RunStatus) { r.Last.Started = r.Last.Started.Add(-time.Minute) }, "ssdprobe_run_duration_seconds"),
		ofRun("a later run", func(r *record.RunStatus) {
			r.Last.Started, r.Last.Finished = r.Last.Started.Add(time.Hour), r.Last.Finished.Add(time.Hour)
		}, "ssdprobe_run_last_completion_timestamp_seconds"),
		ofRun("a warning of the run", func(r *record.RunStatus) { r.Last.Warnings = nil }, "ssdprobe_run_warning"),
		ofRun("a warning of a step", func(r *record.RunStatus) { r.Last.Steps[0].Warnings = nil }, "ssdprobe_run_warning"),
		ofRun("more reads", func(r *record.RunStatus) { r.Last.Steps[0].Read.IOPS++ }, "ssdprobe_run_read_iops"),
		ofRun("more read", func(r *record.RunStatus) { r.Last.Steps[0].Read.BytesPerSecond++ }, "ssdprobe_run_read_bytes_per_second"),
		ofRun("slower reads", func(r *record.RunStatus) { r.Last.Steps[0].Read.Latency = slow }, "ssdprobe_run_read_latency_percentile_seconds"),
		ofRun("more writes", func(r *record.RunStatus) { r.Last.Steps[1].Write.IOPS++ }, "ssdprobe_run_write_iops"),
		ofRun("more written", func(r *record.RunStatus) { r.Last.Steps[1].Write.BytesPerSecond++ }, "ssdprobe_run_write_bytes_per_second"),
		ofRun("slower writes", func(r *record.RunStatus) { r.Last.Steps[1].Write.Latency = slow }, "ssdprobe_run_write_latency_percentile_seconds"),
		ofRun("few reads", func(r *record.RunStatus) { r.Last.Steps[0].Read.Latency = few },
			"ssdprobe_run_read_latency_percentile_seconds", "ssdprobe_run_read_latency_percentile_ios"),
		ofRun("few writes", func(r *record.RunStatus) { r.Last.Steps[1].Write.Latency = few },
			"ssdprobe_run_write_latency_percentile_seconds", "ssdprobe_run_write_latency_percentile_ios"),
	}
}

func probeMovements(later time.Time) []movement {
	return []movement{
		ofProbe("the window is slower", func(p *record.ProbeStatus) { p.Window.Percentiles[2].Latency++ },
			"ssdprobe_probe_latency_percentile_seconds"),
		ofProbe("a percentile needs more rounds", func(p *record.ProbeStatus) { p.Window.Percentiles[3].Span += time.Minute }),
		ofProbe("a percentile of too few I/Os", func(p *record.ProbeStatus) { p.Window.Percentiles[3].IOs = 100 },
			"ssdprobe_probe_latency_percentile_window_seconds"),
		ofProbe("fewer I/Os per second", func(p *record.ProbeStatus) { p.Window.IOPS-- }, "ssdprobe_probe_iops"),
		ofProbe("one more busy round", func(p *record.ProbeStatus) { p.Rounds[record.OutcomeBusy]++ }, "ssdprobe_probe_rounds_total"),
		ofProbe("more was read", func(p *record.ProbeStatus) { p.ReadBytes++ }, "ssdprobe_probe_read_bytes_total"),
		ofProbe("a read probe wrote", func(p *record.ProbeStatus) { p.WrittenBytes++ }, "ssdprobe_probe_written_bytes_total"),
		ofProbe("one more error", func(p *record.ProbeStatus) { p.Errors["EIO"]++ }, "ssdprobe_probe_errors_total"),
		ofProbe("another error", func(p *record.ProbeStatus) { p.Errors["ENODATA"]++ }, "ssdprobe_probe_errors_total"),
		ofProbe("a good round", func(p *record.ProbeStatus) { p.LastSuccess = later }, "ssdprobe_probe_last_success_timestamp_seconds"),
		ofProbe("a round on a busy device", func(p *record.ProbeStatus) { p.LoadedRounds++ }, "ssdprobe_probe_loaded_rounds_total"),
		ofProbe("a suspicion is confirmed", func(p *record.ProbeStatus) { p.Confirmations++ }, "ssdprobe_probe_confirmations_total"),
		ofProbe("a round in progress", func(p *record.ProbeStatus) { p.InflightSince = later }, "ssdprobe_probe_inflight_seconds", "ssdprobe_probe_held_back"),
		moves("the device has nothing to do", func(s *record.Snapshot) {
			s.Targets[0].Probes[0].InflightSince = later
			s.Targets[0].Traffic.HeldBack = &record.HeldBack{Since: later}
		}, "ssdprobe_probe_held_back", "ssdprobe_probe_inflight_seconds"),
		ofProbe("more waiting for a CPU", func(p *record.ProbeStatus) { p.Last.Disturbance.CPUWaitRatio = 0.5 }, "ssdprobe_probe_cpu_wait_ratio"),
		ofProbe("a warning of the round", func(p *record.ProbeStatus) { p.Last.Warnings = nil }, "ssdprobe_finding"),
	}
}

func driftMovements(later time.Time) []movement {
	return []movement{
		ofProbe("another baseline", func(p *record.ProbeStatus) { p.Baseline.Values[record.IOPS]++ }, "ssdprobe_baseline_value"),
		ofProbe("learned later", func(p *record.ProbeStatus) { p.Baseline.Learned = later }, "ssdprobe_baseline_learned_timestamp_seconds"),
		ofProbe("learned from more", func(p *record.ProbeStatus) { p.Baseline.Rounds++ }),
		ofProbe("slower", func(p *record.ProbeStatus) { p.Drift[0].Ratio++ }, "ssdprobe_drift_ratio"),
		ofProbe("surely slower", func(p *record.ProbeStatus) { p.Drift[0].Lower++ }, "ssdprobe_drift_ratio_lower"),
		ofProbe("less sure", func(p *record.ProbeStatus) { p.Drift[0].Upper++ }),
		ofProbe("another verdict", func(p *record.ProbeStatus) { p.Drift[0].State = record.Improved }, "ssdprobe_drift_state"),
		ofProbe("stable again", func(p *record.ProbeStatus) { p.Drift[0].State = record.Stable },
			"ssdprobe_drift_state", "ssdprobe_drift_since_timestamp_seconds"),
		ofProbe("not compared for an hour", func(p *record.ProbeStatus) {
			p.Drift[0] = record.Drift{
				Statistic: record.LatencyP50, State: record.Unknown, Since: later,
				Unjudged: &record.WhyUnjudged{Reason: record.ReasonBusy, Since: later},
			}
		}, "ssdprobe_drift_state", "ssdprobe_drift_since_timestamp_seconds", "ssdprobe_drift_unjudged_since_timestamp_seconds",
			"ssdprobe_drift_ratio", "ssdprobe_drift_ratio_lower"),
		ofProbe("not compared since it was found", func(p *record.ProbeStatus) {
			p.Drift[0].Ratio, p.Drift[0].Lower, p.Drift[0].Upper = 0, 0, 0
			p.Drift[0].Unjudged = &record.WhyUnjudged{Reason: record.ReasonHung, Since: later}
		}, "ssdprobe_drift_unjudged_since_timestamp_seconds", "ssdprobe_drift_ratio", "ssdprobe_drift_ratio_lower"),
		ofProbe("a block is not judged", func(p *record.ProbeStatus) { p.UnjudgedBlocks++ }, "ssdprobe_drift_unjudged_blocks"),
		ofTarget("nothing is known of the drive", func(t *record.TargetStatus) {
			t.Verdict = &record.Judgement{Verdict: record.Unjudged, Unjudged: &record.WhyUnjudged{Reason: record.ReasonUnavailable, Since: later}}
		}, "ssdprobe_device_unjudged_since_timestamp_seconds", "ssdprobe_drive_health", "ssdprobe_drive_health_info", "ssdprobe_drive_health_since_timestamp_seconds",
			"ssdprobe_drive_health_onset_timestamp_seconds",
			"ssdprobe_drive_health_slower_ratio", "ssdprobe_drive_health_slower_ratio_lower", "ssdprobe_drive_health_slower_ratio_upper"),
		ofTarget("nothing confirms that the drive is slow", func(t *record.TargetStatus) {
			v := *t.Verdict
			v.Unjudged = &record.WhyUnjudged{Reason: record.ReasonBusy, Since: later}
			t.Verdict = &v
		}, "ssdprobe_drive_health_slower_ratio", "ssdprobe_drive_health_slower_ratio_lower", "ssdprobe_drive_health_slower_ratio_upper"),
		ofTarget("the verdict is only held", func(t *record.TargetStatus) {
			v := *t.Verdict
			v.Held = true
			t.Verdict = &v
		}, "ssdprobe_finding", "ssdprobe_drive_health_slower_ratio", "ssdprobe_drive_health_slower_ratio_lower", "ssdprobe_drive_health_slower_ratio_upper"),
		ofProbe("another onset", func(p *record.ProbeStatus) { p.Drift[0].Since = later }, "ssdprobe_drift_since_timestamp_seconds"),
		ofProbe("a cause", func(p *record.ProbeStatus) {
			p.Drift[0].Attribution = []record.Change{{Condition: "firmware", From: "A", To: "B"}}
		}, "ssdprobe_drift_attribution_info"),
		moves("the effect of a change of conditions is known", func(s *record.Snapshot) {
			s.Targets[0].Probes[0].Effect = &record.Effect{Changes: []record.Change{{Condition: "firmware", From: "A", To: "B"}}}
		}, "ssdprobe_drift_attribution_info"),
		ofProbe("what a change of conditions did is known", func(p *record.ProbeStatus) {
			p.Effect = &record.Effect{
				Changes: []record.Change{{Condition: "firmware", From: "A", To: "B"}},
				Ratios:  map[record.Statistic]record.Ratio{record.LatencyP50: {Ratio: 1.3}},
			}
		}, "ssdprobe_condition_effect_ratio"),
		ofProbe("what all changes of conditions did is known", func(p *record.ProbeStatus) {
			p.Lifetime = map[record.Statistic]record.Lifetime{record.LatencyP50: {Ratio: record.Ratio{Ratio: 1.3}}}
		}, "ssdprobe_lifetime_effect_ratio"),
		ofProbe("an earlier change is no cause of a drift", func(p *record.ProbeStatus) {
			p.Effect = &record.Effect{Changes: []record.Change{{Condition: "firmware", From: "A", To: "B"}}}
		}),
	}
}

func TestOneFactMovesItsFamiliesAndNoOther(t *testing.T) {
	s := recordtest.Snapshot()
	before, _ := exposition(t, gather(t, s, observed(s)))
	for _, m := range movements() {
		t.Run(m.name, func(t *testing.T) {
			changed := recordtest.Snapshot()
			latencies := observed(changed)
			m.change(&changed, latencies)
			after, _ := exposition(t, gather(t, changed, latencies))
			var moved []string
			for name := range maps.Keys(after) {
				if after[name] != before[name] {
					moved = append(moved, name)
				}
			}
			for name := range maps.Keys(before) {
				if _, ok := after[name]; !ok {
					moved = append(moved, name)
				}
			}
			assert.ElementsMatch(t, m.families, moved)
		})
	}
}

// names returns the names of all families that a collector describes.
func names(t *testing.T) []string {
	t.Helper()
	descriptions := make(chan *prometheus.Desc)
	go func() {
		collector(record.Snapshot{}, export.NewLatencies()).Describe(descriptions)
		close(descriptions)
	}()
	pattern := regexp.MustCompile(`fqName: "([^"]+)"`)
	var all []string
	for d := range descriptions {
		match := pattern.FindStringSubmatch(d.String())
		require.NotNil(t, match, d)
		all = append(all, match[1])
	}
	slices.Sort(all)
	return all
}

func TestEveryFamilyIsMoved(t *testing.T) {
	moved := []string{"ssdprobe_build_info"} // TestBuildInfo checks this one
	for _, m := range movements() {
		moved = append(moved, m.families...)
	}
	slices.Sort(moved)
	assert.Equal(t, names(t), slices.Compact(moved))
}

func TestBuildInfo(t *testing.T) {
	all, _ := exposition(t, gather(t, record.Snapshot{}, export.NewLatencies()))
	assert.Equal(t, []string{"ssdprobe_build_info", "ssdprobe_quiet"}, slices.Sorted(maps.Keys(all)), "of a node of which nothing is known")
	assert.Equal(t, "# HELP ssdprobe_build_info Version of ssdprobe, as labels. Always 1. engine is the version of the code that measures. It changes when an update changes what is measured. Only drives with the same engine can be compared.\n"+
		"# TYPE ssdprobe_build_info gauge\n"+
		`ssdprobe_build_info{engine="ssdprobe-2",goversion="go1.26.0",revision="0a1b2c3",version="1.2.3"} 1`+"\n", all["ssdprobe_build_info"])
}
