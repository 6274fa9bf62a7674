{{- /* What all objects are named after: two releases with different names do not meet. */ -}}
{{- define "ssdprobe.fullname" -}}
{{ .Values.fullnameOverride | default .Release.Name }}
{{- end }}

{{- /* Refuses what would replace a key of the chart's own: (list WHAT GIVEN OWN). */ -}}
{{- define "ssdprobe.notOwn" -}}
{{- $given := index . 1 | default dict }}
{{- range index . 2 }}
{{- if hasKey $given . }}
{{- fail (printf "%s: %s: leave it out; the chart sets it" (index $ 0) .) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Other labels than these, which an object has besides: (list WHAT LABELS). */ -}}
{{- define "ssdprobe.moreLabels" -}}
{{- include "ssdprobe.notOwn" (append . (list "app.kubernetes.io/name" "app.kubernetes.io/instance")) }}
{{- with index . 1 }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- /* Quoted, like all names: YAML takes some for numbers. */ -}}
{{- define "ssdprobe.selector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default "ssdprobe" | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "ssdprobe.metadata" -}}
name: {{ include "ssdprobe.fullname" . | quote }}
namespace: {{ .Release.Namespace | quote }}
labels:
  {{- include "ssdprobe.selector" . | nindent 2 }}
{{- end }}

{{- /* The pods' class; empty for none, when there is no class of that name to be made or taken. */ -}}
{{- define "ssdprobe.priorityClass" -}}
{{- if .Values.priorityClass.create -}}
{{ .Values.priorityClass.name | default (include "ssdprobe.fullname" .) }}
{{- else -}}
{{ .Values.priorityClass.name }}
{{- end -}}
{{- end }}

{{- /* Refuses a chart without the files that an object is made of: (list $ KEY FILES). */ -}}
{{- define "ssdprobe.hasFiles" -}}
{{- if not ((index . 0).Files.Glob (index . 2)) -}}
{{- $key := index . 1 -}}
{{- fail (printf "%s: the folder %s is missing from the chart; `helm package` includes it, and %s=false does without" $key (dir (index . 2)) $key) -}}
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
{{- $given := dict -}}
{{- range $key, $value := .Values.config -}}
{{- if not (kindIs "invalid" $value) -}}{{- /* null takes back what other values said */ -}}
{{- $_ := set $given $key (deepCopy $value) -}}
{{- end -}}
{{- end -}}
{{- if hasKey $given "listen" -}}
{{- fail (printf "config.listen: leave it out; %s" (include "ssdprobe.port" .)) -}}
{{- end -}}
{{- if $given.node -}}
{{- fail "config.node: leave it out; the chart sets it to the name of the node, by SSDPROBE_NODE" -}}
{{- end -}}
{{- $files := eq (include "ssdprobe.mode" .) "files" -}}
{{- $needed := dict "fallback_file" false -}}
{{- if $files -}}
{{- $needed = merge $needed (dict "devices" (dict "enabled" false) "health" (dict "enabled" false) "io_latency" "never" "state_dir" "/var/lib/ssdprobe") -}}
{{- end -}}
{{- $config := mustMergeOverwrite $needed $given -}}
{{- if and $files (not $config.state_dir) -}}{{- /* else a home directory, which this user does not have */ -}}
{{- $config = set $config "state_dir" "/var/lib/ssdprobe" -}}
{{- end -}}
{{- if and $files (not (hasKey $config "files")) -}}
{{- $config = set $config "files" (list (dict "path" (printf "%s/probe" (clean $config.state_dir)))) -}}
{{- end -}}
{{- $written := list "/var/lib/ssdprobe" -}}
{{- $locked := ternary $written (append $written "/run/ssdprobe") $files -}}
{{- include "ssdprobe.onVolume" (dict "root" . "key" "state_dir" "path" $config.state_dir "volumes" $written) -}}
{{- include "ssdprobe.onVolume" (dict "root" . "key" "lock_dir" "path" $config.lock_dir "volumes" $locked) -}}
{{- range $i, $file := $config.files -}}
{{- include "ssdprobe.onVolume" (dict "root" $ "key" (printf "files[%d].path" $i) "path" $file.path "volumes" $written) -}}
{{- end -}}
{{- if ne (clean ($config.host_root | default "/")) "/" -}}
{{- range list "sys" "proc" "dev" -}}{{- /* the container's own are below / alone */ -}}
{{- include "ssdprobe.onVolume" (dict "root" $ "key" "host_root" "path" (printf "%s/%s" (clean $config.host_root) .) "readOnly" true) -}}
{{- end -}}
{{- end -}}
{{- /* The volume of a pod is empty, a directory of the node may have a kubeconfig. */ -}}
{{- $ofTheNode := ternary (list) $locked $files -}}
{{- range list "fleet" "kubernetes" -}}
{{- $section := get $config . | default dict -}}
{{- if $section.enabled -}}
{{- include "ssdprobe.onVolume" (dict "root" $ "key" (printf "%s.kubeconfig" .) "path" $section.kubeconfig "volumes" $ofTheNode "readOnly" true) -}}
{{- end -}}
{{- end -}}
{{- $config | toYaml -}}
{{- end }}

{{- /* Refuses a path that no volume is mounted at: the volumes that are given, which are this chart's, and the user's.
A volume that is mounted read-only is enough with readOnly. */ -}}
{{- define "ssdprobe.onVolume" -}}
{{- $path := clean (.path | default "/") -}}
{{- $found := not .path -}}
{{- $mounted := .volumes | default list -}}
{{- $readOnly := .readOnly -}}
{{- range .root.Values.extraVolumeMounts -}}
{{- if or $readOnly (not .readOnly) -}}
{{- $mounted = append $mounted (clean .mountPath) -}}
{{- end -}}
{{- end -}}
{{- range $mounted -}}
{{- if or (eq $path .) (hasPrefix (printf "%s/" .) $path) -}}
{{- $found = true -}}
{{- end -}}
{{- end -}}
{{- if not $found -}}
{{- $else := ternary "" ", and all else is read-only" (eq $readOnly true) -}}
{{- $choose := "" -}}
{{- with $mounted -}}
{{- $choose = printf ", choose a path in %s" (join ", " .) -}}
{{- end -}}
{{- fail (printf "config.%s: no volume is mounted at %q%s; leave it out%s, or mount one by extraVolumes and extraVolumeMounts" .key .path $else $choose) -}}
{{- end -}}
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

{{- /* What the cluster is told, with the defaults that the manifests need to know. */ -}}
{{- define "ssdprobe.kubernetes" -}}
{{- $told := dict "enabled" false "taint" "none" "max_taints" 1 "namespace" "" "kubeconfig" "" -}}
{{- $told = mustMergeOverwrite $told ((include "ssdprobe.config" . | fromYaml).kubernetes | default dict) -}}
{{- if eq $told.taint "NoExecute" -}}
{{- fail "config.kubernetes.taint: NoExecute would evict the pods of the node; want one of none, PreferNoSchedule, NoSchedule" -}}
{{- end -}}
{{- /* A role that names no lease is good for all leases of the namespace. */ -}}
{{- if or (lt (int $told.max_taints) 1) (gt (int $told.max_taints) 64) -}}
{{- fail (printf "config.kubernetes.max_taints: %v is not from 1 to 64" $told.max_taints) -}}
{{- end -}}
{{- if not $told.namespace -}}
{{- $told = set $told "namespace" .Release.Namespace -}}
{{- end -}}
{{- $told | toYaml -}}
{{- end }}

{{- /* The user's, and one of ssdprobe's own taint: it must not keep its pods away, which take it off. */ -}}
{{- define "ssdprobe.tolerations" -}}
{{- $told := include "ssdprobe.kubernetes" . | fromYaml -}}
{{- $all := .Values.tolerations | default list -}}
{{- if and $told.enabled (ne $told.taint "none") -}}
{{- $all = append $all (dict "key" "ssdprobe/slow-drive" "operator" "Exists") -}}
{{- end -}}
{{- $all | toYaml -}}
{{- end }}

{{- /* Not empty when the pods tell the API server of drives, as their service account. */ -}}
{{- define "ssdprobe.tellsTheCluster" -}}
{{- $told := include "ssdprobe.kubernetes" . | fromYaml -}}
{{- if and $told.enabled (not $told.kubeconfig) -}}
true
{{- end -}}
{{- end }}

{{- /* Not empty when the pods need a token. */ -}}
{{- define "ssdprobe.asksTheCluster" -}}
{{- include "ssdprobe.asksForLeases" . -}}
{{- include "ssdprobe.tellsTheCluster" . -}}
{{- end }}

{{- /* Not empty when the pods need a way to an API server: with a kubeconfig, too. */ -}}
{{- define "ssdprobe.reachesACluster" -}}
{{- if or (include "ssdprobe.fleet" . | fromYaml).enabled (include "ssdprobe.kubernetes" . | fromYaml).enabled -}}
true
{{- end -}}
{{- end }}

{{- /* What an object of the cluster has that belongs to telling it: its name and labels. */ -}}
{{- define "ssdprobe.told.metadata" -}}
name: {{ include "ssdprobe.fullname" . }}-node-status
labels:
  {{- include "ssdprobe.selector" . | nindent 2 }}
{{- end }}

{{- /* The objects of the cleanup after `helm uninstall`. */ -}}
{{- define "ssdprobe.cleanup.metadata" -}}
labels:
  app.kubernetes.io/name: ssdprobe-cleanup
  app.kubernetes.io/instance: {{ .Release.Name | quote }}
annotations:
  # Not before: as long as pods run and have their rights, they put back what is removed.
  helm.sh/hook: post-delete
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{- /* What a PodMonitor and a ServiceMonitor have in common. */ -}}
{{- define "ssdprobe.monitor" -}}
jobLabel: app.kubernetes.io/name
selector:
  matchLabels:
    {{- include "ssdprobe.selector" . | nindent 4 }}
{{- end }}

{{- /* The Service of a ServiceMonitor. Other names than those of a Service may begin with a digit and have dots. */ -}}
{{- define "ssdprobe.service" -}}
{{ regexReplaceAll "^([0-9])" (include "ssdprobe.fullname" . | replace "." "-") "s${1}" }}
{{- end }}

{{- /* How Prometheus gets in, and what it makes of the series. The instance is the node. */ -}}
{{- define "ssdprobe.endpoint" -}}
{{- $interval := .Values.podMonitor.interval }}{{ $timeout := .Values.podMonitor.scrapeTimeout }}
{{- $start := now }}
{{- if and $interval ((mustDateModify $interval $start).After (mustDateModify "2m" $start)) }}
{{- fail (printf "podMonitor.interval: %s is too long, because alerts look back for five minutes; want 2m or less" $interval) }}
{{- end }}
{{- if and $timeout (not $interval) ((mustDateModify $timeout $start).After (mustDateModify "2m" $start)) }}
{{- fail (printf "podMonitor.scrapeTimeout: %s is longer than any podMonitor.interval; want 2m or less" $timeout) }}
{{- end }}
{{- if and $interval $timeout }}
{{- if (mustDateModify $timeout $start).After (mustDateModify $interval $start) }}
{{- fail (printf "podMonitor.scrapeTimeout: %s is longer than podMonitor.interval, %s; want that or less" $timeout $interval) }}
{{- end }}
{{- end }}
- port: http
  path: /metrics
  {{- with .Values.podMonitor.scheme | default (eq .Values.probes.scheme "HTTPS" | ternary "https" "") }}
  scheme: {{ . }}
  {{- end }}
  {{- with .Values.podMonitor.tlsConfig }}
  tlsConfig:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.podMonitor.basicAuth }}
  basicAuth:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $interval }}
  interval: {{ . }}
  {{- end }}
  {{- with $timeout }}
  scrapeTimeout: {{ . }}
  {{- end }}
  relabelings:
    - sourceLabels: [__meta_kubernetes_pod_node_name]
      targetLabel: instance
    {{- with .Values.podMonitor.relabelings }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.podMonitor.metricRelabelings }}
  metricRelabelings:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- /* Not empty when an object of the Prometheus Operator is to be made: (list $ ENABLED KIND). Without its
kind the API server would refuse the whole release. */ -}}
{{- define "ssdprobe.operator" -}}
{{- $root := index . 0 }}{{ $enabled := index . 1 }}{{ $kind := index . 2 -}}
{{- if eq (toString $enabled) "auto" -}}
{{- if $root.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" $kind) -}}
true
{{- end -}}
{{- else if $enabled -}}
true
{{- end -}}
{{- end }}

{{- /* The user's volumes. A directory of the node has to be there: where a mount is missing, Kubernetes would
make a directory on the root disk instead, and the probe file with it. */ -}}
{{- define "ssdprobe.extraVolumes" -}}
{{- $volumes := list -}}
{{- range .Values.extraVolumes -}}
{{- $volume := deepCopy . -}}
{{- if and $volume.hostPath (not (hasKey $volume.hostPath "type")) -}}
{{- $_ := set $volume.hostPath "type" "Directory" -}}
{{- end -}}
{{- $volumes = append $volumes $volume -}}
{{- end -}}
{{- toYaml $volumes -}}
{{- end }}

{{- /* Why an object of the operator was left out, by what its `enabled` says. */ -}}
{{- define "ssdprobe.whyNoOperator" -}}
{{- if eq (toString .) "auto" -}}
this cluster does not know its kind, as it has no Prometheus Operator
{{- else -}}
its enabled is false
{{- end -}}
{{- end }}

{{- /* The objects of `helm test`. A Service begins with a letter and has no dots. */ -}}
{{- define "ssdprobe.test.name" -}}
{{ printf "test-%s" (include "ssdprobe.fullname" . | replace "." "-") | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* Not the labels of the DaemonSet's pods, which it would take for its own. */ -}}
{{- define "ssdprobe.test.selector" -}}
app.kubernetes.io/name: ssdprobe-test
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "ssdprobe.test.metadata" -}}
name: {{ include "ssdprobe.test.name" . }}
namespace: {{ .Release.Namespace | quote }}
labels:
  {{- include "ssdprobe.test.selector" . | nindent 2 }}
  {{- with include "ssdprobe.moreLabels" (list "podLabels" .Values.podLabels) }}
  {{- . | nindent 2 }}
  {{- end }}
annotations:
  helm.sh/hook: test
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{- /* What the containers of the test have in common. */ -}}
{{- define "ssdprobe.test.container" -}}
image: {{ include "ssdprobe.image" . }}
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
resources:
  requests:
    cpu: 10m
    memory: 32Mi
  limits:
    memory: 128Mi
terminationMessagePolicy: FallbackToLogsOnError
securityContext:
  privileged: false
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: config
    mountPath: /etc/ssdprobe
    readOnly: true
  {{- if eq .Values.probes.scheme "HTTPS" }}
  - name: client
    mountPath: /etc/ssdprobe-test
    readOnly: true
  {{- end }}
{{- end }}

{{- define "ssdprobe.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{ .Values.image.repository }}:{{ with .Values.image.digest }}{{ splitList "@" $tag | first }}@{{ . }}{{ else }}{{ $tag }}{{ end }}
{{- end }}
