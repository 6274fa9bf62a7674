// Each baseline beside those of the drive's peers. A group of its own, evaluated beside that of the levels.
function(config) {
  name: 'ssdprobe-baselines',
  interval: '2m',
  rules: [
    // A drive that was slow when its baseline was learned.
    {
      record: 'device:ssdprobe_baseline_seconds:comparable',
      expr: |||
        (
            max by (cluster, job, instance, device, id, probe, statistic) (ssdprobe_baseline_value{statistic!="iops"})
          or
            1 / max by (cluster, job, instance, device, id, probe, statistic) (ssdprobe_baseline_value{statistic="iops"} > 0)
        )
        * on (cluster, job, instance, device, id) group_left (model, firmware, transport, kind, size, engine) device:ssdprobe_device_info:comparable
      |||,
    },
    {
      record: 'model:ssdprobe_baseline_seconds:p50',
      expr: |||
        quantile by (model, size, kind, engine, probe, statistic) (0.5, device:ssdprobe_baseline_seconds:comparable)
        and
          count by (model, size, kind, engine, probe, statistic) (device:ssdprobe_baseline_seconds:comparable) >= 4
      |||,
    },
    {
      record: 'device:ssdprobe_baseline_seconds:vs_peers',
      expr: |||
        device:ssdprobe_baseline_seconds:comparable
        / on (model, size, kind, engine, probe, statistic) group_left ()
          model:ssdprobe_baseline_seconds:p50
      |||,
    },
  ],
}
