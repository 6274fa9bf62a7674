// Parts of the texts of alerts.
{
  // Names the drive of an alert by its labels. A probe file may have no device, and a virtual drive no model.
  drive: '{{ if $labels.device }}{{ $labels.device }} ({{ $labels.id }}{{ with $labels.model }}, {{ . }}{{ end }})'
         + '{{ else }}{{ $labels.id }}{{ end }} on {{ $labels.instance }} ',

  // The verdict on the drive or host that the labels of the alert select: how many times slower, with its interval,
  // and since when. Unknown values are left out. Only a drive may fail first and become slower later.
  verdict(of, labels, slower, than):
    local chosen(more) = '{' + std.join(',', [l + '=%q' for l in labels] + more) + '}';
    local values = std.join(' ', ['$labels.' + l for l in labels]);
    local each(before, series, after) =
      '{{- range printf "' + before + 'ssdprobe_' + of + '_health_' + series + chosen([]) + after + '" ' + values + ' | query }}';
    local figure = '{{ printf "%.2f" .Value }}';
    local since = ', since {{ .Value | humanizeTimestamp }}{{ end }}';
    local whole = each('floor(min(', 'since_timestamp_seconds', '))') + since;
    local slow =
      '{{- range printf "floor(min(ssdprobe_drive_health_onset_timestamp_seconds' + chosen(['witness=~\\"probes|traffic\\"'])
      + ')) or floor(min(ssdprobe_drive_health_since_timestamp_seconds' + chosen([]) + '))" ' + values + ' ' + values + ' | query }}' + since;
    each('max(', 'slower_ratio', ')') + ', ' + figure + ' times' + slower
    + each('max(', 'slower_ratio_lower', ')') + ' (' + figure + '{{ end }}'
    + each('max(', 'slower_ratio_upper', ')') + ' to ' + figure + '){{ end }}' + than
    + (if of == 'drive' then slow else whole)
    + '{{- else }}' + whole + '{{ end }}',

  // Which conditions changed on the targets of a node within a day.
  changesOfTheDay: |||
    {{- range printf "count by (condition) (time() - ssdprobe_conditions_changed_timestamp_seconds{cluster=%q,instance=%q} < 86400)" $labels.cluster $labels.instance | query | sortByLabel "condition" }}
    Within a day, {{ .Labels.condition }} changed on {{ .Value }} targets.{{ end }}
  |||,
}
