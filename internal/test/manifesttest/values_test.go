package manifesttest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

// values writes a configuration as the values of the chart.
func values(t *testing.T, configuration string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "values.yaml")
	write(t, path, "config:\n  "+strings.ReplaceAll(strings.TrimSpace(configuration), "\n", "\n  ")+"\n", 0o644)
	return path
}

// Helm refuses a configuration that would make the pods restart forever, and names the key.
func TestChartRefusesABadConfiguration(t *testing.T) {
	t.Parallel()
	for configuration, want := range map[string]string{
		"drfit: {window: 5m}":                           `'/config': additional properties 'drfit' not allowed`,
		"drift: {windw: 5m}":                            `'/config/drift': additional properties 'windw' not allowed`,
		"devices: {include: [{nam: nvme0n1}]}":          `'/config/devices/include/0': additional properties 'nam' not allowed`,
		"probes: [{name: a, iops: 3}]":                  `'/config/probes/0': additional properties 'iops' not allowed`,
		"runs: [{suite: quick, shedule: '@daily'}]":     `'/config/runs/0': additional properties 'shedule' not allowed`,
		"drift: {data_sheets: [{model: a, random: 1}]}": `'/config/drift/data_sheets/0': additional properties 'random' not allowed`,
		"rounds_at_once: 65":                            `'/config/rounds_at_once': maximum: got 65, want 64`,
		"rounds_at_once: two":                           `'/config/rounds_at_once': got string, want integer`,
		"devices: true":                                 `'/config/devices': got boolean, want null or object`,
		"fill_rate: 1kb":                                `'/config/fill_rate': '1kb' does not match pattern`,
		"drift: {window: 10}":                           `'/config/drift/window': got number, want string`,
		"drift: {window: 10 s}":                         `'/config/drift/window': '10 s' does not match pattern`,
		"admission: {max_cpu_wait: 5}":                  `'/config/admission/max_cpu_wait': maximum: got 5, want 1`,
		"files: [{path: srv}]":                          `'/config/files/0/path': 'srv' does not match pattern`,
		"node: 007":                                     `'/config/node': got number, want string`,
	} {
		file := values(t, configuration)
		for _, args := range [][]string{template(), {"lint", "--kube-version", kubeVersion, at("deploy", "helm", "ssdprobe")}} {
			stdout, stderr, err := try(t, tool(t, "helm"), append(args, "--values", file)...)
			require.Error(t, err, "%s %s", args[0], configuration)
			assert.Contains(t, stdout+stderr, want, "%s %s", args[0], configuration)
		}
	}
}

// The configuration in the values arrives unchanged: the whole default configuration, and one that
// differs in all kinds of values.
func TestChartHandsTheConfigurationOn(t *testing.T) {
	t.Parallel()
	whole := read(t, at("deploy", "ssdprobe.yaml"))
	withoutListen := strings.Replace(whole, "listen:\n  - :10040\n", "", 1)
	require.NotEqual(t, whole, withoutListen)
	for _, configuration := range []string{
		withoutListen,
		`fill_rate: 134217729
fallback_file: false
devices: {include: [{id: "5002e38", max_size: 1TB}, {model: "true"}], exclude: null}
files: [{path: /srv/data, size: 16MiB}]
probes: [{name: a, ios: 100000, block_size: 4096}]
admission: {max_utilisation: 75%, max_cpu_wait: 0.001}
drift: {threshold: 150 %, window: 1d, data_sheets: [{model: "a*", random-read: 850000, sequential-read: 14000 MB/s}]}
runs: [{suite: quick, schedule: "@daily", set: [time=5s]}]`,
	} {
		want, err := config.Parse(strings.NewReader(configuration))
		require.NoError(t, err)
		assert.Equal(t, want, helm(t, "--values", values(t, configuration), "--set", extraMount("/srv/data")).config(t))
	}
}

// A new configuration replaces the pods, under the old name.
func TestChartRollsThePodsWithTheConfiguration(t *testing.T) {
	t.Parallel()
	checksum := func(args ...string) string {
		set := helm(t, args...).daemonSet(t)
		assert.Equal(t, "ssdprobe", configVolume(t, set).Name)
		return set.Spec.Template.Annotations["checksum/config"]
	}
	before := checksum()
	assert.NotEmpty(t, before)
	assert.Equal(t, before, checksum("--set", "podMonitor.enabled=false"))
	assert.NotEqual(t, before, checksum("--set", "config.drift.window=10m"))
}

// extraMount returns a --set for one more volume.
func extraMount(path string) string {
	return "extraVolumes[0].name=s,extraVolumes[0].emptyDir.medium=,extraVolumeMounts[0].name=s,extraVolumeMounts[0].mountPath=" + path
}

// State and locks must be on volumes, or nothing is rendered: anywhere else the pod cannot write, or loses them.
func TestChartRefusesDirectoriesOnNoVolume(t *testing.T) {
	t.Parallel()
	extra := extraMount("/srv/state/")
	refused := func(set, key, dir string) {
		t.Helper()
		_, stderr, err := try(t, tool(t, "helm"), template("--set", set+",config."+key+"="+dir)...)
		require.Error(t, err, "%s %s %s", set, key, dir)
		assert.Contains(t, stderr, "config."+key+`: no volume is mounted at "`+dir+`", and all else is read-only; leave it out, choose a path in /var/lib/ssdprobe`)
	}
	for _, mode := range modes {
		for _, dir := range []string{"/srv/state", "/var/lib", "/var/lib/ssdprobe2", "/var/lib/ssdprobe/../x", "/"} {
			refused("mode="+mode, "state_dir", dir)
		}
		refused("mode="+mode+","+extra+",extraVolumeMounts[0].readOnly=true", "state_dir", "/srv/state")
		refused("mode="+mode, "lock_dir", "/srv/state")
		for _, dir := range []string{"", "/var/lib/ssdprobe/", "/var/lib/ssdprobe/deep", "/srv/state", "/srv/state/deep"} {
			c := helm(t, "--set", "mode="+mode+",config.state_dir="+dir+",config.lock_dir="+dir+","+extra).config(t)
			assert.Equal(t, filepath.Clean("/"+dir), filepath.Clean("/"+c.LockDir))
		}
	}
	refused("mode=raw-devices", "state_dir", "/run/ssdprobe") // lost when the node restarts
	refused("mode=files", "lock_dir", "/run/ssdprobe")
	assert.Equal(t, "/run/ssdprobe/locks", helm(t, "--set", "config.lock_dir=/run/ssdprobe/locks").config(t).LockDir)
	_, stderr, err := try(t, tool(t, "helm"), template("--set", "extraArgs={--state-dir=/srv}")...)
	require.Error(t, err)
	assert.Contains(t, stderr, "extraArgs: --state-dir=/srv: leave it out; config.state_dir says it")
}

// A probe file outside a volume cannot be created: the pod would be ready and measure nothing.
func TestChartRefusesProbeFilesOnNoVolume(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		set := "mode=" + mode + ",config.files[0].path=/var/lib/ssdprobe/probe,config.files[1].path=/srv/data/deep"
		for _, more := range []string{"", "," + extraMount("/srv/data") + ",extraVolumeMounts[0].readOnly=true", "," + extraMount("/srv/data/deeper")} {
			_, stderr, err := try(t, tool(t, "helm"), template("--set", set+more)...)
			require.Error(t, err, more)
			assert.Contains(t, stderr, `config.files[1].path: no volume is mounted at "/srv/data/deep", and all else is read-only; leave it out, choose a path in /var/lib/ssdprobe`, more)
			assert.Contains(t, stderr, `, or mount one by extraVolumes and extraVolumeMounts`, more)
		}
		assert.Equal(t, "/srv/data/deep", helm(t, "--set", set+","+extraMount("/srv/data")).config(t).Files[1].Path)
	}
}

// Without a mount of the node there are no drives: the pod would be ready and see none.
func TestChartRefusesAHostRootOnNoVolume(t *testing.T) {
	t.Parallel()
	for more, want := range map[string]string{
		"": "/host/sys", "," + extraMount("/host/sys"): "/host/proc", "," + extraMount("/host2"): "/host/sys",
	} {
		_, stderr, err := try(t, tool(t, "helm"), template("--set", "config.host_root=/host/"+more)...)
		require.Error(t, err, more)
		assert.Contains(t, stderr, `config.host_root: no volume is mounted at "`+want+`"; leave it out, `, more)
	}
	assert.Equal(t, "/host", helm(t, "--set", "config.host_root=/host,"+extraMount("/host")+",extraVolumeMounts[0].readOnly=true").config(t).HostRoot)
	assert.Equal(t, "/", helm(t, "--set", "config.host_root=/").config(t).HostRoot)
}

// Without the file, the daemon logs an error at each request: there are no leases, no condition and no taint.
func TestChartRefusesAKubeconfigOnNoVolume(t *testing.T) {
	t.Parallel()
	for _, section := range []string{"fleet", "kubernetes"} {
		set := "config." + section + ".enabled=true,config." + section + ".kubeconfig=/etc/kube/config"
		for _, more := range []string{"", "," + extraMount("/etc/kubeconfigs")} {
			_, stderr, err := try(t, tool(t, "helm"), template("--set", set+more)...)
			require.Error(t, err, set+more)
			assert.Contains(t, stderr, "config."+section+`.kubeconfig: no volume is mounted at "/etc/kube/config"; leave it out, `)
			assert.Contains(t, stderr, ", or mount one by extraVolumes and extraVolumeMounts")
		}
		for _, mounted := range []string{"/etc/kube", "/etc/kube/config"} { // the second by subPath
			assert.Contains(t, helm(t, "--set", set+","+extraMount(mounted)+",extraVolumeMounts[0].readOnly=true"), "*v1.DaemonSet ssdprobe")
		}
		helm(t, "--set", "config."+section+".enabled=false,config."+section+".kubeconfig=/etc/kube/config")
		// The node has this directory, and the volume of a pod is empty.
		const state = ".kubeconfig=/var/lib/ssdprobe/kubeconfig"
		helm(t, "--set", "config."+section+".enabled=true,config."+section+state)
		_, _, err := try(t, tool(t, "helm"), template("--set", "mode=files,config."+section+".enabled=true,config."+section+state)...)
		require.Error(t, err)
	}
}
