// Sums over all drives and nodes of a cluster, for the graphs of the fleet. A graph of a day that reads
// the series of each drive reads hundreds of millions of samples in a large fleet, and
// Prometheus stops at 50 million.
//
// Series without the label model are about drives that have no model, such as virtual
// ones, or about nodes.
function(config) {
  name: 'ssdprobe-overview',
  interval: '2m',
  // Each series of a drive once, even while a pod is replaced, and with the drive's model.
  local ofDrives(labels, expr) = |||
    max by (cluster, job, instance, device, id, %s) (
      %s
    )
    * on (cluster, job, instance, device, id) group_left (model) device:ssdprobe_device_info:unique
  ||| % [labels, expr],
  local over(aggregate, by, expr) = '%s by (cluster, %s) (\n  %s\n)' % [aggregate, by, std.strReplace(std.rstripChars(expr, '\n'), '\n', '\n  ')],

  local answering = 'on (cluster, job, instance) ssdprobe_build_info{%(selector)s}' % config,
  local ofNodes(aggregate, expr) = '%s by (cluster) (max by (cluster, job, instance) (%s and %s))' % [aggregate, expr, answering],
  local cpu = 'rate(process_cpu_seconds_total[5m])',
  local memory = 'process_resident_memory_bytes',

  rules: [
    {
      record: 'model_state:ssdprobe_drives:count',
      expr: over('sum', 'model, state', ofDrives('state', 'ssdprobe_drive_health')),
    },
    {
      record: 'model_outcome:ssdprobe_probe_rounds:rate5m',
      expr: over('sum', 'model, outcome', ofDrives('probe, outcome', 'rate(ssdprobe_probe_rounds_total[5m])')),
    },
    // By reason, a drive counts once.
    {
      record: 'model_reason:ssdprobe_drives_unjudged:count',
      expr: over('count', 'model, reason', ofDrives('reason', 'ssdprobe_drift_unjudged_since_timestamp_seconds or ssdprobe_device_unjudged_since_timestamp_seconds')),
    },
    {
      record: 'model:ssdprobe_drives_without_peers:count',
      expr: 'count by (cluster, model) (device:ssdprobe_device_info:comparable unless on (cluster, job, instance, id) device:ssdprobe_probe_level_seconds:vs_peers)',
    },
    // Those of nodes have no model.
    {
      record: 'model_code:ssdprobe_findings:count',
      expr: over('count', 'model, code, severity', ofDrives('probe, code, severity', 'ssdprobe_finding') + |||
        or
        max by (cluster, job, instance, device, id, probe, code, severity) (
          ssdprobe_finding{%(selector)s}
        )
        unless on (cluster, job, instance, device, id) device:ssdprobe_device_info:unique
      ||| % config),
    },

    // The dashboard of runs adds up the rates over the time that it shows.
    {
      record: 'model_suite_outcome:ssdprobe_runs:rate5m',
      expr: over('sum', 'model, suite, outcome', ofDrives('suite, outcome', 'rate(ssdprobe_runs_total[5m])')),
    },
    {
      record: 'model_suite:ssdprobe_runs_in_progress:count',
      expr: over('sum', 'model, suite', ofDrives('suite', 'ssdprobe_run_in_progress')),
    },

    // When each node last answered. The rule reads what it recorded itself, so that it costs
    // little in a fleet of any size, and looks back a day, so that nodes are remembered while
    // Prometheus is down. After a day, a node without a target is taken for one that was removed.
    {
      record: 'instance:ssdprobe_answered_timestamp_seconds:last',
      expr: |||
        max by (cluster, job, instance) (timestamp(ssdprobe_build_info{%(selector)s}))
        or
        last_over_time(instance:ssdprobe_answered_timestamp_seconds:last[1d]) > time() - 86400
        or
        last_over_time(instance:ssdprobe_answered_timestamp_seconds:last[1d]) > time() - 30 * 86400
        and on (cluster, job, instance) up
      ||| % config,
    },
    {
      record: 'fleet:ssdprobe_nodes:count',
      expr: 'count by (cluster) (count by (cluster, job, instance) (ssdprobe_build_info{%(selector)s}))' % config,
    },
    { record: 'fleet:ssdprobe_cpu:max', expr: ofNodes('max', cpu) },
    { record: 'fleet:ssdprobe_cpu:avg', expr: ofNodes('avg', cpu) },
    { record: 'fleet:ssdprobe_memory_bytes:max', expr: ofNodes('max', memory) },
    { record: 'fleet:ssdprobe_memory_bytes:avg', expr: ofNodes('avg', memory) },
  ],
}
