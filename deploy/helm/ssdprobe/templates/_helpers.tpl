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

{{- /* The pods' class; empty for none, when there is no class of that name to be made or taken. */ -}}
{{- define "ssdprobe.priorityClass" -}}
{{- if .Values.priorityClass.create -}}
{{ .Values.priorityClass.name | default .Release.Name }}
{{- else -}}
{{ .Values.priorityClass.name }}
{{- end -}}
{{- end }}

{{- /* The mode, refused when unknown. */ -}}
{{- define "ssdprobe.mode" -}}
{{- if not (has .Values.mode (list "raw-devices" "files")) -}}
{{- fail (printf "mode: %q is unknown; want raw-devices or files" .Values.mode) -}}
{{- end -}}
{{ .Values.mode }}
{{- end }}

{{- /* Why the address is not to be chosen. */ -}}
{{- define "ssdprobe.port" -}}
the probes, the NetworkPolicy and the PodMonitor of this chart need port 10040 of every address
{{- end }}

{{- /* The configuration: what the mode needs, and the user's over it. */ -}}
{{- define "ssdprobe.config" -}}
{{- $given := .Values.config | default dict -}}
{{- if hasKey $given "listen" -}}
{{- fail (printf "config.listen: leave it out; %s" (include "ssdprobe.port" .)) -}}
{{- end -}}
{{- $needed := dict -}}
{{- if eq (include "ssdprobe.mode" .) "files" -}}
{{- $needed = dict "devices" (dict "enabled" false) "health" (dict "enabled" false) "state_dir" "/var/lib/ssdprobe" -}}
{{- end -}}
{{- mustMergeOverwrite $needed (deepCopy $given) | toYaml -}}
{{- end }}

{{- /* The fleet's part of it, with the defaults that the manifests need to know. */ -}}
{{- define "ssdprobe.fleet" -}}
{{- $fleet := dict "enabled" false "max_runs" 1 "lease" "ssdprobe-run" "namespace" "" "kubeconfig" "" -}}
{{- $fleet = mustMergeOverwrite $fleet ((include "ssdprobe.config" . | fromYaml).fleet | default dict) -}}
{{- /* A role that names no lease is good for all leases of the namespace. */ -}}
{{- if or (lt (int $fleet.max_runs) 1) (gt (int $fleet.max_runs) 64) -}}
{{- fail (printf "config.fleet.max_runs: %v is not from 1 to 64" $fleet.max_runs) -}}
{{- end -}}
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
