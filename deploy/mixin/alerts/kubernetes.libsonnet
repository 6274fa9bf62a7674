// Pods that never started export nothing; kube-state-metrics knows them. If it is not
// scraped, these alerts never fire.
local text = import '../text.libsonnet';

function(config) {
  name: 'ssdprobe-kubernetes',
  rules: [
    {
      alert: 'SsdprobePodsUnavailable',
      // Counted by node, because while a rollout advances, and where nodes join and leave, there is always a pod that is not
      // ready yet: a node counts that was up for ten minutes and had a pod, but none that was ready. A pod that no node has
      // room for counts for itself. Pods that are not even made, as pod security refuses them, are known by their number.
      // Nodes that are down have other alerts.
      expr: |||
        (
          sum by (cluster, namespace, daemonset) (
            sum_over_time((
              min by (cluster, namespace, daemonset, node) (
                label_replace(label_replace(label_join(
                    kube_pod_info{%(pods)s} unless on (cluster, namespace, pod) kube_pod_status_ready{condition="true",pod=~"(%(daemonSet)s)-.+"} == 1
                  or
                    0 * kube_pod_info{%(pods)s},
                "node", "/", "node", "pod"), "node", "$1", "node", "([^/]+)/.*"), "daemonset", "$1", "created_by_name", "(.+)")
              )
              unless on (cluster, node) max by (cluster, node) (kube_node_status_condition{condition="Ready",status="true"}) == 0
            )[10m:1m]) >= bool 10
            or
            min_over_time((
                max by (cluster, namespace, daemonset) (kube_daemonset_status_desired_number_scheduled{%(daemonSets)s})
              - max by (cluster, namespace, daemonset) (kube_daemonset_status_current_number_scheduled{%(daemonSets)s})
            )[10m:1m])
          ) > 0
        )
        and on (cluster, namespace, daemonset) kube_daemonset_status_number_unavailable > 0
        and on (cluster) kube_node_status_condition
      ||| % (config {
        pods: 'created_by_kind="DaemonSet",created_by_name=~"%(daemonSet)s",%(kubeStateMetricsSelector)s' % config,
        daemonSets: 'daemonset=~"%(daemonSet)s",%(kubeStateMetricsSelector)s' % config,
      }),
      'for': '5m',
      keep_firing_for: '5m',
      labels: { severity: 'warning' },
      annotations: {
        summary: 'Pods of ssdprobe do not become ready.',
        description: |||
          {{ $value }} pods of DaemonSet {{ $labels.namespace }}/{{ $labels.daemonset }} have not been ready for more than 15 minutes, so the drives of their nodes may not be watched.
          {{- with printf "max(kube_daemonset_status_desired_number_scheduled{namespace=%q,daemonset=%q})"
          $labels.namespace $labels.daemonset | query }}
          {{ . | first | value }} are wanted.{{ end }}
          {{- range printf "topk(5, max by (node) (kube_pod_info{namespace=%q,created_by_kind=\"DaemonSet\",created_by_name=%q,node!=\"\"} and on (cluster, namespace, pod) kube_pod_info{namespace=%q} offset 10m unless on (cluster, namespace, pod) max_over_time(kube_pod_status_ready{namespace=%q,condition=\"true\"}[10m]) == 1))"
          $labels.namespace $labels.daemonset $labels.namespace $labels.namespace | query | sortByLabel "node" }}
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
