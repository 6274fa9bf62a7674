{{- define "ssdprobe.selector" -}}
app.kubernetes.io/name: ssdprobe
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "ssdprobe.metadata" -}}
name: {{ .Release.Name }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "ssdprobe.selector" . | nindent 2 }}
{{- end }}

{{- define "ssdprobe.priorityClass" -}}
{{ .Values.priorityClass.name | default .Release.Name }}
{{- end }}

{{- /* The mode, refused when unknown. */ -}}
{{- define "ssdprobe.mode" -}}
{{- if not (has .Values.mode (list "raw-devices" "files")) -}}
{{- fail (printf "mode: %q is unknown; want raw-devices or files" .Values.mode) -}}
{{- end -}}
{{ .Values.mode }}
{{- end }}

{{- /* The configuration: what the mode needs, and the user's over it. */ -}}
{{- define "ssdprobe.config" -}}
{{- $needed := dict -}}
{{- if eq (include "ssdprobe.mode" .) "files" -}}
{{- $needed = dict "devices" (dict "enabled" false) "health" (dict "enabled" false) "state_dir" "/var/lib/ssdprobe" -}}
{{- end -}}
{{- mustMergeOverwrite $needed (deepCopy .Values.config) | toYaml -}}
{{- end }}

{{- /* The fleet's part of it, with the defaults that the manifests need to know. */ -}}
{{- define "ssdprobe.fleet" -}}
{{- $fleet := dict "enabled" false "max_runs" 1 "lease" "ssdprobe-run" "namespace" "" "kubeconfig" "" -}}
{{- $fleet = mustMergeOverwrite $fleet ((include "ssdprobe.config" . | fromYaml).fleet | default dict) -}}
{{- if not $fleet.namespace -}}
{{- $fleet = set $fleet "namespace" .Release.Namespace -}}
{{- end -}}
{{- $fleet | toYaml -}}
{{- end }}

{{- /* Not empty when the pods ask the API server for leases, as their service account. */ -}}
{{- define "ssdprobe.asksForLeases" -}}
{{- $fleet := include "ssdprobe.fleet" . | fromYaml -}}
{{- if and $fleet.enabled (not $fleet.kubeconfig) -}}
true
{{- end -}}
{{- end }}
