package config

import (
	"net"
	"strconv"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// form is the file: every key, in order, where its value goes, what it may be, and what
// is said of it. The check, deploy/ssdprobe.yaml and the JSON schema are made from it.
func (c *Config) form() section {
	return section{
		{"node", atStart{text(&c.Node)}, `The name of this machine. Also part of what keeps nodes from starting their rounds together. "" is the host name.`},
		{"state_dir", atStart{absoluteOrEmpty(&c.StateDir)}, `Where baselines, drift state and run reports are kept. "" is /var/lib/ssdprobe for root and the XDG state directory for other users.`},
		{"lock_dir", atStart{absoluteOrEmpty(&c.LockDir)}, "One lock file per device, so that daemon and `ssdprobe run` never touch a device at once. \"\" is chosen by the user that runs it."},
		{"host_root", atStart{absolute(&c.HostRoot)}, `Where the host's /sys, /proc and /dev are seen. In a container that mounts them elsewhere, that directory; the pods in deploy/ leave it at /.`},
		{"listen", atStart{list[string]{
			dst: &c.Listen, fresh: zero[string], form: address,
			empty: &Problem{Wrong: "has no address", Want: wantAddress},
		}}, `Addresses of the HTTP server: metrics, status page, read-only API.`},
		{"reload_on_change", flag(&c.ReloadOnChange), `true takes a new content of this file when it is seen, as SIGHUP does. false says in the log and on the status page that it has changed: a bad file, or one that is good and not meant, would reach all nodes at once.`},
		{"discovery_interval", atLeast(duration(&c.DiscoveryInterval), time.Second), `Time between looks for devices that came or left.`},
		{"rounds_at_once", atStart{within(count(&c.RoundsAtOnce), 1, 64)}, `At most this many rounds at a time on this node: devices that share a bus would measure each other.`},
		{"devices", c.Devices.form(), `Which block devices are watched. They are opened read-only and never written.`},
		{"files", list[File]{
			dst: &c.Files, fresh: defaultFile, form: fileForm,
			example: []File{{Path: "/srv/data", SizeBytes: 1 << 30}},
		}, `Files to probe besides: where a filesystem is to be measured, or durable writes. A file is made (or one in a directory), filled with random data and used again after a restart. It is made smaller when space is short. The directory probe of state_dir is made, too.`},
		{"fallback_file", flag(&c.FallbackFile), `When no device may be opened and files is empty, probe a file in state_dir, so that there is always something to see. It is written to for ever; a warning says so.`},
		{"fill_rate", atLeast(size(&c.FillBytesPerSecond), 1<<20), `Bytes per second at which a probe file is filled, so that making it disturbs nobody.`},
		{"probes", list[record.Probe]{dst: &c.Probes, fresh: defaultProbe, form: probeForm}, `What is measured for ever. A list given here replaces all of this one. Only name is required; the values of read-4k are the defaults of the others.
read-4k reads one block at a time: the latency that a database sees.
read-128k does larger reads in order: the path from the flash to the host.
durable-write-4k writes what has to reach the drive: what a commit costs. It writes 186 MiB a day.`},
		{"admission", c.Admission.form(), `When a device is left alone, and when a round does not count.`},
		{"runs", list[Run]{dst: &c.Runs, fresh: defaultRun, form: runForm, example: exampleRuns()},
			`Full runs of fio suites by the calendar, one at a time on this node. While one runs, the probes of its target rest. Reports are kept in state_dir; the last figures are metrics (ssdprobe_run_*).`},
		{"quiet_hours", list[Quiet]{dst: (*[]Quiet)(&c.QuietHours), fresh: defaultQuiet, form: quietForm, example: exampleQuiet()},
			`Times in which the daemon does no I/O by itself: no probe runs, no run by the calendar begins, and one in progress ends early. Rounds are not due then, so none is skipped as busy, and the alerts for missing results wait. Health is still read, and "ssdprobe run" asks nobody.`},
		{"fleet", atStart{c.Fleet.form()}, "At most so many nodes of a Kubernetes cluster run by the calendar at a time, by Lease objects in its API. For it the pods need a role and a token, which they are not given by default: see docs/install-kubernetes.md. Probes and `ssdprobe run` ask nobody."},
		{"drift", c.Drift.form(), "How a device is compared with what it did before. docs/drift.md says how that works, and has the measurements of which the delays below are medians. `ssdprobe drift replay` shows what other values would have said of your own past."},
		{"health", c.Health.form(), `What drives say of themselves: SMART data, temperatures and settings of NVMe controllers (needs CAP_SYS_ADMIN), of SATA and SAS drives when smartctl is installed (a sleeping one is left alone); and the interrupts of their queues.`},
	}
}

func (d *Devices) form() section {
	return section{
		{"enabled", flag(&d.Enabled), `false opens no block device at all.`},
		{"include", list[device.Rule]{
			dst: &d.Include, fresh: zero[device.Rule], form: ruleForm,
			example: []device.Rule{{Transport: "pcie", MinSizeBytes: 100e9}, {ByID: "nvme-SAMSUNG_*"}},
		}, `A device is watched when a rule of include and no rule of exclude matches. A rule matches when everything in it does: name, id, model, by_id (patterns such as nvme*), transport, min_size, max_size. No rule in include stands for every whole disk that is not loop, RAM, optical, a hard disk or made of other devices.`},
		{"exclude", list[device.Rule]{
			dst: &d.Exclude, fresh: zero[device.Rule], form: ruleForm,
			example: []device.Rule{{Name: "nvme0n1"}},
		}, `The same rules, for what is not watched.`},
	}
}

func ruleForm(r *device.Rule) field {
	return filled{section{
		{"name", optional(glob(&r.Name)), "pattern of the kernel's name"},
		{"id", optional(glob(&r.ID)), "pattern of the stable identity"},
		{"model", optional(glob(&r.Model)), "pattern of the model"},
		{"by_id", optional(glob(&r.ByID)), "pattern of a name in /dev/disk/by-id"},
		{"transport", optional(oneOf(text(&r.Transport), "a transport", record.Transports()...)), ""},
		{"min_size", bound(&r.MinSizeBytes), "of this size or larger"},
		{"max_size", bound(&r.MaxSizeBytes), "of this size or smaller"},
	}, 1}
}

func fileForm(f *File) field {
	return section{
		{"path", required(absolute(&f.Path), wantPath), ""},
		{"size", atLeast(size(&f.SizeBytes), minFileBytes), ""},
	}
}

func probeForm(p *record.Probe) field {
	return section{
		{"name", matching(required(text(&p.Name), "a name, e.g. read-4k"), "a name", "at most 40 of the characters a to z, 0 to 9 and -", probeName), "a to z, 0 to 9 and -, at most 40"},
		{"direction", oneOf(text(&p.Direction), "a direction", record.Read, record.Write), ""},
		{"pattern", oneOf(text(&p.Pattern), "a pattern", record.Random, record.Sequential), ""},
		{"block_size", within(size(&p.BlockBytes), minBlockBytes, maxBlockBytes), "a power of two"},
		{"queue_depth", within(count(&p.QueueDepth), 1, 64), "at most ios"},
		{"ios", within(count(&p.IOs), 1, 100_000), "counted I/Os in a round"},
		{"warmup_ios", within(count(&p.WarmupIOs), 0, 1000), "before them and not counted, as the first one wakes CPU and drive"},
		{"datasync", flag(&p.Datasync), "fdatasync after each write; only with direction: write"},
		{"interval", atLeast(duration(&p.Interval), time.Second), "from round to round"},
		{"timeout", atLeast(duration(&p.Timeout), 100*time.Millisecond), "after it the device counts as hung"},
		{"targets", oneOf(text(&p.Targets), "a kind of targets", record.OnAll, record.OnDevices, record.OnFiles), "write probes run on files alone"},
	}
}

func (a *Admission) form() section {
	return section{
		{"max_utilisation", within(ratio(&a.MaxUtilisation), 0, 1), `Skip a round when the device is busy with the I/O of others for more than this share of the time: it would be in the way, and measure them.`},
		{"max_in_flight", atLeast(count(&a.MaxInFlight), 0), `Skip a round when more I/Os of others than this are in flight.`},
		{"max_io_pressure", within(ratio(&a.MaxIOPressure), 0, 1), `Skip a round when tasks of this host wait for I/O for more than this share of the time (/proc/pressure/io).`},
		{"max_cpu_wait", atStart{within(ratio(&a.MaxCPUWait), 0, 1)}, `A round that waited for a CPU for more than this share of its time measured the CPU: it is shown as disturbed and not compared.`},
		{"write_budget_per_day", atLeast(size(&a.WriteBytesPerDay), 0), `What the write probes may write to a file in a day, in equal shares, restarts included; rounds beyond that are skipped, now and then over the day. 0 stops them. It is what the probes may wear out.`},
	}
}

func (d *Drift) form() section {
	return section{
		{"window", atLeast(duration(&d.Window), 30*time.Second), `What the figures on show cover. Verdicts do not depend on it.`},
		{"baseline_rounds", within(count(&d.BaselineRounds), 10, 100_000), `Good rounds that make a first baseline: 120 rounds of read-4k are an hour. From then on only a device 1.7 times slower or more is called out.`},
		{"threshold", within(ratio(&d.Threshold), 0.01, 10), `The smallest shift that is judged between then and the end of the first day, while the baseline is not final: 0.2 is 20 %. Less judges more, with less certainty.`},
		{"smallest_effect", within(ratio(&d.SmallestEffect), 0.01, 1), `The smallest shift of interest once the baseline is final. Smaller ones never alarm. What it costs, for 10 % slower: 33 min at 8 %, 30 at 4 %, and at 15 % a day or never; 20 % slower is found after 22 to 26 min with each. Raise it for drives whose speed wanders by itself.`},
		{"false_alarms_per_device_year", within(number(&d.FalseAlarmsPerYear), 0.001, 100), `How many alarms without a cause a device may bring in a year; the probes of a device share them. Fewer cost delay: 10 % slower is found after 28 min with 5 a year, 33 min with 0.5, 39 min with 0.05; 50 % slower after 12 min with each.`},
		{"data_sheets", list[record.DataSheet]{dst: &d.DataSheets, fresh: zero[record.DataSheet], form: sheetForm, example: exampleSheets()},
			"What makers promise, by model: a drive that was slow from the first day never gets slower, and is called out when it is far slower than this says. model is a pattern, the others are the lines of a file for `ssdprobe run --spec`, in decimal units; the first that matches counts. Compared are reads one at a time on raw devices: their median with random-read-latency (4 KiB and less: 1.5 times slower is far), larger blocks with that and the time their bytes take at the rate of sequential-read (2 times). IOPS and writes are for `ssdprobe run --spec`: no probe runs at the depths they are promised for."},
	}
}

func (h *Health) form() section {
	return section{
		{"enabled", flag(&h.Enabled), `false asks no drive and counts no interrupts.`},
		{"interval", atLeast(duration(&h.Interval), time.Second), `Time between two readings of a drive.`},
	}
}

const wantAddress = "host:port or :port, e.g. 127.0.0.1:10040, [::1]:10040, :10040"

func address(a *string) field {
	return valid(text(a), "a listen address", wantAddress, `:[0-9]{1,5}$`, func(v string) bool {
		_, port, err := net.SplitHostPort(v)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		return err == nil
	})
}

func zero[T any]() (v T) { return v }
