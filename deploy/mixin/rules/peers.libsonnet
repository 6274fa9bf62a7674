// Compares each drive with its peers: the drives of its model and size, measured by the
// same engine. Raw devices and probe files are not peers of each other.
//
// The rules use medians and median absolute deviations, because bad drives hardly move
// them: up to three in ten drives may be slow. With more, the limit rises, and the least
// slow are no longer found. They use
// logarithms, because slowness is a factor. 1.4826 converts the median absolute deviation
// of normally distributed values to a standard deviation.
//
// Levels are means over an hour, and alerts on them wait for six. So two minutes are often
// enough, and leave Prometheus time for tens of thousands of drives.

// The lowest decile of the drives of a node, or the lowest of fewer than ten.
local lowest(of) = |||
  quantile by (cluster, job, instance, transport, kind, probe, statistic) (0.1, %(of)s)
  and
    instance:ssdprobe_probe_level_seconds:count >= 10
  or
    min by (cluster, job, instance, transport, kind, probe, statistic) (%(of)s)
||| % { of: std.rstripChars(of, '\n') };

function(config) {
  name: 'ssdprobe-peers',
  interval: '2m',
  rules: [
    // The level of a drive, in seconds: higher is worse for every statistic. The
    // label `statistic` is that of ssdprobe_drift_ratio. The p99.9 is left out: it is
    // little more than the slowest I/O. Volumes that are virtual, or behind a network,
    // share a model without being alike: add yours to those that are left out.
    {
      record: 'device:ssdprobe_probe_level_seconds:avg1h',
      expr: |||
        max without (percentile) (
          label_replace(
            device:ssdprobe_probe_latency_percentile_seconds:avg1h{percentile=~"50|95|99",transport!~"%(unlikeTransports)s",model!~"%(unlikeModels)s"},
            "statistic", "latency_p${1}_seconds", "percentile", "(.*)"
          )
        )
        or
        label_replace(1 / (device:ssdprobe_probe_iops:avg1h{transport!~"%(unlikeTransports)s",model!~"%(unlikeModels)s"} > 0), "statistic", "iops", "", "")
      ||| % config,
    },

    {
      record: 'model:ssdprobe_probe_level_seconds:count',
      expr: 'count by (model, size, kind, engine, probe, statistic) (device:ssdprobe_probe_level_seconds:avg1h)',
    },
    {
      record: 'model:ssdprobe_probe_level_seconds:p50',
      expr: 'quantile by (model, size, kind, engine, probe, statistic) (0.5, device:ssdprobe_probe_level_seconds:avg1h)',
    },

    {
      record: 'model_firmware:ssdprobe_probe_level_seconds:count',
      expr: 'count by (model, firmware, size, kind, engine, probe, statistic) (device:ssdprobe_probe_level_seconds:avg1h)',
    },

    // For each firmware that five drives on three nodes have. With fewer, the difference
    // may come from those drives or their host.
    {
      record: 'model_firmware:ssdprobe_probe_level_seconds:p50',
      expr: |||
        quantile by (model, firmware, size, kind, engine, probe, statistic) (0.5, device:ssdprobe_probe_level_seconds:avg1h)
        and
          model_firmware:ssdprobe_probe_level_seconds:count >= 5
        and
          count by (model, firmware, size, kind, engine, probe, statistic) (
            count by (cluster, job, instance, model, firmware, size, kind, engine, probe, statistic) (device:ssdprobe_probe_level_seconds:avg1h)
          ) >= 3
      |||,
    },

    // How many times slower a drive is than the median of its peers: those with its
    // firmware, or all peers if these are too few. So a slow firmware is one finding about
    // the firmware. There is no series with fewer than four drives of the model. The median is chosen for each
    // firmware, not for each drive: in a large fleet, that allocates less than half as much.
    {
      record: 'device:ssdprobe_probe_level_seconds:vs_peers',
      expr: |||
        device:ssdprobe_probe_level_seconds:avg1h
        / on (model, firmware, size, kind, engine, probe, statistic) group_left () (
            (
                model_firmware:ssdprobe_probe_level_seconds:p50
              or
                model_firmware:ssdprobe_probe_level_seconds:count ^ 0
                * on (model, size, kind, engine, probe, statistic) group_left ()
                  model:ssdprobe_probe_level_seconds:p50
            )
            and on (model, size, kind, engine, probe, statistic)
              model:ssdprobe_probe_level_seconds:count >= 4
        )
      |||,
    },

    // How much the drives of a model differ.
    {
      record: 'model:ssdprobe_probe_level_seconds:mad_ln',
      expr: 'quantile by (model, size, kind, engine, probe, statistic) (0.5, abs(ln(device:ssdprobe_probe_level_seconds:vs_peers)))',
    },

    // The limit that a drive has to exceed: six standard deviations, and a quarter slower
    // (p95 and p99: half). Drives of one model differ by a few percent in the median,
    // and a small number of drives may seem to differ less than they do. Tails depend
    // more on what else a drive does.
    {
      record: 'model:ssdprobe_probe_level_seconds:limit',
      expr: |||
        clamp_min(exp(%(deviations)g * 1.4826 * model:ssdprobe_probe_level_seconds:mad_ln{statistic!~"latency_p9.*"}), %(peerRatio)g)
        or
        clamp_min(exp(%(deviations)g * 1.4826 * model:ssdprobe_probe_level_seconds:mad_ln{statistic=~"latency_p9.*"}), %(peerTailRatio)g)
      ||| % config,
    },

    // How much the changes of conditions in ...effect_ratio:slower contribute to the level of a drive.
    // Firmware is left out, because drives are compared with others of their firmware.
    {
      record: 'device:ssdprobe_probe_level_seconds:by_changes',
      expr: |||
        device:ssdprobe_probe_level_seconds:avg1h ^ 0
        * on (cluster, job, instance, device, id, probe, statistic) group_left ()
          max by (cluster, job, instance, device, id, probe, statistic) (
            device:ssdprobe_condition_effect_ratio:comparable{condition!="firmware"} ^ 0
            * on (condition, from, to, probe, statistic) group_left ()
              max by (condition, from, to, probe, statistic) (condition:ssdprobe_condition_effect_ratio:slower)
          )
      |||,
    },

    // The ratio without that part: during the rollout of a new kernel, the drives that
    // have it are not worse drives. Once most have it, it is in the median as well.
    {
      record: 'device:ssdprobe_probe_level_seconds:vs_peers_and_changes',
      expr: |||
        device:ssdprobe_probe_level_seconds:vs_peers
        / clamp_min(
            device:ssdprobe_probe_level_seconds:by_changes
            / on (model, size, kind, engine, probe, statistic) group_left ()
              quantile by (model, size, kind, engine, probe, statistic) (0.5,
                device:ssdprobe_probe_level_seconds:by_changes or device:ssdprobe_probe_level_seconds:avg1h ^ 0
              ),
            1
          )
        or
        device:ssdprobe_probe_level_seconds:vs_peers
      |||,
    },

    // The slowdown that the drives of a node share: the lowest decile of its drives, so that
    // nine tenths are slower than that. Of fewer than ten, it is the lowest: a decile between
    // two drives would be a slowdown that one of them does not have. By transport, because
    // one cause slows an NVMe drive and a hard disk unequally.
    {
      record: 'instance:ssdprobe_probe_level_seconds:count',
      expr: 'count by (cluster, job, instance, transport, kind, probe, statistic) (device:ssdprobe_probe_level_seconds:vs_peers_and_changes)',
    },
    {
      record: 'instance:ssdprobe_probe_level_seconds:vs_peers',
      expr: lowest('device:ssdprobe_probe_level_seconds:vs_peers_and_changes'),
    },
    {
      record: 'instance:ssdprobe_probe_level_seconds:vs_limit',
      expr: lowest(|||
        device:ssdprobe_probe_level_seconds:vs_peers_and_changes
        / on (model, size, kind, engine, probe, statistic) group_left ()
          model:ssdprobe_probe_level_seconds:limit
      |||),
    },

    // How many times slower the drive itself is: without the part of its node to the power
    // of one and a half, because one cause slows drives unequally. A node of one or two
    // drives has no such part, and a node that is faster than others blames no drive.
    {
      record: 'device:ssdprobe_probe_level_seconds:excess',
      expr: |||
        device:ssdprobe_probe_level_seconds:vs_peers_and_changes
        / on (cluster, job, instance, transport, kind, probe, statistic) group_left () (
            clamp_min(instance:ssdprobe_probe_level_seconds:vs_peers and instance:ssdprobe_probe_level_seconds:count >= 3, 1) ^ 1.5
          or
            instance:ssdprobe_probe_level_seconds:count ^ 0
        )
      |||,
    },

    // Each firmware against the fastest one of the model, and the limit that it has to
    // exceed: 15 % (p95 and p99: 30 %), and six standard errors of the difference of
    // the medians of five drives each, which is 1.2533 * (2 / 5) ^ 0.5 standard deviations.
    {
      record: 'model_firmware:ssdprobe_probe_level_seconds:vs_fastest',
      expr: |||
        model_firmware:ssdprobe_probe_level_seconds:p50
        / on (model, size, kind, engine, probe, statistic) group_left (fastest) label_replace(
            bottomk by (model, size, kind, engine, probe, statistic) (1, model_firmware:ssdprobe_probe_level_seconds:p50),
            "fastest", "$1", "firmware", "(.*)"
          )
      |||,
    },
    {
      record: 'model:ssdprobe_probe_level_seconds:firmware_limit',
      expr: |||
        clamp_min(exp(%(deviations)g * 1.2533 * (2 / 5) ^ 0.5 * 1.4826 * model:ssdprobe_probe_level_seconds:mad_ln{statistic!~"latency_p9.*"}), %(firmwareRatio)g)
        or
        clamp_min(exp(%(deviations)g * 1.2533 * (2 / 5) ^ 0.5 * 1.4826 * model:ssdprobe_probe_level_seconds:mad_ln{statistic=~"latency_p9.*"}), %(firmwareTailRatio)g)
      ||| % config,
    },
  ],
}
