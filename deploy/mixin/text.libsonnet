// Parts of the texts of alerts.
{
  // Which drive, of alerts with these labels. A probe file may have no device, and a virtual drive no model.
  drive: '{{ if $labels.device }}{{ $labels.device }} ({{ $labels.id }}{{ with $labels.model }}, {{ . }}{{ end }})'
         + '{{ else }}{{ $labels.id }}{{ end }} on {{ $labels.instance }} ',

  // What changed on the targets of a node within a day.
  changesOfTheDay: |||
    {{- range printf "count by (condition) (time() - ssdprobe_conditions_changed_timestamp_seconds{instance=%q} < 86400)" $labels.instance | query | sortByLabel "condition" }}
    Within a day {{ .Labels.condition }} of {{ .Value }} targets changed.{{ end }}
  |||,
}
