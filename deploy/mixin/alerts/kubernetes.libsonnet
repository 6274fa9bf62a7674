// Pods that never started export nothing; kube-state-metrics knows them. If it is not
// scraped, these alerts never fire.
local text = import '../text.libsonnet';

function(config) {
  name: 'ssdprobe-kubernetes',
  rules: [
    {
      alert: 'SsdprobePodsUnavailable',
      // More missing pods than nodes that are down and have one of this DaemonSet, because those have other alerts. During a
      // rollout it is normal that pods are missing, and so are as many as nodes joined or left.
      expr: |||
        (
            max by (cluster, namespace, daemonset) (kube_daemonset_status_number_unavailable{daemonset=~"%(daemonSet)s",%(kubeStateMetricsSelector)s})
          > on (cluster, namespace, daemonset)
            (
                count by (cluster, namespace, daemonset) (
                  max by (cluster, namespace, daemonset, node) (
                    label_replace(kube_pod_info{created_by_kind="DaemonSet",created_by_name=~"%(daemonSet)s"}, "daemonset", "$1", "created_by_name", "(.+)")
                  )
                  and on (cluster, node) (max by (cluster, node) (kube_node_status_condition{condition="Ready",status="true"}) == 0)
                )
              or
                0 * max by (cluster, namespace, daemonset) (kube_daemonset_status_number_unavailable)
                and on (cluster) kube_node_status_condition
            )
        )
        unless on (cluster, namespace, daemonset) changes(kube_daemonset_status_updated_number_scheduled[10m]) > 0
        unless on (cluster, namespace, daemonset) (
            max by (cluster, namespace, daemonset) (kube_daemonset_status_number_unavailable)
          <=
            max by (cluster, namespace, daemonset) (max_over_time(kube_daemonset_status_desired_number_scheduled[10m]))
          - min by (cluster, namespace, daemonset) (min_over_time(kube_daemonset_status_desired_number_scheduled[10m]))
        )
      ||| % config,
      'for': '15m',
      keep_firing_for: '5m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'Pods of ssdprobe do not become ready.',
        description: |||
          {{ $value }} pods of DaemonSet {{ $labels.namespace }}/{{ $labels.daemonset }} have not been ready for more than 15 minutes, and no rollout advances, so the drives of their nodes may not be watched.
          {{- with printf "max(kube_daemonset_status_desired_number_scheduled{namespace=%q,daemonset=%q})"
          $labels.namespace $labels.daemonset | query }}
          {{ . | first | value }} are wanted.{{ end }}
          {{- range printf "topk(5, max by (node) (kube_pod_info{namespace=%q,created_by_kind=\"DaemonSet\",created_by_name=%q,node!=\"\"} and on (cluster, namespace, pod) kube_pod_status_ready{condition=\"true\"} == 0))"
          $labels.namespace $labels.daemonset | query | sortByLabel "node" }}
          One is on {{ .Labels.node }}.{{ end }}
        |||,
      },
    },

    {
      alert: 'SsdprobeNodeNotWatched',
      // `instance` is the node's name, or the address of its pod. SsdprobeDown covers pods
      // that answered before, SsdprobePodsUnavailable pods that are not ready. Other alerts cover nodes that are down.
      // Not by cluster: kube-state-metrics may have that label, and ssdprobe not, or the other way round.
      expr: |||
        (
          label_replace(
            max by (cluster, namespace, node) (
                kube_pod_info{created_by_kind="DaemonSet",created_by_name=~"%(daemonSet)s",node!="",%(kubeStateMetricsSelector)s}
              unless on (cluster, namespace, pod) kube_pod_status_ready{condition="true"} == 0
              unless on (pod_ip)
                label_replace(ssdprobe_build_info{instance=~".+:[0-9]+"}, "pod_ip", "$1", "instance", "\\[?(.+?)\\]?:[0-9]+")
            ),
            "instance", "$1", "node", "(.+)"
          )
          and on (cluster, node) kube_node_status_condition{condition="Ready",status="true"} == 1
        )
        unless on (instance) (ssdprobe_build_info or ALERTS{alertname="SsdprobeDown"})
      ||| % config,
      'for': '15m',
      keep_firing_for: '5m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'A node has a pod of ssdprobe, but Prometheus has no metrics of it.',
        description: |||
          There have been no metrics of {{ $labels.instance }} for more than 15 minutes, so its drives are not watched, although the pod (namespace {{ $labels.namespace }}) is
          not known to have failed: Prometheus does not reach it.
        |||,
      },
    },
  ],
}
