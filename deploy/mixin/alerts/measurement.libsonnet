local text = import '../text.libsonnet';

function(config) {
  // A round that does not end. The operator selects rounds held back before the device (and), or all others (unless).
  local stuck(operator) = |||
    (max by (cluster, job, instance, device, id) (
      ssdprobe_probe_inflight_seconds
      %(operator)s on (cluster, job, instance, device, id, probe) ssdprobe_probe_held_back == 1
    ) > %(stuckSeconds)d)
    * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
  ||| % (config { operator: operator }),

  name: 'ssdprobe-measurement',
  rules: [
    {
      alert: 'SsdprobeProbeStuck',
      expr: stuck('unless'),
      'for': '1m',
      keep_firing_for: '5m',
      labels: { severity: 'critical' },
      annotations: {
        summary: 'A drive does not answer.',
        description: text.drive + |||
          hangs: a round began {{ $value | humanizeDuration }} ago and has not ended, because an I/O does not
          return from the kernel. Whatever uses the device hangs as well.
        |||,
      },
    },

    {
      // A warning only: this machine holds the I/O back, and whoever formats the drive or suspends a volume knows.
      alert: 'SsdprobeProbeStuck',
      expr: stuck('and'),
      'for': '10m',
      keep_firing_for: '5m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'I/O does not reach a drive.',
        description: text.drive + |||
          gets no I/O: a round began {{ $value | humanizeDuration }} ago and has not ended, and nothing is in
          flight. A volume is suspended, a format or another command keeps the queue frozen, or a
          limit of the cgroup holds the I/O back.
        |||,
      },
    },

    {
      alert: 'SsdprobeProbeFailing',
      // One failed round is not enough; three of one probe within half an hour are. A busy drive has
      // only two rounds in half an hour, so three within an hour are enough if none was good.
      expr: |||
        max by (cluster, job, instance, device, id) (
            sum by (cluster, job, instance, device, id, probe) (increase(ssdprobe_probe_rounds_total{outcome=~"error|timeout"}[30m])) > %(failedRounds)d - 0.5
          or
            sum by (cluster, job, instance, device, id, probe) (increase(ssdprobe_probe_rounds_total{outcome=~"error|timeout"}[1h])) > %(failedRounds)d - 0.5
            unless on (cluster, job, instance, id, probe) increase(ssdprobe_probe_rounds_total{outcome="ok"}[1h]) > 0
        )
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      ||| % config,
      'for': '5m',
      keep_firing_for: '10m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'I/Os on a drive fail.',
        description: text.drive + |||
          fails: in the last hour at least {{ printf "%.0f" $value }} rounds of a probe failed or did not end in time.
          {{- range printf "sum by (errno) (ssdprobe_probe_errors_total{cluster=%q,instance=%q,id=%q})"
          $labels.cluster $labels.instance $labels.id | query | sortByLabel "errno" }}
          {{ .Labels.errno }}: {{ printf "%.0f" .Value }} I/Os since ssdprobe started.{{ end }}
          {{- with printf "floor(max(ssdprobe_probe_last_success_timestamp_seconds{cluster=%q,instance=%q,id=%q}))"
          $labels.cluster $labels.instance $labels.id | query }}
          The last good round was at {{ . | first | value | humanizeTimestamp }}.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeTargetDown',
      // Longer than it takes to fill a probe file, which counts as down until it is full. While a
      // round hangs, SsdprobeProbeStuck fires instead. In quiet hours nothing is opened.
      expr: |||
        (
          max by (cluster, job, instance, device, id) (ssdprobe_target_up) == 0
          unless on (cluster, job, instance, id) ssdprobe_probe_inflight_seconds > %(stuckSeconds)d
          unless on (cluster, job, instance) ssdprobe_quiet == 1
        )
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      ||| % config,
      'for': '20m',
      keep_firing_for: '5m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'A drive cannot be probed.',
        description: text.drive + |||
          cannot be opened or measured; the status page and the log say why.
          {{- with printf "max_over_time(timestamp(ssdprobe_target_up{cluster=%q,instance=%q,id=%q} == 1)[1d:1m])" $labels.cluster $labels.instance $labels.id | query }}
          It last worked at {{ . | first | value | humanizeTimestamp }}.{{ end }}
        |||,
      },
    },
  ],
}
