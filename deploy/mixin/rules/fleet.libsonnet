// How fast drives of one kind are, in each cluster. A percentile over drives says how the drives
// differ: `:p95` is what 95 of 100 drives are below. It is taken of the drives'
// own percentiles, whose label `percentile` stays.
function(config) {
  name: 'ssdprobe-fleet',
  interval: '2m',
  rules: [
    // One hour, so that a burst of load on one drive does not make it an outlier.
    {
      record: 'device:ssdprobe_probe_latency_percentile_seconds:avg1h',
      expr: |||
        max by (cluster, job, instance, device, id, probe, percentile) (avg_over_time(ssdprobe_probe_latency_percentile_seconds[1h]))
        * on (cluster, job, instance, device, id) group_left (model, firmware, transport, kind, size, engine) device:ssdprobe_device_info:comparable
      |||,
    },
    {
      record: 'device:ssdprobe_probe_iops:avg1h',
      expr: |||
        max by (cluster, job, instance, device, id, probe) (avg_over_time(ssdprobe_probe_iops[1h]))
        * on (cluster, job, instance, device, id) group_left (model, firmware, transport, kind, size, engine) device:ssdprobe_device_info:comparable
      |||,
    },

    {
      record: 'model_firmware:ssdprobe_drives:count',
      expr: 'count by (cluster, model, firmware, kind) (device:ssdprobe_device_info:unique{model!=""})',
    },
    {
      record: 'model_firmware:ssdprobe_probe_latency_percentile_seconds:p50',
      expr: 'quantile by (cluster, model, firmware, kind, probe, percentile) (0.5, device:ssdprobe_probe_latency_percentile_seconds:avg1h)',
    },
    {
      record: 'model_firmware:ssdprobe_probe_latency_percentile_seconds:p95',
      expr: 'quantile by (cluster, model, firmware, kind, probe, percentile) (0.95, device:ssdprobe_probe_latency_percentile_seconds:avg1h)',
    },
    {
      record: 'model_firmware:ssdprobe_probe_latency_percentile_seconds:max',
      expr: 'max by (cluster, model, firmware, kind, probe, percentile) (device:ssdprobe_probe_latency_percentile_seconds:avg1h)',
    },
    {
      record: 'model_firmware:ssdprobe_probe_iops:p50',
      expr: 'quantile by (cluster, model, firmware, kind, probe) (0.5, device:ssdprobe_probe_iops:avg1h)',
    },
  ],
}
