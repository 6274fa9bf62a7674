package main

// recorded is the part of docs/metrics.md about the recording rules. A test of deploytest
// compares it with deploy/prometheus/rules.yaml.
const recorded = `
## Recording rules

[rules.yaml](../deploy/prometheus/rules.yaml) records these series; the alerts and the dashboards need them. The first part of a name is the unit that has one
series, such as a device or a model. A level is in seconds: a percentile of the latency or, for ` + "`statistic=\"iops\"`" + `, the seconds for each I/O. Drives are compared with drives
of the same model, size, kind and engine; [the runbook](runbook.md#ssdprobedriveslowerthanpeers) says how.

Where one server has several clusters, the series of nodes and drives keep the label ` + "`cluster`" + `, and figures for the dashboards are those of a cluster: the
names that begin with ` + "`fleet:`" + `, the sums over models, and latencies and IOPS of a model and firmware. Drives are compared with peers of all clusters.

| name | meaning |
|---|---|
| ` + "`device:ssdprobe_device_info:unique`" + ` | ` + "`ssdprobe_device_info`" + `, once for each target |
| ` + "`device:ssdprobe_device_info:comparable`" + ` | the same with the labels size (bytes) and engine. Drives are compared if size, engine, model and kind agree |
| ` + "`device:ssdprobe_pcie_link:ratio`" + ` | bandwidth of the PCIe link as a share of what both ends support |
| ` + "`controller:ssdprobe_critical_warning:last`" + ` | 1 for a critical warning that was set when the drive last answered, 0 for one that it took back. Absent for drives that never warned or are gone, for heat, and for a rated endurance that is used. Of SATA and SAS drives, condition is self_assessment |
| ` + "`drive:ssdprobe_media_errors:max`" + ` | media errors and lost sectors of a drive, by count, whatever its name in the kernel |
| ` + "`device:ssdprobe_probe_latency_percentile_seconds:avg1h`" + ` | mean of a percentile over the last hour |
| ` + "`device:ssdprobe_probe_iops:avg1h`" + ` | mean of IOPS over the last hour |
| ` + "`model_firmware:ssdprobe_drives:count`" + ` | number of targets of a model and firmware |
| ` + "`model_firmware:ssdprobe_probe_latency_percentile_seconds:p50`, `:p95`, `:max`" + ` | the median drive of a model and firmware, the value that 95 % of its drives stay below, and the slowest drive |
| ` + "`model_firmware:ssdprobe_probe_iops:p50`" + ` | IOPS of the median drive of a model and firmware |
| ` + "`device:ssdprobe_condition_effect_ratio:comparable`" + ` | ` + "`ssdprobe_condition_effect_ratio`" + ` with the model, without changes that came together with a change of the engine |
| ` + "`condition:ssdprobe_condition_effect_ratio:p50`, `:count`" + ` | median over the drives that changed, by condition, from, to, probe and statistic, and the number of these drives. Series with the label model cover one model, series without it all models |
| ` + "`condition:ssdprobe_condition_effect_ratio:slower`" + ` | those medians that are above 1.15 (p95, p99: 1.3) and cover five drives or more |
| ` + "`device:ssdprobe_probe_level_seconds:avg1h`" + ` | level of a drive in the last hour, by probe and statistic. Virtual volumes and volumes behind a network have none, because they share a model without being alike |
| ` + "`model:ssdprobe_probe_level_seconds:p50`, `:count`" + ` | median of the levels of a model, and their number |
| ` + "`model_firmware:ssdprobe_probe_level_seconds:count`, `:p50`" + ` | number of drives with a firmware, and their median, which is absent unless they are five on three nodes |
| ` + "`device:ssdprobe_probe_level_seconds:vs_peers`" + ` | how many times slower a drive is than the median of its peers. Absent with fewer than four drives of the model |
| ` + "`model:ssdprobe_probe_level_seconds:mad_ln`" + ` | median absolute deviation of the logarithms of these ratios, which shows how much drives of a model differ |
| ` + "`model:ssdprobe_probe_level_seconds:limit`" + ` | ratio that a drive has to exceed: six standard deviations, and at least 1.25 (p95, p99: 1.5) |
| ` + "`device:ssdprobe_probe_level_seconds:by_changes`" + ` | how many times slower a change of conditions made the drives that have it, over the fleet |
| ` + "`device:ssdprobe_probe_level_seconds:vs_peers_and_changes`" + ` | the ratio of a drive to its peers, without the effect of the change if most of its peers do not have it |
| ` + "`instance:ssdprobe_probe_level_seconds:vs_peers`, `:vs_limit`, `:count`" + ` | the ratio to its peers that nine tenths of a node's drives reach (all, if fewer than ten); the same as a share of the limit; the number of drives |
| ` + "`device:ssdprobe_probe_level_seconds:excess`" + ` | the ratio of a drive to its peers, without the effects of changes and of its node |
| ` + "`model_firmware:ssdprobe_probe_level_seconds:vs_fastest`" + ` | how many times slower the median of a firmware is than that of the model's fastest firmware, which the label fastest names |
| ` + "`model:ssdprobe_probe_level_seconds:firmware_limit`" + ` | ratio that a firmware has to exceed: six standard errors, and at least 1.15 (p95, p99: 1.3) |
| ` + "`device:ssdprobe_baseline_seconds:comparable`" + ` | baseline of a drive as a level |
| ` + "`model:ssdprobe_baseline_seconds:p50`" + ` | median of the baselines of a model. Absent with fewer than four |
| ` + "`device:ssdprobe_baseline_seconds:vs_peers`" + ` | how many times slower the baseline of a drive is than the median of its model |
| ` + "`model_state:ssdprobe_drives:count`" + ` | number of targets of a model with each verdict. These and the following are for the graphs of the fleet. Targets without a model have no label model |
| ` + "`model_outcome:ssdprobe_probe_rounds:rate5m`" + ` | rounds per second of all probes on drives of a model, by outcome |
| ` + "`model_reason:ssdprobe_drives_unjudged:count`" + ` | number of targets of a model that are not judged, or have a statistic that is not, by reason |
| ` + "`model:ssdprobe_drives_without_peers:count`" + ` | number of targets of a model that are not compared across nodes |
| ` + "`model_code:ssdprobe_findings:count`" + ` | number of targets and probes of a model with a finding, by code and severity; without the label model, also of nodes |
| ` + "`model_suite_outcome:ssdprobe_runs:rate5m`" + ` | runs per second on drives of a model, by suite and outcome |
| ` + "`model_suite:ssdprobe_runs_in_progress:count`" + ` | number of targets of a model on which a suite runs, or waits for the device |
| ` + "`instance:ssdprobe_answered_timestamp_seconds:last`" + ` | when a node last answered Prometheus, in seconds since 1970. Absent a month later, and a day later if Prometheus has no target for it |
| ` + "`fleet:ssdprobe_nodes:count`" + ` | number of nodes that answer |
| ` + "`fleet:ssdprobe_cpu:max`, `:avg`" + ` | share of a core that ssdprobe uses: on the node with the highest use, and on average |
| ` + "`fleet:ssdprobe_memory_bytes:max`, `:avg`" + ` | the same for resident memory |
`
