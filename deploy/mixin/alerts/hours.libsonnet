// Alerts that look back for hours. With thousands of nodes, they take Prometheus seconds, so they are evaluated
// every five minutes, and in a group of their own: the alert about a drive that hangs does not wait for them.
local text = import '../text.libsonnet';

function(config) {
  // Probes that often find too few written blocks: the drive is nearly empty.
  local unwritten(span) = std.stripChars(|||
    (
        sum by (cluster, job, instance, id, probe) (increase(ssdprobe_probe_rounds_total{outcome="unmapped"}[%(span)s]))
      >
        0.1 * sum by (cluster, job, instance, id, probe) (increase(ssdprobe_probe_rounds_total[%(span)s]))
    )
  ||| % { span: span }, '\n'),

  // Probes whose last good round was hours ago, and ten of their intervals: rounds may be hours apart.
  local late = std.stripChars(|||
    (
        (time() - max by (cluster, job, instance, device, id, probe) (ssdprobe_probe_last_success_timestamp_seconds)) > %(noResultsHours)d * 3600
      unless on (cluster, job, instance, id, probe)
          time() - max by (cluster, job, instance, id, probe) (ssdprobe_probe_last_success_timestamp_seconds)
        < on (cluster, job, instance, probe) group_left
          10 * max by (cluster, job, instance, probe) (ssdprobe_probe_interval_seconds)
    )
  ||| % config, '\n'),

  name: 'ssdprobe-hours',
  interval: '5m',
  rules: [
    {
      alert: 'SsdprobeTargetGone',
      // A device that is gone has no series, so no other alert fires. This one ends after
      // six hours: by then the drive was removed on purpose. Without the labels device and firmware: a drive that had
      // two names or firmwares in these hours would be gone twice. A drive that comes and goes is never gone for long, so
      // the daemon counts its returns. Virtual volumes and those behind a network come and go with what uses them.
      expr: |||
        (
            (
                round(sum by (cluster, job, instance, id) (increase(ssdprobe_device_returns_total[6h])))
              * on (cluster, job, instance, id) group_left (model)
                max by (cluster, job, instance, id, model) (last_over_time(device:ssdprobe_device_info:unique{transport!~"%(unlikeTransports)s",model!~"%(unlikeModels)s"}[6h]))
            ) > %(returns)d
          or
            max by (cluster, job, instance, id, model) (
                last_over_time(device:ssdprobe_device_info:unique{kind="file"}[6h])
              or
                last_over_time(device:ssdprobe_device_info:unique{transport!~"%(unlikeTransports)s",model!~"%(unlikeModels)s"}[6h])
            )
            unless on (cluster, job, instance, id) device:ssdprobe_device_info:unique
        )
        and on (cluster, job, instance) ssdprobe_build_info
      ||| % config,
      'for': '15m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'A drive has disappeared, or comes and goes.',
        description: |||
          {{ $labels.id }}{{ with $labels.model }} ({{ . }}){{ end }} on {{ $labels.instance }} {{ if gt $value 1.0 -}}
          comes and goes: it came back {{ $value }} times in the last six hours.{{ else -}}
          is gone.
          ssdprobe runs but no longer sees it: it was removed, dropped off the bus, or the configuration now leaves it out.{{ end }}
          {{- range printf "topk(1, max by (device) (max_over_time(timestamp(device:ssdprobe_device_info:unique{cluster=%q,instance=%q,id=%q})[6h:1m])))"
          $labels.cluster $labels.instance $labels.id | query }}
          It was last seen at {{ .Value | humanizeTimestamp }}{{ with .Labels.device }} as {{ . }}{{ end }}.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeNoResults',
      // Rounds are skipped while a device is busy, which may go on for hours. The time counts
      // from the last good round, or else from when both drive and daemon were there; then ten rounds have to be over, too.
      // A drive that was never written has nothing to measure. Other alerts cover a target
      // that is down, a hanging device and a full run. After quiet hours the hours
      // begin again. One alert for each drive, whatever its probes.
      expr: |||
        max by (cluster, job, instance, device, id) (
          (
              %(late)s
            or
                %(noResultsHours)d * 3600 + (max by (cluster, job, instance, device, id, probe) (ssdprobe_probe_rounds_total{outcome="ok"}) == 0)
              and on (cluster, job, instance, id, probe) ssdprobe_probe_rounds_total{outcome="ok"} offset %(noResultsHours)dh
              and on (cluster, job, instance) time() - process_start_time_seconds > %(noResultsHours)d * 3600
              unless on (cluster, job, instance, id, probe) (
                sum by (cluster, job, instance, id, probe) (ssdprobe_probe_rounds_total) < 10
                and on (cluster, job, instance, probe) 10 * ssdprobe_probe_interval_seconds > %(noResultsHours)d * 3600
              )
          )
          unless on (cluster, job, instance, id, probe) %(unwritten)s
          unless on (cluster, job, instance, id, probe) ssdprobe_probe_inflight_seconds > %(stuckSeconds)d
          unless on (cluster, job, instance, id) ssdprobe_target_up == 0
          unless on (cluster, job, instance, id) ssdprobe_run_in_progress == 1
          unless on (cluster, job, instance) max_over_time(ssdprobe_quiet[%(noResultsHours)dh]) == 1
        )
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      ||| % (config { late: late, unwritten: unwritten('%dh' % config.noResultsHours) }),
      'for': '15m',
      keep_firing_for: '15m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'A drive has not been measured for hours.',
        description: text.drive + |||
          has a probe without a good round for {{ $value | humanizeDuration }} or longer, so its current speed in that probe is not known.
          Rounds in the last six hours, of probes without a good one:
          {{- range $i, $rounds := printf "sum by (probe, outcome) (increase(ssdprobe_probe_rounds_total{cluster=%q,instance=%q,id=%q}[6h]) > 0) unless on (probe) increase(ssdprobe_probe_rounds_total{cluster=%q,instance=%q,id=%q,outcome=\"ok\"}[6h]) > 0"
          $labels.cluster $labels.instance $labels.id $labels.cluster $labels.instance $labels.id | query | sortByLabel "outcome" | sortByLabel "probe" }}{{ if $i }};{{ end }} {{ .Labels.probe }}: {{ printf "%.0f" .Value }} {{ .Labels.outcome }}{{ else }} none{{ end }}.
        |||,
      },
    },

    {
      alert: 'SsdprobeBaselineNeverLearned',
      // Learning takes an hour or two. After a change of conditions it starts again, but then there was
      // a baseline within the day. Where rounds are rare, it takes days, and all is well while half of the rounds of a day count.
      // One alert for each drive: about the probe that has learned least.
      expr: |||
        min by (cluster, job, instance, device, id) (
          max by (cluster, job, instance, device, id, probe) (ssdprobe_baseline_samples / ssdprobe_baseline_samples_goal)
          and on (cluster, job, instance, id, probe) ssdprobe_baseline_samples_goal offset 1d
          unless on (cluster, job, instance, id, probe) max_over_time(ssdprobe_baseline_learned_timestamp_seconds[1d])
          unless on (cluster, job, instance, id, probe) %(unwritten)s
          unless on (cluster, job, instance, id, probe)
              max by (cluster, job, instance, id, probe) (ssdprobe_baseline_samples)
              - max by (cluster, job, instance, id, probe) (ssdprobe_baseline_samples offset 1d)
            >= on (cluster, job, instance, probe) group_left
              0.5 * 86400 / max by (cluster, job, instance, probe) (ssdprobe_probe_interval_seconds)
        )
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      ||| % { unwritten: unwritten('1d') },
      'for': '1h',
      keep_firing_for: '1h',
      labels: { severity: 'info' },
      annotations: {
        summary: 'A drive has no baseline after a day.',
        description: text.drive + |||
          has a probe without a baseline. It has been learning for more than a day and has {{ $value | humanizePercentage }} of the rounds
          that it needs. Until then, it cannot notice that the drive becomes slower. Rounds in the last day, of probes that are learning:
          {{- range $i, $rounds := printf "sum by (probe, outcome) (increase(ssdprobe_probe_rounds_total{cluster=%q,instance=%q,id=%q}[1d]) > 0) and on (probe) ssdprobe_baseline_samples_goal{cluster=%q,instance=%q,id=%q}"
          $labels.cluster $labels.instance $labels.id $labels.cluster $labels.instance $labels.id | query | sortByLabel "outcome" | sortByLabel "probe" }}{{ if $i }};{{ end }} {{ .Labels.probe }}: {{ printf "%.0f" .Value }} {{ .Labels.outcome }}{{ else }} none{{ end }}.
        |||,
      },
    },

    {
      alert: 'SsdprobeDriveNotJudged',
      // A day, plus the hours of the first baseline. Other alerts cover a device that hangs or is gone,
      // no good round at all (also since a restart), a baseline that is not learned, and a statistic
      // that has regressed. A nearly empty drive has nothing to judge.
      expr: |||
        (
          max by (cluster, job, instance, device, id) (
            time() - ssdprobe_drift_unjudged_since_timestamp_seconds{reason!~"learning|hung|unavailable|unwritten"} > %(notJudgedHours)d * 3600
            unless on (cluster, job, instance, id, probe) (
              %(late)s
              or ssdprobe_probe_rounds_total{outcome="ok"} == 0
            )
            unless on (cluster, job, instance, id, probe, statistic) ssdprobe_drift_state{state="regressed"} == 1
          )
          or
          max by (cluster, job, instance, device, id) (
            time() - ssdprobe_device_unjudged_since_timestamp_seconds{reason!~"learning|hung|unavailable|unwritten"} > %(notJudgedHours)d * 3600
            unless on (cluster, job, instance, id) ssdprobe_probe_rounds_total
          )
        )
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      ||| % (config { late: late }),
      'for': '1h',
      keep_firing_for: '1h',
      labels: { severity: 'info' },
      annotations: {
        summary: 'A drive has not been judged in full for a day.',
        description: text.drive + |||
          has not been judged for {{ $value | humanizeDuration }}, at least in some statistics: it is not known whether it became slower.
          {{- range printf "count by (probe, reason) (ssdprobe_drift_unjudged_since_timestamp_seconds{cluster=%q,instance=%q,id=%q})"
          $labels.cluster $labels.instance $labels.id | query | sortByLabel "reason" | sortByLabel "probe" }}
          Probe {{ .Labels.probe }}: {{ .Value }} of its statistics, reason {{ .Labels.reason }}.
          {{- else }}{{ range printf "ssdprobe_device_unjudged_since_timestamp_seconds{cluster=%q,instance=%q,id=%q}" $labels.cluster $labels.instance $labels.id | query }}
          Reason: {{ .Labels.reason }}.{{ end }}{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeRunOverdue',
      // The due time stays in the past until a run completes.
      expr: |||
        (
          time() - max by (cluster, job, instance, device, id, suite) (ssdprobe_run_next_timestamp_seconds) > %(runOverdueDays)d * 86400
          unless on (cluster, job, instance, id, suite) ssdprobe_run_in_progress == 1
        )
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      ||| % config,
      'for': '1h',
      labels: { severity: 'info' },
      annotations: {
        summary: 'A scheduled run has not been completed.',
        description: text.drive + |||
          had no full run: suite {{ $labels.suite }} was due {{ $value | humanizeDuration }} ago and has not completed since
          {{- with printf "ssdprobe_run_last_completion_timestamp_seconds{cluster=%q,instance=%q,id=%q,suite=%q}"
          $labels.cluster $labels.instance $labels.id $labels.suite | query }}; its last run ended at {{ . | first | value | humanizeTimestamp }}
          {{- else }}; it never ran here{{ end }}.
          Its window may be too short, or the device too busy in it.
        |||,
      },
    },

    {
      alert: 'SsdprobeMediaErrorsGrowing',
      // The drive keeps its counts across restarts, so what is above the lowest of a day is new. That of NVMe only grows; sectors
      // of a SATA or SAS drive may be replaced or written, so their numbers may fall.
      expr: |||
        (
          max by (cluster, job, instance, id) (drive:ssdprobe_media_errors:max - min_over_time(drive:ssdprobe_media_errors:max[1d])) > 0
        )
        * on (cluster, job, instance, id) group_right max by (cluster, job, instance, device, id, model, firmware) (device:ssdprobe_device_info:unique)
      |||,
      'for': '5m',
      keep_firing_for: '15m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'A drive has new media errors.',
        description: text.drive + |||
          {{ with printf "max(ssdprobe_nvme_media_errors_total{cluster=%q,instance=%q,id=%q})"
          $labels.cluster $labels.instance $labels.id | query }}had {{ $value }} unrecovered data integrity errors in the last 24 hours,
          {{ . | first | value | printf "%.0f" }} in the drive's life: data could not be read.
          {{- else }}has up to {{ $value }} more sectors that it cannot read, or has replaced, than a day ago.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeNotScraped',
      // The scrape job itself is gone: nothing says that a node is down. A job that was renamed, or that
      // got a label of its cluster, has its instances under the new name. A federated job has no `up` here, so it is gone when all of its nodes are.
      // It ends after a day, as by then it was meant.
      // It fires before SsdprobeNodeNotWatched, which it keeps back, although it is evaluated every five minutes only.
      expr: |||
        count by (cluster, job) (
          count by (cluster, job, instance) (present_over_time(ssdprobe_build_info{%(selector)s}[1d:15m]))
          unless on (instance) ssdprobe_build_info
          unless on (cluster, job) (up or ssdprobe_build_info)
        )
      ||| % config,
      'for': '10m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'Prometheus no longer scrapes ssdprobe.',
        description: |||
          Prometheus has no target left in scrape job {{ $labels.job }}, which had ssdprobe on {{ $value }} nodes within the last day, so their drives are not watched.
        |||,
      },
    },

    {
      alert: 'SsdprobeWriteBudgetExceeded',
      expr: |||
        (sum by (cluster, job, instance, device, id) (increase(ssdprobe_probe_written_bytes_total[1d])) > %(writtenGiB)g * 1024 * 1024 * 1024)
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      ||| % config,
      'for': '15m',
      keep_firing_for: '15m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'ssdprobe writes too much to a drive.',
        description: text.drive + |||
          was written too much: write probes wrote {{ $value | humanize1024 }}B in the last 24 hours, more than the budget of two days. This wears the drive.
        |||,
      },
    },
  ],
}
