package main

// recorded is the part of docs/metrics.md about the recording rules. A test of deploytest
// compares it with deploy/prometheus/rules.yaml.
const recorded = `
## Recording rules

[rules.yaml](../deploy/prometheus/rules.yaml) records these; the alerts and the dashboards need them. The first part of a name says what it has one
series for. A level is in seconds: a percentile of the latency or, for ` + "`statistic=\"iops\"`" + `, the seconds for each I/O. Drives are compared with those of
one model, size, kind and engine; [the runbook](runbook.md#ssdprobedriveslowerthanpeers) says how.

| name | meaning |
|---|---|
| ` + "`device:ssdprobe_device_info:unique`" + ` | ` + "`ssdprobe_device_info`" + `, once for each target |
| ` + "`device:ssdprobe_device_info:comparable`" + ` | the same with the labels size (bytes) and engine. Drives are compared if these, model and kind agree |
| ` + "`device:ssdprobe_pcie_link:ratio`" + ` | bandwidth of the PCIe link as a share of what both ends support |
| ` + "`device:ssdprobe_probe_latency_percentile_seconds:avg1h`" + ` | mean of a percentile over the last hour |
| ` + "`device:ssdprobe_probe_iops:avg1h`" + ` | mean of IOPS over the last hour |
| ` + "`model_firmware:ssdprobe_drives:count`" + ` | targets of a model and firmware |
| ` + "`model_firmware:ssdprobe_probe_latency_percentile_seconds:p50`, `:p95`, `:max`" + ` | the median drive of a model and firmware, what 95 % of them stay below, and the slowest |
| ` + "`model_firmware:ssdprobe_probe_iops:p50`" + ` | IOPS of the median drive of a model and firmware |
| ` + "`device:ssdprobe_condition_effect_ratio:comparable`" + ` | ` + "`ssdprobe_condition_effect_ratio`" + ` with the model, without changes that came with another engine |
| ` + "`condition:ssdprobe_condition_effect_ratio:p50`, `:count`" + ` | median over the drives that changed, by condition, from, to, probe and statistic, and how many there are. With the label model over the drives of a model, without it over all |
| ` + "`condition:ssdprobe_condition_effect_ratio:slower`" + ` | the medians above 1.15 (p95, p99: 1.3), of five drives or more |
| ` + "`device:ssdprobe_probe_level_seconds:avg1h`" + ` | level of a drive in the last hour, by probe and statistic. Volumes that are virtual or behind a network have none: they share a model without being alike |
| ` + "`model:ssdprobe_probe_level_seconds:p50`, `:count`" + ` | median of the levels of a model, and how many there are |
| ` + "`model_firmware:ssdprobe_probe_level_seconds:p50`" + ` | median of a firmware that five drives on three nodes have |
| ` + "`device:ssdprobe_probe_level_seconds:vs_peers`" + ` | how many times slower a drive is than the median of its peers. Absent with fewer than four drives of the model |
| ` + "`model:ssdprobe_probe_level_seconds:mad_ln`" + ` | median absolute deviation of the logarithms of these ratios: how much drives of a model differ |
| ` + "`model:ssdprobe_probe_level_seconds:limit`" + ` | ratio that a drive has to exceed: six standard deviations, and 1.25 (p95, p99: 1.5) |
| ` + "`device:ssdprobe_probe_level_seconds:by_changes`" + ` | how many times slower a change of conditions made the drives that have it, over the fleet |
| ` + "`device:ssdprobe_probe_level_seconds:vs_peers_and_changes`" + ` | the ratio of a drive without that part, if most of its peers do not have it |
| ` + "`instance:ssdprobe_probe_level_seconds:vs_peers`, `:vs_limit`, `:count`" + ` | what nine tenths of a node's drives exceed: the ratio, and the ratio as a share of its limit; and how many drives there are |
| ` + "`device:ssdprobe_probe_level_seconds:excess`" + ` | the ratio of a drive without that part and without the part of its node |
| ` + "`model_firmware:ssdprobe_probe_level_seconds:vs_fastest`" + ` | how many times slower the median of a firmware is than that of the fastest one of the model, which the label fastest names |
| ` + "`model:ssdprobe_probe_level_seconds:firmware_limit`" + ` | ratio that a firmware has to exceed: six standard errors, and 1.15 (p95, p99: 1.3) |
| ` + "`device:ssdprobe_baseline_seconds:comparable`" + ` | baseline of a drive as a level |
| ` + "`model:ssdprobe_baseline_seconds:p50`" + ` | median of the baselines of a model, of four or more |
| ` + "`device:ssdprobe_baseline_seconds:vs_peers`" + ` | how many times slower the baseline of a drive is than that median |
`
