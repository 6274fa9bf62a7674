package manifesttest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// ofTheUnit has the capabilities of the unit.
const ofTheUnit = 1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_SYS_RAWIO | 1<<unix.CAP_DAC_READ_SEARCH

// boot boots this machine's own systemd in a container, on a copy of the root directory that is
// removed with the test.
func boot(t *testing.T) (c *container, root string) {
	t.Helper()
	need(t, "systemctl", "systemd")
	bundle := t.TempDir()
	root = filepath.Join(bundle, "root")
	upper, work := filepath.Join(bundle, "upper"), filepath.Join(bundle, "work")
	for _, dir := range []string{root, upper, work} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	require.NoError(t, unix.Mount("overlay", root, "overlay", 0, "lowerdir=/,upperdir="+upper+",workdir="+work))
	t.Cleanup(func() { assert.NoError(t, unix.Unmount(root, unix.MNT_DETACH)) })
	require.NoError(t, os.RemoveAll(filepath.Join(root, "etc", "systemd", "system")), "what this machine starts at boot")
	write(t, filepath.Join(root, "etc", "machine-id"), "", 0o644)
	run(t, "dpkg", "--root="+root, "--force-depends", "--install", made(t, runtime.GOARCH+".deb"))

	c = newContainer(t, "systemd")
	capabilities := []string{
		"CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_MKNOD",
		"CAP_NET_ADMIN", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID", "CAP_SYS_ADMIN", "CAP_SYS_CHROOT", "CAP_SYS_PTRACE",
		"CAP_SYS_RAWIO", "CAP_BPF", "CAP_PERFMON",
	}
	c.run(bundle, object{
		"ociVersion": "1.0.2",
		"process": object{
			"args":         []string{"/lib/systemd/systemd", "--unit=multi-user.target", "--log-target=console"},
			"cwd":          "/",
			"env":          []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "container=oci"},
			"user":         object{"uid": 0, "gid": 0},
			"capabilities": object{"bounding": capabilities, "effective": capabilities, "permitted": capabilities},
		},
		"root":     object{"path": root},
		"hostname": "storage-1",
		"mounts": []object{
			{"destination": "/proc", "type": "proc", "source": "proc"},
			{"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": []string{"ro"}},
			{"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup", "options": []string{"rw"}},
			{"destination": "/dev", "type": "bind", "source": "/dev", "options": []string{"rbind", "rw"}},
			{"destination": "/run", "type": "tmpfs", "source": "tmpfs"},
			{"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"},
		},
		"linux": object{
			"namespaces": namespaces("pid", "ipc", "uts", "mount", "cgroup"),
			"resources":  object{"devices": []object{{"allow": true, "access": "rwm"}}},
		},
	})
	c.eventually("systemd has booted", func() bool {
		return c.runc("exec", c.id, "systemctl", "is-active", "--quiet", "multi-user.target").Run() == nil
	})
	return c, root
}

// The package, the unit and the daemon together, as docs/install-systemd.md describes them.
func TestServiceMeasuresWithFewRights(t *testing.T) {
	t.Parallel()
	device := testenv.LoopDevice(t, 32<<20, testenv.Options{Random: true})
	name := filepath.Base(device.Path)
	c, root := boot(t)
	write(t, filepath.Join(root, "etc", "ssdprobe", "ssdprobe.yaml"),
		fmt.Sprintf("listen: [\"127.0.0.1:0\"]\ndevices: {include: [{name: %s}]}\n", name)+quick, 0o644)
	journal := func() string { return c.exec("journalctl", "--unit=ssdprobe", "--output=cat", "--no-pager") }
	// The drive belongs to another user, as those of Ceph do.
	c.exec("sh", "-ec", fmt.Sprintf("mknod --mode=0660 /root/node b %s; chown 64045:64045 /root/node; mount --bind /root/node %s",
		strings.Replace(device.Number, ":", " ", 1), device.Path))

	c.exec("systemctl", "enable", "--now", "ssdprobe")
	c.awaitURL(journal)
	c.exec("ssdprobe", "ready", "--wait", "1m")
	c.measures(name)
	mainPID := func() string { return c.exec("systemctl", "show", "--property=MainPID", "--value", "ssdprobe") }
	inside, err := strconv.Atoi(strings.TrimSpace(mainPID()))
	require.NoError(t, err)
	for _, set := range []string{"CapEff", "CapPrm", "CapBnd"} {
		assert.Contains(t, c.exec("cat", fmt.Sprintf("/proc/%d/status", inside)), fmt.Sprintf("%s:\t%016x\n", set, ofTheUnit))
	}

	c.exec("systemctl", "reload", "ssdprobe")
	c.eventually("the configuration is read again", func() bool { return strings.Contains(journal(), "configuration reloaded") })
	assert.Contains(t, c.exec("ssdprobe", "run", "--config=/etc/ssdprobe/ssdprobe.yaml", "--target="+device.Path, "--rounds=1"), "read-4k")

	// A daemon that hangs is restarted.
	write(t, filepath.Join(root, "etc", "systemd", "system", "ssdprobe.service.d", "soon.conf"), "[Service]\nWatchdogSec=20s\nTimeoutAbortSec=1s\nRestartSec=100ms\n", 0o644)
	c.exec("systemctl", "daemon-reload")
	c.exec("systemctl", "restart", "ssdprobe") // which returns once it is ready
	c.exec("ssdprobe", "ready", "--wait", "1m")
	before := mainPID()
	c.exec("systemctl", "kill", "--kill-whom=main", "--signal=STOP", "ssdprobe")
	c.eventually("the watchdog starts it again", func() bool {
		return mainPID() != before &&
			c.runc("exec", c.id, "systemctl", "is-active", "--quiet", "ssdprobe").Run() == nil
	})

	// The unit's rules for devices, and a program that tries more.
	rules := []string{"systemd-run", "--quiet", "--wait", "--pipe", "--property=DevicePolicy=closed", "--property=DeviceAllow=block-* r"}
	c.exec(append(rules, "dd", "if="+device.Path, "of=/dev/null", "bs=4k", "count=1")...)
	out, err := c.runc(append(append([]string{"exec", c.id}, rules...), "dd", "if=/dev/zero", "of="+device.Path, "bs=4k", "count=1")...).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "Operation not permitted")

	// A scheduled suite runs fio within the same limits.
	suite := regexp.MustCompile(`(?m)^ExecStart=.*`).ReplaceAllString(read(t, at("deploy", "systemd", "ssdprobe.service")),
		"ExecStart=/usr/bin/ssdprobe run quick --config /etc/ssdprobe/ssdprobe.yaml --set time=1s --even-if-busy --target "+device.Path)
	suite = strings.NewReplacer("Type=notify", "Type=oneshot", "WatchdogSec=3min\n", "", "Restart=on-failure", "Restart=no").Replace(suite)
	write(t, filepath.Join(root, "etc", "systemd", "system", "suite.service"), suite, 0o644)
	c.exec("systemctl", "daemon-reload")
	out, err = c.runc("exec", c.id, "systemctl", "start", "suite").CombinedOutput()
	require.NoErrorf(t, err, "%s%s", out, c.exec("journalctl", "--unit=suite", "--output=cat", "--no-pager"))

	c.exec("systemctl", "stop", "ssdprobe")
	assert.NotContains(t, journal(), "cannot tell systemd")
	assert.Equal(t, "success\n", c.exec("systemctl", "show", "--property=Result", "--value", "ssdprobe"))
	assert.DirExists(t, filepath.Join(root, "var", "lib", "ssdprobe", "targets"), "what was learned is kept")
}

// An upgrade to a version that refuses the configuration ends, so that dpkg does not hold up other packages, and says
// what to do.
func TestUpgradeSucceedsWithoutTheDaemon(t *testing.T) {
	t.Parallel()
	c, root := boot(t)
	configuration := filepath.Join(root, "etc", "ssdprobe", "ssdprobe.yaml")
	const good = "listen: [\"127.0.0.1:0\"]\ndevices: {enabled: false}\nfallback_file: false\n"
	write(t, configuration, good, 0o644)
	c.exec("systemctl", "enable", "--now", "ssdprobe")
	write(t, configuration, good+"no_such_key: 1\n", 0o644)
	write(t, filepath.Join(root, "root", "ssdprobe.deb"), read(t, made(t, runtime.GOARCH+".deb")), 0o644)

	said, err := c.runc("exec", c.id, "dpkg", "--force-depends", "--install", "/root/ssdprobe.deb").CombinedOutput()
	require.NoError(t, err, string(said))
	assert.Equal(t, "install ok installed", c.exec("dpkg-query", "--show", "--showformat=${Status}", "ssdprobe"))
	assert.Contains(t, c.exec("journalctl", "--unit=ssdprobe", "--output=cat", "--no-pager"), "no_such_key")
	for _, command := range []string{"journalctl -u ssdprobe", "ssdprobe config check /etc/ssdprobe/ssdprobe.yaml", "systemctl restart ssdprobe"} {
		assert.Contains(t, string(said), "\n  "+command+"\n")
	}
	write(t, configuration, good, 0o644)
	c.exec("systemctl", "restart", "ssdprobe")
}

// dropIns returns the files of docs/install-systemd.md that change units, in order.
func dropIns(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, block := range regexp.MustCompile(`(?m)^    \[(?:.*\n    )*.*\n`).FindAllString(read(t, at("docs", "install-systemd.md")), -1) {
		all = append(all, regexp.MustCompile(`(?m)^    `).ReplaceAllString(block, ""))
	}
	return all
}

// Probe files on a separate filesystem, and sockets from systemd, as in docs/install-systemd.md.
// The files are what `systemctl edit` creates.
func TestServiceWithTheDropInsOfTheDocument(t *testing.T) {
	t.Parallel()
	files := dropIns(t)
	require.Len(t, files, 6)
	require.Contains(t, files[0], "CAP_BPF") // TestServiceTimesIOWithTheDropIn tests it
	files = files[1:]
	c, root := boot(t)
	override := func(unit, name, text string) {
		write(t, filepath.Join(root, "etc", "systemd", "system", unit+".d", name+".conf"), text, 0o644)
	}
	journal := func() string { return c.exec("journalctl", "--unit=ssdprobe", "--output=cat", "--no-pager") }
	write(t, filepath.Join(root, "etc", "ssdprobe", "ssdprobe.yaml"),
		"devices: {enabled: false}\nfiles: [{path: /srv/data/ssdprobe, size: 16MiB}]\n"+quick, 0o644)

	require.Contains(t, files[0], "ReadWritePaths=-/srv/data/ssdprobe")
	c.exec("mount", "--make-rshared", "/") // as systemd has it outside of containers
	c.exec("mount", "-o", "remount,bind,rw", "/sys")
	c.exec("mkdir", "/srv/data") // where a filesystem is mounted later
	override("ssdprobe.service", "files", files[0])
	require.Contains(t, files[1], "ProtectKernelTunables=no")
	override("ssdprobe.service", "settings", files[1])
	require.Contains(t, files[2], "Requires=ssdprobe.socket")
	override("ssdprobe.service", "socket", files[2])
	const address = "127.0.0.1:10040" // a port of this machine, which the test does not use
	require.Contains(t, files[3], address)
	override("ssdprobe.socket", "address", strings.Replace(files[3], address, "/run/ssdprobe.sock", 1))
	require.Contains(t, files[4], "IPAddressDeny=any")
	override("ssdprobe.service", "addresses", files[4])
	write(t, filepath.Join(root, "etc", "ssdprobe", "environment"), "SSDPROBE_ARGS=--web.systemd-socket\n", 0o644)
	c.exec("systemctl", "daemon-reload")

	c.exec("systemctl", "stop", "ssdprobe")
	c.exec("systemctl", "enable", "--now", "ssdprobe.socket")
	c.exec("systemctl", "restart", "ssdprobe")
	assert.Equal(t, "/run/ssdprobe.sock (Stream)\n", c.exec("systemctl", "show", "--property=Listen", "--value", "ssdprobe.socket"), "the only address")
	c.exec("systemctl", "restart", "ssdprobe.socket", "ssdprobe")
	get := func(path string) string {
		out, err := c.runc("exec", c.id, "curl", "--silent", "--unix-socket", "/run/ssdprobe.sock", "http://ssdprobe/"+path).Output()
		if err != nil {
			return journal()
		}
		return string(out)
	}
	c.eventually("it answers although the filesystem of the file is not mounted", func() bool { return get("-/healthy") == "healthy\n" })
	inside := strings.TrimSpace(c.exec("systemctl", "show", "--property=MainPID", "--value", "ssdprobe"))
	assert.Regexp(t, `(?m)^\S+ /sys sysfs rw`, c.exec("cat", "/proc/"+inside+"/mounts"), "settings are changed there")
	c.exec("install", "--directory", "--mode", "0700", "/root/data/ssdprobe")
	c.exec("mount", "--bind", "/root/data", "/srv/data")
	good := regexp.MustCompile(`(?m)^ssdprobe_probe_rounds_total\{.*outcome="ok".*\} [1-9]`)
	c.eventually("a good round on the file", func() bool { return good.MatchString(get("metrics")) })
	assert.FileExists(t, filepath.Join(root, "root", "data", "ssdprobe", "ssdprobe.dat"))
}

// The I/O of applications is timed with the drop-in of docs/install-systemd.md. Without it one reason is logged.
func TestServiceTimesIOWithTheDropIn(t *testing.T) {
	t.Parallel()
	device := testenv.LoopDevice(t, 32<<20, testenv.Options{Random: true})
	name := filepath.Base(device.Path)
	c, root := boot(t)
	write(t, filepath.Join(root, "etc", "ssdprobe", "ssdprobe.yaml"),
		fmt.Sprintf("listen: [\"127.0.0.1:0\"]\ndevices: {include: [{name: %s}]}\n", name)+quick, 0o644)
	journal := func() string { // only of this start of the service
		id := strings.TrimSpace(c.exec("systemctl", "show", "--property=InvocationID", "--value", "ssdprobe"))
		return c.exec("journalctl", "--output=cat", "--no-pager", "_SYSTEMD_INVOCATION_ID="+id)
	}

	c.exec("systemctl", "enable", "--now", "ssdprobe")
	c.awaitURL(journal)
	c.exec("ssdprobe", "ready", "--wait", "1m")
	assert.Regexp(t, `(?m)^ssdprobe_io_latency_available\{.*reason="rights"\} 0$`, c.get("metrics"))
	capability := regexp.MustCompile(`(?m)^.*CAP_BPF.*$`)
	assert.Len(t, capability.FindAllString(journal(), -1), 1, "one reason, told once")
	assert.Len(t, capability.FindAllString(c.exec("ssdprobe", "devices"), -1), 1, "and to whoever asks")

	write(t, filepath.Join(root, "etc", "systemd", "system", "ssdprobe.service.d", "override.conf"), dropIns(t)[0], 0o644)
	c.exec("systemctl", "daemon-reload")
	c.exec("systemctl", "restart", "ssdprobe")
	c.awaitURL(journal)
	c.eventually("it times I/O", func() bool {
		return regexp.MustCompile(`(?m)^ssdprobe_io_latency_available\{.*reason=""\} 1$`).MatchString(c.get("metrics"))
	})
	c.eventually("reads are in the histogram", func() bool {
		c.exec("dd", "if="+device.Path, "of=/dev/null", "bs=4k", "count=64", "iflag=direct")
		return regexp.MustCompile(`(?m)^ssdprobe_io_latency_seconds_count\{.*operation="read",stage="device"\} [1-9]`).MatchString(c.get("metrics"))
	})
	inside := strings.TrimSpace(c.exec("systemctl", "show", "--property=MainPID", "--value", "ssdprobe"))
	for _, set := range []string{"CapEff", "CapPrm"} {
		assert.Contains(t, c.exec("cat", "/proc/"+inside+"/status"), fmt.Sprintf("%s:\t%016x\n", set, ofTheUnit), "the others are given up")
	}
}
