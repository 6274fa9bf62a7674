// Drives, hosts and batches that are slow: the verdict of a node, and of all nodes together.
local text = import '../text.libsonnet';

// The node's verdict on a drive as a whole, which took its evidence. One alert for each drive, whatever
// its probes and statistics. `scope` says whether it is one of a batch, and `failing` that it stalls or fails
// I/Os: no host or batch explains that, so no alert about them silences it. topk takes one when two are seen at
// once, as while a pod is replaced.
local drive(state) = |||
  topk by (cluster, job, instance, device, id) (1, max by (cluster, job, instance, device, id, scope, failing) (
    label_replace(ssdprobe_drive_health_info{state="%s"}, "failing", "yes", "witnesses", ".*(errors|stalls).*")
  ))
  * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
||| % state;

// Its worst figure, since when, by whom, and what changed then. Where only slow rounds have become common, the figure stays near 1 and says nothing.
// Traffic and stalls are counted for a device, whichever of its targets the verdict is on.
local evidence = text.verdict('drive', ['cluster', 'instance', 'id'], ' slower', ' than before or than its peers') + |||
  .
  {{- range printf "topk(1, ssdprobe_drive_health_info{cluster=%q,instance=%q,id=%q,witnesses!=\"\"})" $labels.cluster $labels.instance $labels.id | query }}
  Witnesses: {{ reReplaceAll "," ", " .Labels.witnesses }}.{{ end }}
  {{- range printf "count(ssdprobe_finding{cluster=%q,instance=%q,id=%q,code=\"verdict_held\"})" $labels.cluster $labels.instance $labels.id | query }}
  It is better now, or not judged; the verdict is held, because the trouble came back within a week.{{ end }}
  {{- range printf "topk(1, ssdprobe_drift_ratio{cluster=%q,instance=%q,id=%q} >= 1.05 and on (cluster, instance, id, probe, statistic) ssdprobe_drift_state{cluster=%q,instance=%q,id=%q,state=\"regressed\"})"
  $labels.cluster $labels.instance $labels.id $labels.cluster $labels.instance $labels.id | query }}
  The worst is {{ .Labels.statistic }} of {{ .Labels.probe }}, {{ printf "%.2f" .Value }} times worse than its baseline.{{ end }}
  {{- range printf "max by (operation) (ssdprobe_traffic_latency_mean_seconds{cluster=%q,instance=%q,device=%q,operation=~\"read|write\"} and on (cluster, instance, device) ssdprobe_drive_health_info{cluster=%q,instance=%q,id=%q,witnesses=~\".*traffic.*\"})"
  $labels.cluster $labels.instance $labels.device $labels.cluster $labels.instance $labels.id | query | sortByLabel "operation" }}
  A {{ .Labels.operation }} by its users takes {{ .Value | humanizeDuration }} on average.{{ end }}
  {{- range printf "max(ssdprobe_device_stall_longest_seconds{cluster=%q,instance=%q,device=%q} >= 2)" $labels.cluster $labels.instance $labels.device | query }}
  Its longest stall of the last hour was {{ .Value | humanizeDuration }}: I/O was in flight and none completed.{{ end }}
  {{- range printf "round(sum(increase(ssdprobe_probe_errors_total{cluster=%q,instance=%q,id=%q}[1h]))) >= 1" $labels.cluster $labels.instance $labels.id | query }}
  At least {{ printf "%.0f" .Value }} I/Os of its probes failed in the last hour.{{ end }}
  {{- range printf "count by (condition, from, to) (ssdprobe_drive_health_attribution_info{cluster=%q,instance=%q,id=%q})" $labels.cluster $labels.instance $labels.id | query | sortByLabel "condition" }}
  {{ .Labels.condition }} changed from {{ or .Labels.from "unknown" }} to {{ or .Labels.to "unknown" }} at that time.
  {{- else }}
  No condition is known to have changed at that time.
  {{- end }}
  {{- range printf "floor(min by (witness) (ssdprobe_drive_health_onset_timestamp_seconds{cluster=%q,instance=%q,id=%q,witness=~\"stalls|errors\"})) and on () count(count by (witness) (ssdprobe_drive_health_onset_timestamp_seconds{cluster=%q,instance=%q,id=%q})) > 1"
  $labels.cluster $labels.instance $labels.id $labels.cluster $labels.instance $labels.id | query | sortByLabel "witness" }}
  Its {{ .Labels.witness }} began at {{ .Value | humanizeTimestamp }}.{{ end }}
|||;

// Drives of one model on one node that got slower within an hour of each other.
local batch(state) = |||
  count by (cluster, job, instance, model) (
    max by (cluster, job, instance, device, id) (ssdprobe_drive_health_info{scope="batch",state=~"%s"})
    * on (cluster, job, instance, device, id) group_left (model) device:ssdprobe_device_info:unique
  )
||| % state;

local batchSlower(state, severity, expr) = {
  alert: 'SsdprobeBatchSlower',
  // As severe as the worst of its drives. It inhibits their alerts: see inhibit_rules.yaml.
  expr: expr,
  'for': '30s',
  keep_firing_for: '10m',
  labels: { severity: severity, state: state },
  annotations: {
    summary: 'Several drives of one model on a node got slower together.',
    description: |||
      {{ $value }} drives {{ with $labels.model }}of model {{ . }} {{ end }}on {{ $labels.instance }} got slower within an hour of each other, so they have something in common:
      a firmware, a switch, a volume or a scrub. Times slower:
      {{- range printf "topk(10, max by (device, id) (ssdprobe_drive_health_slower_ratio{cluster=%q,instance=%q} and on (cluster, instance, id) ssdprobe_drive_health_info{cluster=%q,instance=%q,scope=\"batch\"} and on (cluster, instance, id) device:ssdprobe_device_info:unique{cluster=%q,instance=%q,model=%q}))"
      $labels.cluster $labels.instance $labels.cluster $labels.instance $labels.cluster $labels.instance $labels.model | query }} {{ or .Labels.device .Labels.id }} {{ printf "%.2f" .Value }}{{ else }} see the status page{{ end }}.
    ||| + text.changesOfTheDay,
  },
};

local hostSlower(config, state, severity) = {
  alert: 'SsdprobeHostSlower',
  // The node's own verdict, which has already waited for evidence. No drive is blamed.
  expr: 'max by (cluster, job, instance) (ssdprobe_host_health{state="%s",%s}) == 1' % [state, config.selector],
  'for': '30s',
  keep_firing_for: '10m',
  labels: { severity: severity, state: state },
  annotations: {
    summary: 'The drives of a node got slower together.',
    description: |||
      Nearly all drives of {{ $labels.instance }} are slower than they were
    ||| + text.verdict('host', ['cluster', 'instance'], '', '') + '. The cause is the host; no drive is blamed.\n' + text.changesOfTheDay,
  },
};

function(config) {
  name: 'ssdprobe-speed',
  rules: [
    // An alert stands before those that it silences: Prometheus evaluates and sends them in this order. A description takes
    // milliseconds, so those of thousands of drives may take longer than Alertmanager waits, and it would tell of each drive.
    hostSlower(config, 'severe', config.severeSeverity),
    hostSlower(config, 'degraded', 'warning'),

    batchSlower('severe', config.severeSeverity, batch('degraded|severe') + 'and\n' + batch('severe')),
    batchSlower('degraded', 'warning', batch('degraded|severe') + 'unless\n' + batch('severe')),

    {
      alert: 'SsdprobeDriveSevere',
      expr: drive('severe'),
      'for': '30s',
      keep_firing_for: '10m',
      labels: { severity: config.severeSeverity },
      annotations: {
        summary: 'A drive is about twice as slow as it should be, or it stalls or fails I/Os.',
        description: text.drive + 'is severe' + evidence,
      },
    },

    {
      alert: 'SsdprobeDriveDegraded',
      expr: drive('degraded'),
      'for': '30s',
      keep_firing_for: '10m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'A drive is slower than it should be.',
        description: text.drive + 'is degraded' + evidence,
      },
    },

    {
      alert: 'SsdprobeDriveSlowerThanPeers',
      // Six hours, so that a nightly job raises nothing. If the node itself finds the drive slow, compared
      // with its past or with the other drives there, another alert fires within minutes. This one is then
      // silent, so that one drive has one alert. So it is when somebody has accepted the level of the drive.
      expr: |||
        max by (cluster, job, instance, device, id, model, firmware) (
            device:ssdprobe_probe_level_seconds:excess
          > on (model, size, kind, engine, probe, statistic) group_left ()
            model:ssdprobe_probe_level_seconds:limit
        )
        unless on (cluster, job, instance, id) ssdprobe_drive_health{state=~"degraded|severe"} == 1
        unless on (cluster, job, instance, id) ssdprobe_drive_accepted_timestamp_seconds
      |||,
      'for': '6h',
      keep_firing_for: '10m',
      labels: {
        severity: 'warning',
      },
      annotations: {
        summary: 'A drive is far slower than the drives of its model on other nodes.',
        description: text.drive + |||
          has been slower than the median of its peers for more than six hours, by more than such drives differ:
          {{- range printf "device:ssdprobe_probe_level_seconds:excess{cluster=%q,instance=%q,id=%q} > on (model, size, kind, engine, probe, statistic) group_left () model:ssdprobe_probe_level_seconds:limit"
          $labels.cluster $labels.instance $labels.id | query | sortByLabel "statistic" | sortByLabel "probe" }}
          {{ .Labels.statistic }} of probe {{ .Labels.probe }}{{ $own := printf "%.2f" .Value }}
          {{- range printf "max(device:ssdprobe_probe_level_seconds:vs_peers{cluster=%q,instance=%q,id=%q,probe=%q,statistic=%q})"
          .Labels.cluster .Labels.instance .Labels.id .Labels.probe .Labels.statistic | query }} {{ $all := printf "%.2f" .Value }}{{ $all }} times
          {{- if ne $all $own }} ({{ $own }} times without what its node and known changes explain){{ end }}.{{ end }}{{ end }}
          {{- with printf "max(model_firmware:ssdprobe_probe_level_seconds:count{model=%q,firmware=%q} and model_firmware:ssdprobe_probe_level_seconds:p50{model=%q,firmware=%q})"
          $labels.model $labels.firmware $labels.model $labels.firmware | query }}
          {{ . | first | value }} drives with its firmware are compared.
          {{- else }}{{ with printf "max(model:ssdprobe_probe_level_seconds:count{model=%q} * on (model, size, kind, engine) group_left () device:ssdprobe_device_info:comparable{cluster=%q,instance=%q,id=%q})"
          $labels.model $labels.cluster $labels.instance $labels.id | query }}
          {{ . | first | value }} drives are compared.{{ end }}{{ end }}
          {{- with printf "max(device:ssdprobe_baseline_seconds:vs_peers{cluster=%q,instance=%q,id=%q} > 1.2)" $labels.cluster $labels.instance $labels.id | query }}
          Its baseline is {{ . | first | value | printf "%.2f" }} times theirs: it was slow when the baseline was learned.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeNodeSlowerThanPeers',
      // Nine tenths of at least three drives: no single drive is to blame. A node that got
      // slower says so itself, within minutes.
      expr: |||
        max by (cluster, job, instance) (
          instance:ssdprobe_probe_level_seconds:vs_peers
          and
            instance:ssdprobe_probe_level_seconds:vs_limit > 1
          and
            instance:ssdprobe_probe_level_seconds:count >= 3
        )
        unless on (cluster, job, instance) ssdprobe_host_health{state=~"degraded|severe"} == 1
        unless on (cluster, job, instance) ssdprobe_host_accepted_timestamp_seconds
      |||,
      'for': '6h',
      keep_firing_for: '10m',
      labels: {
        severity: 'warning',
      },
      annotations: {
        summary: 'The drives of a node are slower than drives of their models on other nodes.',
        description: |||
          For more than six hours, at least nine tenths of the drives of {{ $labels.instance }} have been at least {{ printf "%.2f" $value }} times slower than
          drives of their models on other nodes.
          The cause is the node: {{ range $i, $conditions := printf "count by (kernel, governor) (ssdprobe_device_conditions_info{cluster=%q,instance=%q})" $labels.cluster $labels.instance | query | sortByLabel "governor" | sortByLabel "kernel" -}}
          {{ if $i }} {{ end }}kernel {{ or .Labels.kernel "unknown" }}, governor {{ or .Labels.governor "unknown" }} ({{ .Value }} targets).
          {{- else -}}
          look at its kernel, its CPU frequency and what else runs on it.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeChangeSlowedDrives',
      // One alert for each change. It ends a week after the last drive changed: by then the change is
      // known. Its effect stays in ssdprobe_condition_effect_ratio.
      expr: |||
        max by (condition, from, to) (condition:ssdprobe_condition_effect_ratio:slower)
        and on (condition, from, to)
          time() - max by (condition, from, to) (
            device:ssdprobe_condition_effect_ratio:comparable ^ 0
            * on (cluster, job, instance, device, id, condition) group_left ()
              max by (cluster, job, instance, device, id, condition) (ssdprobe_conditions_changed_timestamp_seconds)
          ) < 7 * 86400
      |||,
      'for': '1h',
      keep_firing_for: '10m',
      labels: {
        severity: 'warning',
      },
      annotations: {
        summary: 'A change of conditions made many drives slower.',
        description: |||
          {{ $labels.condition }} {{ or $labels.from "unknown" }} → {{ or $labels.to "unknown" }} made
          {{ with printf "count(count by (cluster, instance, id) (device:ssdprobe_condition_effect_ratio:comparable{condition=%q,from=%q,to=%q}))"
          $labels.condition $labels.from $labels.to | query }}{{ . | first | value }}{{ end }} drives {{ printf "%.2f" $value }} times slower.
          Medians over these drives, against their levels just before the change:
          {{- range printf "condition:ssdprobe_condition_effect_ratio:slower{condition=%q,from=%q,to=%q}"
          $labels.condition $labels.from $labels.to | query | sortByLabel "statistic" | sortByLabel "probe" | sortByLabel "model" }}
          {{ .Labels.statistic }} of probe {{ .Labels.probe }} {{ printf "%.2f" .Value }} times on {{ or .Labels.model "all models" }}.{{ end }}
          {{- range printf "topk(3, count by (condition, from, to) (count by (cluster, instance, id, condition, from, to) (device:ssdprobe_condition_effect_ratio:comparable{condition!=%q} and on (cluster, instance, id) device:ssdprobe_condition_effect_ratio:comparable{condition=%q,from=%q,to=%q})) > scalar(count(count by (cluster, instance, id) (device:ssdprobe_condition_effect_ratio:comparable{condition=%q,from=%q,to=%q}))) / 2)"
          $labels.condition $labels.condition $labels.from $labels.to $labels.condition $labels.from $labels.to | query }}
          At the same time: {{ .Labels.condition }} {{ or .Labels.from "unknown" }} → {{ or .Labels.to "unknown" }}.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeFirmwareSlower',
      // One alert for each firmware. Drives are compared with others of the same firmware,
      // so none is blamed for it. While SsdprobeChangeSlowedDrives says that drives got slower
      // with the firmware, this says nothing new: it comes after that alert, to see it in the same evaluation.
      expr: |||
        max by (model, firmware) (
            model_firmware:ssdprobe_probe_level_seconds:vs_fastest
          > on (model, size, kind, engine, probe, statistic) group_left ()
            model:ssdprobe_probe_level_seconds:firmware_limit
        )
        unless on (firmware)
          label_replace(ALERTS{alertname="SsdprobeChangeSlowedDrives",condition="firmware"}, "firmware", "$1", "to", "(.*)")
      |||,
      'for': '6h',
      keep_firing_for: '10m',
      labels: {
        severity: 'warning',
      },
      annotations: {
        summary: 'A firmware makes drives slower than another firmware.',
        description: |||
          Firmware {{ or $labels.firmware "unknown" }} of {{ or $labels.model "unknown" }} is {{ printf "%.2f" $value }} times slower than firmware
          {{ range printf "topk(1, model_firmware:ssdprobe_probe_level_seconds:vs_fastest{model=%q,firmware=%q} > on (model, size, kind, engine, probe, statistic) group_left () model:ssdprobe_probe_level_seconds:firmware_limit)"
          $labels.model $labels.firmware | query }}{{ .Labels.fastest }}{{ end }}
          {{- with printf "count(device:ssdprobe_device_info:comparable{model=%q,firmware=%q})" $labels.model $labels.firmware | query }} on
          {{ . | first | value }} drives{{ end }}. For more than six hours, the median of its drives has been slower than that of the other firmware:
          {{- range printf "model_firmware:ssdprobe_probe_level_seconds:vs_fastest{model=%q,firmware=%q} > on (model, size, kind, engine, probe, statistic) group_left () model:ssdprobe_probe_level_seconds:firmware_limit"
          $labels.model $labels.firmware | query | sortByLabel "statistic" | sortByLabel "probe" }}
          {{ .Labels.statistic }} of probe {{ .Labels.probe }} {{ printf "%.2f" .Value }} times.{{ end }}
          The other alerts compare drives only with drives of their own firmware.
        |||,
      },
    },
  ],
}
