local text = import '../text.libsonnet';

local critical = {
  summary: 'A drive reports a critical problem.',
  description: text.drive + |||
    {{ if and (not $labels.controller) (eq $labels.condition "temperature") }}is too hot, and gives that as the reason why it fails its own self-assessment.
    {{- else if not $labels.controller }}has failed its own self-assessment: it expects to break, or is too hot.
    {{- else if eq $labels.condition "self_test" }}has failed a self-test, and no later one as thorough has passed, says the log of controller {{ $labels.controller }}.
    {{- range printf "max(ssdprobe_nvme_power_on_seconds_total{cluster=%q,instance=%q,id=%q,controller=%q}) - max(ssdprobe_nvme_self_test_failed_power_on_seconds{cluster=%q,instance=%q,id=%q,controller=%q}) >= 0"
    $labels.cluster $labels.instance $labels.id $labels.controller $labels.cluster $labels.instance $labels.id $labels.controller | query }}
    It has been on for {{ .Value | humanizeDuration }} since.{{ end }}
    {{- else if eq $labels.condition "media_dies" }}has dies of its media offline: {{ $value }}, says controller {{ $labels.controller }}.
    {{- range printf "max(ssdprobe_nvme_media_dies_tolerated{cluster=%q,instance=%q,id=%q,controller=%q})" $labels.cluster $labels.instance $labels.id $labels.controller | query }}
    It tolerates {{ .Value }}.{{ end }}
    {{- else -}}
    reports a critical warning: {{ $labels.condition }} is set in the health log of controller {{ $labels.controller }}.
    {{- with printf "max_over_time(timestamp(ssdprobe_nvme_critical_warning{cluster=%q,instance=%q,id=%q,controller=%q,condition=%q} == 0)[1d:1m])"
    $labels.cluster $labels.instance $labels.id $labels.controller $labels.condition | query }}
    It was clear until {{ . | first | value | humanizeTimestamp }}.
    {{- else }}
    It has been set for a day or more.{{ end }}{{ end }}
    {{- with printf "{__name__=~\"ssdprobe_(nvme_critical_warning|drive_smart_passed)\",cluster=%q,instance=%q,id=%q}" $labels.cluster $labels.instance $labels.id | query }}{{ else }}
    That is its last answer: now it gives none.{{ end }}
  |||,
};

function(config) {
  name: 'ssdprobe-health',
  rules: [
    {
      alert: 'SsdprobeLinkBelowMaximum',
      // The best of half an hour: a link may be slow for a moment while it trains. Not of a drive that is gone.
      expr: |||
        (
            max_over_time(device:ssdprobe_pcie_link:ratio{kind!="file"}[30m])
          or on (cluster, job, instance, device)
            max_over_time(device:ssdprobe_pcie_link:ratio{kind="file"}[30m])
        ) < 1
        and on (cluster, job, instance, device, id, firmware) device:ssdprobe_device_info:unique
      |||,
      'for': '15m',
      keep_firing_for: '15m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'The PCIe link of a drive is below its maximum.',
        description: text.drive + |||
          has a PCIe link with {{ $value | humanizePercentage }} of the bandwidth that drive and slot support:
          {{- range printf "max(ssdprobe_pcie_link_speed_transfers_per_second{cluster=%q,instance=%q,id=%q,state=\"current\"})" $labels.cluster $labels.instance $labels.id | query }}
          {{ humanize .Value }}T/s{{ end }}
          {{- range printf "max(ssdprobe_pcie_link_width_lanes{cluster=%q,instance=%q,id=%q,state=\"current\"})" $labels.cluster $labels.instance $labels.id | query }}
          x{{ .Value }}{{ end }}
          {{- range printf "max(ssdprobe_pcie_link_speed_transfers_per_second{cluster=%q,instance=%q,id=%q,state=\"max\"})" $labels.cluster $labels.instance $labels.id | query }}
          of {{ humanize .Value }}T/s{{ end }}
          {{- range printf "max(ssdprobe_pcie_link_width_lanes{cluster=%q,instance=%q,id=%q,state=\"max\"})" $labels.cluster $labels.instance $labels.id | query }}
          x{{ .Value }}{{ end }}.
          {{- with printf "ssdprobe_conditions_changed_timestamp_seconds{cluster=%q,instance=%q,id=%q,condition=\"pcie_link\"}"
          $labels.cluster $labels.instance $labels.id | query }}
          It changed at {{ . | first | value | humanizeTimestamp }}.
          {{- else }}
          It has been like that since ssdprobe first saw the drive.{{ end }}
        |||,
      },
    },

    // The limits are the drive's own: it counts the time that it spent above them.
    {
      alert: 'SsdprobeTemperatureAboveLimit',
      // At this temperature a drive may switch itself off.
      expr: |||
        (max by (cluster, job, instance, device, id, controller) (increase(ssdprobe_nvme_critical_temperature_seconds_total[1h])) > 0)
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      |||,
      'for': '1m',
      keep_firing_for: '15m',
      labels: { severity: 'critical' },
      annotations: {
        summary: 'A drive is far too hot.',
        description: text.drive + |||
          is far too hot: controller {{ $labels.controller }} has been above its critical temperature for {{ $value | humanizeDuration }} of the last hour.
          {{- range printf "max(ssdprobe_nvme_temperature_celsius{cluster=%q,instance=%q,id=%q,controller=%q})"
          $labels.cluster $labels.instance $labels.id $labels.controller | query }}
          Its hottest sensor is at {{ .Value }} °C now.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeTemperatureAboveLimit',
      expr: |||
        (max by (cluster, job, instance, device, id, controller) (increase(ssdprobe_nvme_warning_temperature_seconds_total[1h])) >= %(hotSeconds)d)
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      ||| % config,
      'for': '5m',
      keep_firing_for: '15m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'A drive is too hot.',
        description: text.drive + |||
          is too hot: controller {{ $labels.controller }} has been above its warning temperature for {{ $value | humanizeDuration }} of the last hour.
          {{- range printf "max(ssdprobe_nvme_temperature_celsius{cluster=%q,instance=%q,id=%q,controller=%q})"
          $labels.cluster $labels.instance $labels.id $labels.controller | query }}
          Its hottest sensor is at {{ .Value }} °C now.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeCriticalWarning',
      // Also of a drive that no longer answers, unless health is switched off.
      expr: |||
        (
            controller:ssdprobe_critical_warning:last == 1
          or
            label_replace(
                max by (cluster, job, instance, device, id, controller) (ssdprobe_nvme_media_dies_offline)
              >
                max by (cluster, job, instance, device, id, controller) (ssdprobe_nvme_media_dies_tolerated),
              "condition", "media_dies", "", ""
            )
        )
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      |||,
      'for': '5m',
      keep_firing_for: '15m',
      labels: { severity: 'critical' },
      annotations: critical,
    },

    {
      alert: 'SsdprobeCriticalWarning',
      // Heat loses no data by itself and may be gone in a minute. A drive may serve for long after a failed test, and with as
      // few dies as it was made for.
      expr: |||
        (
            max by (cluster, job, instance, device, id, controller, condition) (ssdprobe_nvme_critical_warning{condition="temperature"}) == 1
          or
            label_replace(max by (cluster, job, instance, device, id) (ssdprobe_drive_too_hot) == 1, "condition", "temperature", "", "")
          or
            label_replace(max by (cluster, job, instance, device, id, controller) (ssdprobe_nvme_self_test_failed) == 1, "condition", "self_test", "", "")
          or
            label_replace(
                (max by (cluster, job, instance, device, id, controller) (ssdprobe_nvme_media_dies_offline) > 0)
              <=
                max by (cluster, job, instance, device, id, controller) (ssdprobe_nvme_media_dies_tolerated),
              "condition", "media_dies", "", ""
            )
        )
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      |||,
      'for': '15m',
      keep_firing_for: '15m',
      labels: { severity: 'warning' },
      annotations: critical { summary: 'A drive reports a problem.' },
    },

    {
      alert: 'SsdprobeSpareBelowThreshold',
      expr: |||
        (
            max by (cluster, job, instance, device, id, controller) (ssdprobe_nvme_available_spare_ratio)
          <
            max by (cluster, job, instance, device, id, controller) (ssdprobe_nvme_available_spare_threshold_ratio)
        )
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      |||,
      'for': '15m',
      keep_firing_for: '15m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'A drive is running out of spare blocks.',
        description: text.drive + |||
          is running out of spare blocks: controller {{ $labels.controller }} has {{ $value | humanizePercentage }} left
          {{- with printf "ssdprobe_nvme_available_spare_threshold_ratio{cluster=%q,instance=%q,id=%q,controller=%q}"
          $labels.cluster $labels.instance $labels.id $labels.controller | query }}, below the maker's threshold of {{ . | first | value | humanizePercentage }}
          {{- end }}.
          {{- with printf "ssdprobe_nvme_available_spare_ratio{cluster=%q,instance=%q,id=%q,controller=%q} offset 30d"
          $labels.cluster $labels.instance $labels.id $labels.controller | query }}
          30 days ago it was {{ . | first | value | humanizePercentage }}.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeDriveWorn',
      expr: |||
        (max by (cluster, job, instance, device, id, controller) (ssdprobe_nvme_percentage_used_ratio or ssdprobe_drive_percentage_used_ratio) > %(wornRatio)g)
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      ||| % config,
      'for': '15m',
      keep_firing_for: '15m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'A drive is nearly worn out.',
        description: text.drive + |||
          is nearly worn out: {{ $value | humanizePercentage }} of the rated endurance is used. This figure may exceed 100 %.
          {{- with printf "ssdprobe_nvme_critical_warning{cluster=%q,instance=%q,id=%q,controller=%q,condition=\"rated_endurance\"} == 1"
          $labels.cluster $labels.instance $labels.id $labels.controller | query }}
          It calls itself unreliable, probably because of that: it has no media errors and spare blocks enough.{{ end }}
          {{- with printf "{__name__=~\"ssdprobe_(nvme|drive)_percentage_used_ratio\",cluster=%q,instance=%q,id=%q,controller=%q} offset 30d"
          $labels.cluster $labels.instance $labels.id $labels.controller | query }}
          30 days ago it was {{ . | first | value | humanizePercentage }}.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeInterruptsRemote',
      expr: |||
        (
          (
              sum by (cluster, job, instance, device, id, controller) (rate(ssdprobe_nvme_remote_interrupts_total[1h]))
            /
              (sum by (cluster, job, instance, device, id, controller) (rate(ssdprobe_nvme_interrupts_total[1h])) > %(remoteInterruptsFrom)d)
          ) > %(remoteInterruptsRatio)g
        )
        * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
      ||| % config,
      'for': '1h',
      keep_firing_for: '30m',
      labels: { severity: 'info' },
      annotations: {
        summary: 'CPUs of another NUMA node handle most interrupts of a drive.',
        description: text.drive + |||
          has most of its interrupts handled on another NUMA node: {{ $value | humanizePercentage }} of those of controller {{ $labels.controller }} in the last hour
          {{- with printf "sum(rate(ssdprobe_nvme_remote_interrupts_total{cluster=%q,instance=%q,id=%q,controller=%q}[1h] offset 1d)) / (sum(rate(ssdprobe_nvme_interrupts_total{cluster=%q,instance=%q,id=%q,controller=%q}[1h] offset 1d)) > 0)"
          $labels.cluster $labels.instance $labels.id $labels.controller $labels.cluster $labels.instance $labels.id $labels.controller | query }},
          {{ . | first | value | humanizePercentage }} a day ago{{ end }}. Each adds latency.
        |||,
      },
    },
  ],
}
