package config

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/recorder"
)

// form describes the file: every key, in order, with the place of its value, its limits and its help. The check,
// deploy/ssdprobe.yaml and the JSON schema are made from it.
func (c *Config) form() section {
	return section{
		{"node", atStart{text(&c.Node)}, `The name of this machine. Nodes with different names start their rounds at different times. "" is the host name.`},
		{"state_dir", atStart{absoluteOrEmpty(&c.StateDir)}, `The directory for baselines, drift state and run reports. "" is /var/lib/ssdprobe for root, and the XDG state directory for other users.`},
		{"lock_dir", atStart{absoluteOrEmpty(&c.LockDir)}, "The directory for one lock file per device: the daemon and `ssdprobe run` never measure a device at the same time. \"\" is /run/ssdprobe/locks for root, and a directory for each other user."},
		{"host_root", atStart{absolute(&c.HostRoot)}, `The directory that contains the host's /sys, /proc and /dev. Change it in a container that mounts them elsewhere; the pods in deploy/ leave it at /.`},
		{"listen", atStart{list[string]{
			dst: &c.Listen, fresh: zero[string], form: address,
			empty: &Problem{Wrong: "has no address", Want: wantAddress},
		}}, `Addresses of the HTTP server, which has the metrics, the status page and a read-only API.`},
		{"reload_on_change", flag(&c.ReloadOnChange), `true loads this file when it changes, as SIGHUP does. false only reports the change, in the log and on the status page, so that a mistake does not reach all nodes at once.`},
		{"discovery_interval", atLeast(duration(&c.DiscoveryInterval), time.Second), `How often to look for devices that were added or removed.`},
		{"rounds_at_once", atStart{within(count(&c.RoundsAtOnce).as("number of rounds"), 1, 64)}, `How many rounds may run at the same time on this node. Devices that share a bus would slow each other down.`},
		{"devices", c.Devices.form(), `Which block devices are watched. They are opened read-only and never written.`},
		{"files", list[File]{
			dst: &c.Files, fresh: defaultFile, form: fileForm,
			example: []File{{Path: "/srv/data", SizeBytes: 1 << 30}},
		}, `Files to probe as well, to measure a filesystem or durable writes. The daemon creates the file, fills it with random data, and uses it again after a restart. In a directory it creates a file of its own. The file is smaller when space is short. The directory "probe" in state_dir is created if it is missing; all others must exist.`},
		{"fallback_file", flag(&c.FallbackFile), `true probes a 1 GiB file in state_dir if no device may be opened and files is empty. The daemon keeps writing to it, and a warning says so.`},
		{"fill_rate", atLeast(size(&c.FillBytesPerSecond).as("size a second"), 1<<20), `How fast a new probe file is filled at most. A low rate disturbs others less. A drive that cannot keep up is left alone for half of the time.`},
		{"probes", list[record.Probe]{dst: &c.Probes, fresh: defaultProbe, form: probeForm, builtIn: builtInProbe}, `What is measured continuously. A list given here replaces this one. Only name is required. The other keys default to the values of the probe below that has this name, or else of read-4k.
read-4k reads one block at a time: the latency that a database sees.
read-128k reads larger blocks in order: the path from the flash to the host.
durable-write-4k writes and waits for the drive: what a commit costs. It writes 186 MiB a day.`},
		{"admission", c.Admission.form(), `When a round is skipped because a device is busy, and when a round does not count.`},
		{"runs", list[Run]{dst: &c.Runs, fresh: defaultRun, form: runForm, example: exampleRuns()},
			`Scheduled runs of fio suites, one at a time on this node. The probes of a target pause during its run. Reports are kept in state_dir; the latest figures are metrics (ssdprobe_run_*) while the suite is scheduled.`},
		{"quiet_hours", list[Quiet]{dst: (*[]Quiet)(&c.QuietHours), fresh: defaultQuiet, form: quietForm, example: exampleQuiet()},
			"Times in which the daemon starts no I/O of its own. No probe runs, no scheduled run begins, and one in progress ends early. Rounds are not due then, so none counts as busy, and the alerts about missing results wait. The daemon still reads the health of drives, and `ssdprobe run` still works."},
		{"fleet", atStart{c.Fleet.form()}, "A limit on how many nodes of a Kubernetes cluster execute scheduled runs at the same time. Lease objects enforce it. The pods need a role and a token for it, which they do not have by default: see docs/install-kubernetes.md. Probes and `ssdprobe run` are not limited."},
		{"kubernetes", atStart{c.Kubernetes.form()}, "Reports about the drives of this node to its Kubernetes cluster. They need a role and an admission policy, which do not exist by default: see docs/install-kubernetes.md. While they are off, they cause no request to the cluster."},
		{"drift", c.Drift.form(), "How a device is compared with its own past. docs/drift.md explains it, and docs/drift.md#tune-it has a table of the delays that other values bring. `ssdprobe drift replay` shows what other values would have said about your own history."},
		{"io_latency", atStart{oneOf(text(&c.IOLatency), "a way to time I/O", IOLatencyAuto, IOLatencyAlways, IOLatencyNever)}, "Whether eBPF programs in the kernel time each I/O of applications, for the metric ssdprobe_io_latency_seconds. They need CAP_BPF and CAP_PERFMON, and Linux 5.15 or later. With auto, the daemon goes on without them where they cannot run, and says why. With always, it exits with an error there. With never, it does not try to load them. docs/traffic.md explains it."},
		{"health", c.Health.form(), `SMART data, temperatures, settings and interrupts of drives. NVMe controllers need CAP_SYS_ADMIN; SATA and SAS drives need smartctl, and a sleeping drive is not woken.`},
		{"recorder", recorderForm(&c.Recorder), "The flight recorder. It keeps the last ten minutes in memory, a second at a time: what each watched device did, and what the host did. A stall or a verdict (degraded, severe) writes the minute before and the minute after it to state_dir: see `ssdprobe record`. It starts no I/O on a drive."},
	}
}

func recorderForm(s *recorder.Settings) section {
	return section{
		{"enabled", flag(&s.Enabled), `false records nothing and needs no memory. Stored recordings stay.`},
		{"max_recordings", within(count(&s.MaxRecordings).as("number of recordings"), 1, 1000), `How many recordings are kept. The oldest go first.`},
		{"max_size", within(size(&s.MaxBytes), 1<<20, 1<<30), `How many bytes all recordings may take, compressed. One takes 3 to 200 KiB. The daemon also keeps them in memory, for the status page. Their files are a third larger.`},
		{"names", flag(&s.Names), `true records which process and control group submitted each of the slowest I/Os, where eBPF programs time them. The web never shows them. docs/security.md says who can see them.`},
	}
}

func (d *Devices) form() section {
	return section{
		{"enabled", flag(&d.Enabled), `false opens no block device at all.`},
		{"include", list[device.Rule]{
			dst: &d.Include, fresh: zero[device.Rule], form: ruleForm,
			example: []device.Rule{{Transport: "pcie", MinSizeBytes: 100e9}, {ByID: "nvme-SAMSUNG_*"}},
		}, `A device is watched if it matches a rule of include and no rule of exclude. A rule matches if all of its keys match; name, id, model and by_id are patterns such as nvme*. With no rule here, every whole disk is watched, except loop devices, RAM disks, optical drives, hard disks and devices made of others. One of those is watched if a rule matches it by name, id, model or by_id.`},
		{"exclude", list[device.Rule]{
			dst: &d.Exclude, fresh: zero[device.Rule], form: ruleForm,
			example: []device.Rule{{Name: "nvme0n1"}},
		}, `Devices not to watch, by the same kind of rules.`},
	}
}

func ruleForm(r *device.Rule) field { return filled{ruleKeys(r), 1} }

func ruleKeys(r *device.Rule) section {
	return section{
		{"name", optional(nameGlob(&r.Name)), "pattern of the kernel's name"},
		{"id", optional(pattern(&r.ID)), "pattern of the stable identity"},
		{"model", optional(pattern(&r.Model)), "pattern of the model"},
		{"by_id", optional(nameGlob(&r.ByID)), "pattern of a name in /dev/disk/by-id"},
		{"transport", optional(oneOf(text(&r.Transport), "a transport", record.Transports()...)), "how it is attached"},
		{"min_size", bound(&r.MinSizeBytes), "this size or larger"},
		{"max_size", bound(&r.MaxSizeBytes), "this size or smaller"},
	}
}

func fileForm(f *File) field {
	return section{
		{"path", required(absolute(&f.Path), wantPath), "the file, or a directory"},
		{"size", atLeast(size(&f.SizeBytes), record.MinProbeFileBytes), "size of the file"},
	}
}

func probeForm(p *record.Probe) field {
	return section{
		{"name", matching(required(text(&p.Name), "a name, e.g. read-4k"), "a name", "at most 40 of the characters a to z, 0 to 9 and -", probeName), "a to z, 0 to 9 and -, at most 40"},
		{"direction", oneOf(text(&p.Direction), "a direction", record.Read, record.Write), "what an I/O does"},
		{"pattern", oneOf(text(&p.Pattern), "a pattern", record.Random, record.Sequential), "order of the blocks"},
		{"block_size", within(size(&p.BlockBytes), minBlockBytes, maxBlockBytes), "bytes of one I/O, a power of two; on a drive with larger logical blocks, such as 16 KiB, the probe uses those and reports the finding larger_blocks"},
		{"queue_depth", within(count(&p.QueueDepth).as("number of I/Os"), 1, 64), "I/Os in flight: no more than ios, and no more than 64 MiB together"},
		{"ios", within(count(&p.IOs).as("number of I/Os"), 1, 100_000), "counted I/Os in a round; a round of random reads on a block device has at most 8192 I/Os"},
		{"warmup_ios", within(count(&p.WarmupIOs).as("number of I/Os"), 0, 1000), "uncounted I/Os at the start of a round, to wake CPU and drive"},
		{"datasync", flag(&p.Datasync), "fdatasync after each write; needs direction: write"},
		{"interval", atLeast(duration(&p.Interval), time.Second), "mean time from round to round; each start is moved by up to a quarter of it, at random. Rounds more than an hour apart are not compared with the baseline"},
		{"timeout", atLeast(duration(&p.Timeout), 100*time.Millisecond), "time after which the device counts as hung"},
		{"targets", oneOf(text(&p.Targets), "a kind of targets", record.OnAll, record.OnDevices, record.OnFiles), "what it runs on; write probes run on files only"},
	}
}

func (a *Admission) form() section {
	return section{
		{"max_utilisation", auto(&a.MaxUtilisation, within(ratio(nil).as("ratio of time"), 0, 1)), fmt.Sprintf(`Skip a round if others keep the device busy for more than this share of the time. auto is %.1f on hard disks and before full runs. It sets no limit for probes of other devices, because busy time says nothing about a drive that serves many I/Os at a time. A value that you set here, or in the next two keys, always applies: to all devices, and to forced rounds.`, admit.AutoUtilisation)},
		{"max_in_flight", auto(&a.MaxInFlight, atLeast(count[int64](nil).as("number of I/Os"), 0)), fmt.Sprintf(`Skip a round if others have more I/Os than this in flight. auto is a mean of %d. For probes, it applies only while the device does at least %.0f %% of the most work that it was seen to do, so that a slow drive is still measured.`, admit.AutoInFlight, 100*admit.AutoWork)},
		{"max_io_pressure", auto(&a.MaxIOPressure, within(ratio(nil).as("ratio of time"), 0, 1)), fmt.Sprintf(`Skip a round if tasks of this host wait for I/O for more than this share of the time (/proc/pressure/io). auto is %.1f. For probes, it applies only to devices that do at least %.0f %% of the most work that they were seen to do and on which others keep more than %d I/Os in flight, so that a slow drive does not stop the probes of other drives.`,
			admit.AutoIOPressure, 100*admit.AutoWork, admit.AutoStressed)},
		{"forced_interval", duration(&a.ForcedInterval), fmt.Sprintf(`After this time without a round, a probe runs a small one even if the device is busy: at most %d I/Os, and %d to warm up. Such rounds are marked as loaded and not compared with the baseline. Hard disks, sleeping drives and drives that hang get none. A limit that you set above still applies. 0s turns them off.`, admit.ForcedIOs, admit.ForcedWarmupIOs)},
		{"max_cpu_wait", atStart{within(ratio(&a.MaxCPUWait).as("ratio of time"), 0, 1)}, `Discard a round that waited for a CPU for more than this share of its time, because it measured the CPU. It is shown as disturbed.`},
		{"write_budget_per_day", atLeast(size(&a.WriteBytesPerDay).as("size a day"), 0), `How much all write probes together may write to one file in a day on average, to limit wear. Files on the same drive have a budget each. What was not used may be used the next day, so a day may have twice as much. The probes have equal shares, and a restart does not renew the budget. Rounds beyond it are skipped, spread over the day. 0 stops write probes.`},
		{"confirmations_per_hour", within(count(&a.ConfirmationsPerHour).as("number of rounds"), 0, 120), `How many rounds may run out of turn on one target in an hour. They confirm or refute a suspicion within a minute, on the suspected drive and on others of the node. None run in quiet hours, they wait for a scheduled run to end, and the limits and the write budget apply to them. 0 turns them off.`},
	}
}

func (d *Drift) form() section {
	return section{
		{"window", atLeast(duration(&d.Window), 30*time.Second), `How far back the figures in metrics and on the status page reach. A percentile reaches back further, up to 6 h, until ten I/Os lie above it. Verdicts do not depend on it.`},
		{"baseline_rounds", within(count(&d.BaselineRounds).as("number of rounds"), 10, 100_000), `How many good rounds make an early baseline: 120 rounds of read-4k are an hour. From then on, a device that is 1.7 times slower or more is reported. If its rounds varied a lot, the limit is higher.`},
		{"threshold", within(ratio(&d.Threshold).as("ratio of the baseline"), 0.01, 10), `The smallest shift that is judged while the baseline is provisional, until the end of the first day: 0.2 is 20 %. A lower value reports more, with less certainty.`},
		{"smallest_effect", within(ratio(&d.SmallestEffect).as("ratio of the baseline"), 0.01, 1), `The smallest shift that matters once the baseline is final. Smaller ones never raise an alarm. With a larger value, a drive that is hardly slower than that is found late or never. Raise it for drives whose speed varies by itself.`},
		{"false_alarms_per_device_year", within(number(&d.FalseAlarmsPerYear).as("number of alarms a year"), 0.001, 100), `How many false alarms a device may have in a year: statistics that are called slower by chance. Its probes and its traffic share this number. Fewer false alarms mean longer delays, mostly for small shifts.`},
		{"data_sheets", list[record.DataSheet]{dst: &d.DataSheets, fresh: zero[record.DataSheet], form: sheetForm, example: exampleSheets()},
			"What makers promise, by model. It finds drives that were slow from the first day, because these never drift. The first sheet whose model matches counts. The other keys are those of a file for `ssdprobe run --spec`, in decimal units. A figure for other blocks than 4 KiB names their size: 40k IOPS at 16KiB.\n" +
				"The daemon compares reads with queue depth 1 on raw devices. Blocks up to 4 KiB, or the size that the sheet names, are too slow when their median is 1.5 times random-read-latency. Larger blocks are too slow at twice that latency plus the time their bytes take at sequential-read.\n" +
				"IOPS and writes are compared by `ssdprobe run --spec` only: no probe reaches the queue depths that they are promised for."},
	}
}

func (h *Health) form() section {
	return section{
		{"enabled", flag(&h.Enabled), `false reads no drive and counts no interrupts.`},
		{"interval", atLeast(duration(&h.Interval), time.Second), `How often each drive is read.`},
		{"interrupts", interruptsForm(&h.Interrupts), "How detailed the metrics for the interrupts of an NVMe controller are. summary is the sum of all queues. all adds ssdprobe_nvme_queue_interrupts_total, in which each queue has a series for interrupts on CPUs near the drive and one for those far away. A controller has one queue for each CPU and one more, so a machine with 128 CPUs has up to 258 more series for each drive."},
		{"devices", list[HealthOf]{
			dst: &h.Devices, fresh: zero[HealthOf], form: healthOfForm,
			example: []HealthOf{{Rule: device.Rule{Name: "nvme0n1"}, Interrupts: InterruptsAll}},
		}, `Devices for which interrupts differs from the above. The first rule that matches counts. The rules are those of devices.include.`},
	}
}

func healthOfForm(h *HealthOf) field {
	interrupts := required(interruptsForm(&h.Interrupts), "summary or all")
	return filled{append(ruleKeys(&h.Rule), entry{"interrupts", interrupts, "for the devices that match"}), 2}
}

func interruptsForm(dst *Interrupts) scalar[Interrupts] {
	return oneOf(text(dst), "a level of detail", InterruptsSummary, InterruptsAll)
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
