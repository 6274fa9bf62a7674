// The effect of changes of conditions: firmware, kernel, link, governor.
function(config) {
  name: 'ssdprobe-changes',
  rules: [
    // If the engine changed as well, the effect of the other change is unknown.
    {
      record: 'device:ssdprobe_condition_effect_ratio:comparable',
      expr: |||
        max by (cluster, job, instance, device, id, probe, condition, from, to, statistic) (
          ssdprobe_condition_effect_ratio
          unless on (cluster, job, instance, id, probe) ssdprobe_condition_effect_ratio{condition="engine"}
        )
        * on (cluster, job, instance, device, id) group_left (model) device:ssdprobe_device_info:comparable
      |||,
    },

    // The median over all drives that changed (without the label model), and over those
    // of each model: a kernel may slow only the drives of one model.
    {
      record: 'condition:ssdprobe_condition_effect_ratio:count',
      expr: |||
        count by (condition, from, to, probe, statistic) (device:ssdprobe_condition_effect_ratio:comparable)
        or
        count by (condition, from, to, probe, statistic, model) (device:ssdprobe_condition_effect_ratio:comparable)
      |||,
    },
    {
      record: 'condition:ssdprobe_condition_effect_ratio:p50',
      expr: |||
        quantile by (condition, from, to, probe, statistic) (0.5, device:ssdprobe_condition_effect_ratio:comparable)
        or
        quantile by (condition, from, to, probe, statistic, model) (0.5, device:ssdprobe_condition_effect_ratio:comparable)
      |||,
    },

    // Changes that made five drives slower by 15 % (p95 and p99: 30 %), by default. The effect on
    // one drive is known to about a tenth, because it is measured over few blocks; the
    // median of five drives to a twentieth.
    {
      record: 'condition:ssdprobe_condition_effect_ratio:slower',
      expr: |||
        (
            condition:ssdprobe_condition_effect_ratio:p50{statistic!~"latency_p9.*"} > %(changeRatio)g
          or
            condition:ssdprobe_condition_effect_ratio:p50{statistic=~"latency_p9.*"} > %(changeTailRatio)g
        )
        and
          condition:ssdprobe_condition_effect_ratio:count >= %(changeDrives)d
      ||| % config,
    },
  ],
}
