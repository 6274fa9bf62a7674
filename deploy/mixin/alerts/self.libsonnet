// ssdprobe itself, per node.
local text = import '../text.libsonnet';

function(config) {
  name: 'ssdprobe-self',
  rules: [
    {
      alert: 'SsdprobeDown',
      // Works for any job name: the target exported ssdprobe's metrics within the month. An hour, so that the alert goes on
      // when Prometheus was down.
      expr: |||
        max by (cluster, job, instance) (max_over_time(up[5m])) == 0
        and on (cluster, job, instance) last_over_time(instance:ssdprobe_answered_timestamp_seconds:last[1h])
      |||,
      'for': '15m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'ssdprobe does not answer.',
        description: |||
          Prometheus has had no answer from ssdprobe on {{ $labels.instance }} for more than 15 minutes, so its drives are not watched.
          {{- with printf "last_over_time(instance:ssdprobe_answered_timestamp_seconds:last{cluster=%q,job=%q,instance=%q}[1h])" $labels.cluster $labels.job $labels.instance | query }}
          It last answered at {{ . | first | value | humanizeTimestamp }}.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeRestarting',
      // In between it answers, so it is not down. A pod that is evicted has a series of its own. The start time of a process moves
      // whenever the clock of its machine is set; its CPU time does not.
      expr: |||
        (
            (
                max by (cluster, job, instance) (resets(process_cpu_seconds_total[1h]))
              +
                count by (cluster, job, instance) (last_over_time(process_cpu_seconds_total[1h]))
              - 1
            )
          and on (cluster, job, instance)
            last_over_time(ssdprobe_build_info{%(selector)s}[1h])
        ) >= %(restarts)d
      ||| % config,
      'for': '15m',
      keep_firing_for: '15m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'ssdprobe restarts again and again.',
        description: |||
          ssdprobe on {{ $labels.instance }} has restarted at least {{ $value }} times in the last hour, so its drives are watched only at times; its log says why it ends.
        |||,
      },
    },

    // These budgets are far above the normal cost (0.14 % of a core per target, 31 MiB
    // for 24 targets: docs/benchmarks.md), so that only a fault exceeds them.
    {
      alert: 'SsdprobeCPUBudgetExceeded',
      expr: |||
        max by (cluster, job, instance) (rate(process_cpu_seconds_total[1h]) and on (cluster, job, instance) ssdprobe_build_info{%(selector)s})
        > on (cluster, job, instance)
        %(cpuRatio)g + %(cpuRatioOfTarget)g * (count by (cluster, job, instance) (ssdprobe_target_up) or on (cluster, job, instance) 0 * max by (cluster, job, instance) (ssdprobe_build_info))
      ||| % config,
      'for': '30m',
      keep_firing_for: '15m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'ssdprobe uses more CPU than it should.',
        description: 'ssdprobe on {{ $labels.instance }} has used {{ $value | humanizePercentage }} of a core over the last hour; its limit is '
                     + '%g %% plus %g %% for each target' % [100 * config.cpuRatio, 100 * config.cpuRatioOfTarget] + |||
          {{- with printf "rate(process_cpu_seconds_total{cluster=%q,job=%q,instance=%q}[1h] offset 1d)" $labels.cluster $labels.job $labels.instance | query }}.
          A day ago it was {{ . | first | value | humanizePercentage }}{{ end }}.
          {{- with printf "process_start_time_seconds{cluster=%q,job=%q,instance=%q}" $labels.cluster $labels.job $labels.instance | query }}
          It was started at {{ . | first | value | humanizeTimestamp }}.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeMemoryBudgetExceeded',
      expr: |||
        max by (cluster, job, instance) (
          min_over_time(process_resident_memory_bytes[30m]) and on (cluster, job, instance) ssdprobe_build_info{%(selector)s}
        ) > %(memoryMiB)d * 1024 * 1024
      ||| % config,
      'for': '30m',
      keep_firing_for: '15m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'ssdprobe uses more memory than it should.',
        description: 'ssdprobe on {{ $labels.instance }} has held {{ $value | humanize1024 }}B or more for the last 30 minutes; %dMiB is its limit' % config.memoryMiB + |||
          {{- with printf "process_resident_memory_bytes{cluster=%q,job=%q,instance=%q} offset 1d" $labels.cluster $labels.job $labels.instance | query }}.
          A day ago it was {{ . | first | value | humanize1024 }}B{{ end }}.
          {{- with printf "process_start_time_seconds{cluster=%q,job=%q,instance=%q}" $labels.cluster $labels.job $labels.instance | query }}
          It was started at {{ . | first | value | humanizeTimestamp }}.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeConfigurationReloadFailed',
      expr: 'min by (cluster, job, instance) (ssdprobe_collector_success{collector="configuration",%(selector)s}) == 0' % config,
      'for': '5m',
      keep_firing_for: '5m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'ssdprobe refused its new configuration.',
        description: |||
          The last reload of ssdprobe on {{ $labels.instance }} failed, so the old configuration stays in force. The log says what is wrong, or which change needs a restart.
          {{- with printf "max_over_time(timestamp(ssdprobe_collector_success{cluster=%q,job=%q,instance=%q,collector=\"configuration\"} == 1)[1d:1m])"
          $labels.cluster $labels.job $labels.instance | query }}
          It was valid until {{ . | first | value | humanizeTimestamp }}.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeStateFailing',
      expr: 'min by (cluster, job, instance) (ssdprobe_collector_success{collector="state",%(selector)s}) == 0' % config,
      'for': '15m',
      keep_firing_for: '15m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'ssdprobe cannot keep its state.',
        description: |||
          The state directory of ssdprobe on {{ $labels.instance }} cannot be read or written. Measuring goes on, but a restart would lose the baselines learned since.
          {{- with printf "max_over_time(timestamp(ssdprobe_collector_success{cluster=%q,job=%q,instance=%q,collector=\"state\"} == 1)[1d:1m])"
          $labels.cluster $labels.job $labels.instance | query }}
          It last worked at {{ . | first | value | humanizeTimestamp }}.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeCollectorFailing',
      // Sources of a device or, with device and id empty, of the whole node.
      expr: |||
        (
            (max by (cluster, job, instance, device, id, collector) (ssdprobe_collector_success{collector!~"configuration|state",%(selector)s}) == 0)
            * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
        )
        or on (cluster, job, instance, device, id, collector)
          (max by (cluster, job, instance, device, id, collector) (ssdprobe_collector_success{collector!~"configuration|state",%(selector)s}) == 0)
      ||| % config,
      'for': '30m',
      keep_firing_for: '15m',
      labels: { severity: 'info' },
      annotations: {
        summary: 'ssdprobe cannot read one of its sources.',
        description: |||
          ssdprobe on {{ $labels.instance }} cannot read {{ $labels.collector }}
          {{- if $labels.id }} of {{ if $labels.device }}{{ $labels.device }} {{ end }}({{ $labels.id }}{{ with $labels.model }}, {{ . }}{{ end }}){{ end }}:
          all readings have failed for 30 minutes or more, so their metrics are missing; the log says why.
          {{- with printf "max_over_time(timestamp(ssdprobe_collector_success{cluster=%q,job=%q,instance=%q,id=%q,collector=%q} == 1)[1d:1m])"
          $labels.cluster $labels.job $labels.instance $labels.id $labels.collector | query }}
          The last successful reading was at {{ . | first | value | humanizeTimestamp }}.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeNotWatching',
      expr: 'max by (cluster, job, instance, code) (ssdprobe_finding{code="nothing_watched",%(selector)s})' % config,
      'for': '30m',
      keep_firing_for: '15m',
      // A node without drives may be meant to have none.
      labels: { severity: 'info' },
      annotations: {
        summary: 'ssdprobe watches nothing.',
        description: |||
          ssdprobe on {{ $labels.instance }} watches nothing: it finds no device, or none that the configuration selects.
          Nobody is told if a drive gets slower there.
        |||,
      },
    },

    {
      alert: 'SsdprobeNotWatching',
      expr: |||
        count by (cluster, job, instance, code) (
          max by (cluster, job, instance, code, device) (ssdprobe_finding{code="not_watched",%(selector)s})
        )
      ||| % config,
      'for': '30m',
      keep_firing_for: '15m',
      // The configuration selects these drives, so they are meant to be watched.
      labels: { severity: 'warning' },
      annotations: {
        summary: 'ssdprobe does not watch all that it should.',
        description: |||
          ssdprobe on {{ $labels.instance }} may not read {{ $value }} of the drives that its configuration selects:
          {{- range printf "count by (device) (ssdprobe_finding{cluster=%q,job=%q,instance=%q,code=\"not_watched\"})"
          $labels.cluster $labels.job $labels.instance | query | sortByLabel "device" }} {{ .Labels.device }}{{ end }}.
          Nobody is told if a drive gets slower there.
        |||,
      },
    },
  ],
}
