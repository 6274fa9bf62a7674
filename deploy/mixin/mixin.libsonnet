// The alerts, recording rules and dashboards of ssdprobe as a mixin. deploy/prometheus and
// dashboards are its output with the defaults of config.libsonnet.
//
//   (import 'github.com/ssdprobe/ssdprobe/deploy/mixin/mixin.libsonnet') + {
//     _config+:: { severeSeverity: 'critical' },
//   }
local alerts = [
  import 'alerts/speed.libsonnet',
  import 'alerts/measurement.libsonnet',
  import 'alerts/hours.libsonnet',
  import 'alerts/health.libsonnet',
  import 'alerts/self.libsonnet',
  import 'alerts/kubernetes.libsonnet',
];
local rules = [
  import 'rules/devices.libsonnet',
  import 'rules/fleet.libsonnet',
  import 'rules/changes.libsonnet',
  import 'rules/peers.libsonnet',
  import 'rules/baselines.libsonnet',
  import 'rules/overview.libsonnet',
];

// Removes what an empty selector leaves behind.
local clean(rule) = rule { expr: std.strReplace(std.strReplace(rule.expr, ',}', '}'), '{}', '') };
// Joins the lines of a text.
local oneLine(text) = std.stripChars(std.strReplace(text, '\n', ' '), ' ');
local told(config, rule) = rule {
  annotations: std.mapWithKey(function(_, text) oneLine(text), rule.annotations) {
    runbook_url: config.runbookURL + std.asciiLower(rule.alert),
  },
};

(import 'config.libsonnet') + {
  prometheusAlerts+:: {
    groups+: [
      local group = alert($._config);
      group { rules: [told($._config, clean(rule)) for rule in group.rules] }
      for alert in alerts
    ],
  },
  prometheusRules+:: {
    groups+: [
      local group = recorded($._config);
      group { rules: [clean(rule) for rule in group.rules] }
      for recorded in rules
    ],
  },
  grafanaDashboards+:: {
    'ssdprobe-fleet.json': import 'dashboards/fleet.json',
    'ssdprobe-device.json': import 'dashboards/device.json',
    'ssdprobe-runs.json': import 'dashboards/runs.json',
  },
}
