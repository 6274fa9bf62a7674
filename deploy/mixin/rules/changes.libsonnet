// What changes of conditions did: a firmware, a kernel, a link, a governor.
function(config) {
  name: 'ssdprobe-changes',
  rules: [
    // Where the engine changed as well, it is not known what the other change did.
    {
      record: 'device:ssdprobe_condition_effect_ratio:comparable',
      expr: |||
        max by (job, instance, device, id, probe, condition, from, to, statistic) (
          ssdprobe_condition_effect_ratio
          unless on (job, instance, id, probe) ssdprobe_condition_effect_ratio{condition="engine"}
        )
        * on (job, instance, device, id) group_left (model) device:ssdprobe_device_info:comparable
      |||,
    },

    // The median over all drives that changed, without the label model, and over those
    // of each model: a kernel may slow the drives of one model alone.
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

    // Those that made five drives slower by 15 % (p95 and p99: 30 %), by default. What a change did to
    // one drive is known to about a tenth, as it is compared over few blocks; the
    // median of five to a twentieth.
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
