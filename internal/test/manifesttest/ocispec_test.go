package manifesttest

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// object is a part of the runtime's configuration. Only fields that are set are written.
type object = map[string]any

// spec returns the configuration that containerd derives from the pod for runc (OCI runtime specification 1.0).
func (p *pod) spec(given volumes) object {
	container := p.description.Containers[0]
	privileged := isTrue(container.SecurityContext.Privileged)
	capabilities := []string{}
	devices := []object{{"allow": false, "access": "rwm"}}
	linux := object{
		"namespaces":    namespaces("pid", "ipc", "uts", "mount", "cgroup"),
		"maskedPaths":   []string{"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/scsi", "/sys/firmware"},
		"readonlyPaths": []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"},
	}
	if privileged {
		capabilities = []string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_SYS_ADMIN", "CAP_SYS_RAWIO", "CAP_MKNOD"}
		devices = []object{{"allow": true, "access": "rwm"}}
		linux = object{"namespaces": namespaces("pid", "ipc", "uts", "mount")}
	}
	linux["resources"] = object{"devices": devices}
	sets := object{}
	for _, set := range []string{"bounding", "effective", "permitted"} {
		sets[set] = capabilities
	}
	return object{
		"ociVersion": "1.0.2",
		"process": object{
			"args":            slices.Concat([]string{"/usr/bin/ssdprobe"}, container.Args, []string{"--web.listen-address=127.0.0.1:0"}),
			"cwd":             "/",
			"env":             environment(container),
			"user":            p.user(container),
			"capabilities":    sets,
			"noNewPrivileges": container.SecurityContext.AllowPrivilegeEscalation != nil && !*container.SecurityContext.AllowPrivilegeEscalation,
		},
		"root":     object{"path": "rootfs", "readonly": isTrue(container.SecurityContext.ReadOnlyRootFilesystem)},
		"hostname": "ssdprobe-x7k2p",
		"mounts":   mounts(container, given, privileged),
		"linux":    linux,
	}
}

// nodeName is the node of the pods; the host name is that of the pod.
const nodeName = "node-7"

func environment(container corev1.Container) []string {
	all := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	for _, variable := range container.Env {
		value := variable.Value
		if from := variable.ValueFrom; from != nil && from.FieldRef.FieldPath == "spec.nodeName" {
			value = nodeName
		}
		all = append(all, variable.Name+"="+value)
	}
	return all
}

func isTrue(b *bool) bool { return b != nil && *b }

func namespaces(types ...string) []object {
	var all []object
	for _, t := range types {
		all = append(all, object{"type": t})
	}
	return all
}

func (p *pod) user(container corev1.Container) object {
	user := object{"uid": 0, "gid": 0}
	if context := p.description.SecurityContext; context.RunAsUser != nil {
		user = object{"uid": *context.RunAsUser, "gid": *context.RunAsGroup, "additionalGids": []int64{*context.FSGroup}}
	}
	if own := container.SecurityContext.RunAsUser; own != nil {
		user["uid"] = *own
	}
	return user
}

// mounts returns the mounts of the runtime and of the volumes. A volume at /dev replaces everything
// that the runtime would put there, in containerd and in CRI-O.
func mounts(container corev1.Container, given volumes, privileged bool) []object {
	access := "ro"
	if privileged {
		access = "rw"
	}
	all := []object{
		{"destination": "/proc", "type": "proc", "source": "proc", "options": []string{"nosuid", "noexec", "nodev"}},
		{"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": []string{"nosuid", "noexec", "nodev", access}},
		{"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup", "options": []string{"nosuid", "noexec", "nodev", access}},
		{"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
		{"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": []string{"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}},
	}
	overDev := slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/dev" })
	if overDev {
		all = slices.DeleteFunc(all, func(m object) bool { return strings.HasPrefix(m["destination"].(string), "/dev") })
	}
	volumeMounts := slices.Concat(container.VolumeMounts, []corev1.VolumeMount{{Name: "termination-log", MountPath: container.TerminationMessagePath}})
	slices.SortStableFunc(volumeMounts, func(a, b corev1.VolumeMount) int {
		return cmp.Compare(strings.Count(a.MountPath, "/"), strings.Count(b.MountPath, "/"))
	})
	for _, mount := range volumeMounts {
		options := []string{"rbind", "rprivate", "rw"}
		if mount.ReadOnly {
			options[2] = "ro"
		}
		if mount.RecursiveReadOnly != nil && *mount.RecursiveReadOnly == corev1.RecursiveReadOnlyIfPossible {
			options[2] = "rro"
		}
		all = append(all, object{"destination": mount.MountPath, "type": "bind", "source": given[mount.Name], "options": options})
	}
	return all
}
