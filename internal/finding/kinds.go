package finding

import "github.com/ssdprobe/ssdprobe/internal/record"

// The codes of the findings that this package decides. All other codes are those of a
// record.Warning.
const (
	Hung        = "hung"
	HeldBack    = "held_back"
	CannotProbe = "cannot_probe"
	IOErrors    = "io_errors"
	Regressed   = "regressed"
	// SinceChange is a slowdown that no verdict says any more, as the baseline has followed it.
	SinceChange = "slower_since_change"
	// ManyChanges is a slowdown by several changes of conditions, each of which cost too little to be SinceChange.
	ManyChanges = "slower_by_many_changes"
	Stalled     = "stalled"
	// The next three concern drives of a node that got slower together, and a drive's own
	// traffic.
	HostSlower    = "host_slower"
	BatchSlower   = "batch_slower"
	TrafficSlower = "traffic_slower"
	Held          = "verdict_held"
	NotReady      = "not_ready"
	Stale         = "stale"
	Suspect       = "suspect"
	NotJudged     = "not_judged"
	Collector     = "collector"
	NotWatched    = "not_watched"
	Quiet         = "quiet_hours"
	// The next two concern scheduled runs.
	RunSlower  = "run_slower"
	RunOverdue = "run_overdue"
)

// Kind is what all findings of one code have in common.
type Kind struct {
	// Code is stable and machine readable.
	Code     string
	Severity Severity
	// Means says in one sentence what is wrong, for documents.
	Means string
	// Action says in one sentence what to do.
	Action string
	// Alert is the alert that fires for the same condition if it lasts; empty when there
	// is none.
	Alert string
}

// Kinds returns the table of all findings, in the order in which findings of one severity
// are shown. To add a finding, start here.
func Kinds() []Kind {
	return []Kind{
		{Hung, Critical, "The device does not answer: a round has not ended in time.",
			"read the kernel log, and stop using the drive", "SsdprobeProbeStuck"},
		{CannotProbe, Critical, "The target cannot be opened or measured.",
			"fix what the error names, or exclude the target; if a probe file is being filled, wait", "SsdprobeTargetDown"},
		{record.WarnDriveCritical, Critical, "The drive itself reports a critical problem.",
			"follow SsdprobeCriticalWarning in the runbook", "SsdprobeCriticalWarning"},
		{record.WarnSelfTestFailed, Critical, "The drive has failed a self-test, and no later one as thorough has passed. ssdprobe starts none.",
			"check backups; run an extended self-test (nvme device-self-test) when the drive has little to do, and replace the drive if it fails again", "SsdprobeCriticalWarning"},
		{record.WarnCriticallyHot, Critical, "Within the last hour, the drive was above its critical temperature. It may switch itself off.",
			"stop the load on the drive; check airflow, heat sink and fans", "SsdprobeTemperatureAboveLimit"},
		{Regressed, Warning, "A probe is slower than its baseline. Critical while the drive is severe.",
			"undo the change of conditions, or accept the new level with ssdprobe drift accept", "SsdprobeDriveDegraded"},
		{HeldBack, Warning, "A round has not ended in time, but the device has none of its I/O in flight: this machine holds the I/O back.",
			"end what holds it back: a suspended volume, a format or another command that the kernel runs alone, or a limit of the cgroup", "SsdprobeProbeStuck"},
		{IOErrors, Warning, "I/Os have failed since ssdprobe started. Critical while the last round failed, or the drive is severe by its errors. For information only when none has failed for a day.",
			"read the kernel log; replace the drive if its media errors grow, otherwise reseat it", "SsdprobeProbeFailing"},
		{Stalled, Warning, "For two seconds or longer, I/O was in flight and none completed. Critical from 10 seconds on, from three stalls in an hour on, or while the drive is severe by its stalls.",
			"read the kernel log; check the drive's health, cable and slot; replace it if stalls recur", "SsdprobeDriveSevere"},
		{HostSlower, Warning, "Nearly all drives of the node got slower together, so the host is the cause and no drive is blamed.",
			"look for what changed on the host: kernel, CPU frequency, power, temperature, another job", "SsdprobeHostSlower"},
		{BatchSlower, Warning, "Several drives of the node got slower together.",
			"compare what they have in common: model, firmware, controller, slot, volume", "SsdprobeBatchSlower"},
		{TrafficSlower, Warning, "The drive's own traffic takes longer than before for the same work. Critical while the drive is severe.",
			"compare it with the probes of the drive, and with what its applications do now; see docs/drift.md", "SsdprobeDriveDegraded"},
		{Held, Warning, "The drive was slow or failing, recovered, and had trouble again within a week. It is better now, or not judged, and the verdict is held.",
			"treat the drive as slow at times; ssdprobe baseline reset ends the verdict", "SsdprobeDriveDegraded"},
		{SinceChange, Warning, "A change of conditions made a probe at least 1.2 times slower. An hour later its baseline followed, so no verdict blames the drive.",
			"undo the change; if it is intended, accept it with ssdprobe drift accept --change CONDITION", ""},
		{ManyChanges, Warning, "Several changes of conditions, each with an effect below 1.2 times, have together made a probe at least 1.2 times slower than its lifetime reference.",
			"find the conditions that changed with ssdprobe baseline show, and undo them; if the level is intended, accept it with ssdprobe drift accept", ""},
		{RunSlower, Warning, "The last scheduled run of a suite was slower than the runs before it under the same conditions.",
			"look at the loads on the status page; run ssdprobe compare on its reports, and repeat the run while the drive is idle", ""},
		{NotReady, Warning, "The daemon has not looked at every target yet.",
			"wait; if it lasts, ssdprobe ready names what does not answer", ""},
		{Stale, Warning, "There has been no good round for ten intervals.",
			"find out what blocks the rounds: load of others, a busy CPU, or a limit under admission", "SsdprobeNoResults"},
		{Suspect, Warning, "A probe may be slower than its baseline, by statistics of which none is certainly slower.",
			"wait for the verdict; ssdprobe drift explain shows how much evidence there is", ""},
		{NotJudged, Info, "For a day, nobody has known whether the probe is slower than before.",
			"address the reason that ssdprobe drift shows for each statistic", "SsdprobeDriveNotJudged"},
		{RunOverdue, Info, "A scheduled run was due more than two days ago, and was not completed since.",
			"address what kept it back; give it a longer window, or remove it from runs", "SsdprobeRunOverdue"},
		{Collector, Warning, "A source could not be read, so its values are missing.",
			"remove the cause that the error names, such as a missing permission, capability or mount", "SsdprobeCollectorFailing"},
		{NotWatched, Warning, "The configuration selects a drive that this process may not read.",
			"let ssdprobe read the drive, or exclude it with devices.exclude", "SsdprobeNotWatching"},

		{record.WarnMediaErrors, Warning, "Within a day, the drive could not read data or replaced sectors, or it has sectors that it may be unable to read.",
			"check backups; replace the drive if the count grows", "SsdprobeMediaErrorsGrowing"},
		{record.WarnDiesOffline, Warning, "Dies of the drive's media are offline, but no more than it tolerates. Beyond that, the finding is drive_critical.",
			"check backups; plan to replace the drive, at once if more dies follow", "SsdprobeCriticalWarning"},
		{record.WarnThrottling, Warning, "The drive slows down to cool.",
			"check airflow, heat sink and fans", ""},
		{record.WarnHot, Warning, "Within the last hour, the drive was above its warning temperature for five minutes or longer. Or it is now, and does not count for how long.",
			"check airflow, heat sink and fans", "SsdprobeTemperatureAboveLimit"},
		{record.WarnFewSpares, Warning, "The drive has fewer spare blocks left than its own threshold.",
			"plan to replace the drive soon", "SsdprobeSpareBelowThreshold"},
		{record.WarnWorn, Warning, "More than nine tenths of the drive's rated endurance is used.",
			"plan to replace the drive; it may still work for a long time", "SsdprobeDriveWorn"},
		{record.WarnSlowerThanPeers, Warning, "The drive is far slower than the other drives of its model on the node.",
			"compare its use, slot and health with the others: it may have been slow from the first day", "SsdprobeDriveDegraded"},
		{record.WarnSlowerThanSheet, Warning, "The baseline is far slower than the drive's data sheet promises.",
			"check its use, link and health, and the data sheet: it may have been slow from the first day", ""},
		{record.WarnLinkBelowMaximum, Warning, "The PCIe link is slower or narrower than both ends support.",
			"reseat the drive, then check its cable, backplane and slot settings", "SsdprobeLinkBelowMaximum"},
		{record.WarnState, Warning, "The state directory cannot be read or written.",
			"free space in the state directory, or fix its permissions; what was set aside as damaged may be removed", "SsdprobeStateFailing"},
		{record.WarnConfigFile, Warning, "The configuration file was changed but not loaded.",
			"check it with ssdprobe config check; reload it, or restart the daemon where it says so", "SsdprobeConfigurationReloadFailed"},
		{record.WarnNothingWatched, Warning, "There is nothing to watch.",
			"correct devices.include, let ssdprobe open the devices, or configure files", "SsdprobeNotWatching"},
		{record.WarnFallback, Warning, "A file in the state directory is measured, because there is nothing else to measure.",
			"let ssdprobe read a device, or configure files", ""},
		{record.WarnDuplicate, Warning, "A second target or probe has the same name, and its metrics are not exported.",
			"remove one of them from the configuration", ""},
		{record.WarnImpossible, Warning, "The figures exceed what the bus can carry, so something else was measured.",
			"do not trust the figures; look for unwritten blocks, a cache or a wrong clock", ""},
		{record.WarnDepth, Warning, "The device did not have as many I/Os in flight as were asked for.",
			"look at what kept them back: nr_requests, max_sectors_kb, or an engine that does one I/O at a time", ""},
		{record.WarnInterrupts, Warning, "The drive alone interrupts the host more often than all its drives together should.",
			"switch on interrupt coalescing, or use polled queues", ""},
		{record.WarnIOLimited, Warning, "The cgroup limits I/O on the device.",
			"run ssdprobe in a cgroup without I/O limits", ""},
		{record.WarnIOLatency, Info, "No eBPF programs time the I/O of applications.",
			"grant what the error names, or set io_latency to never; everything else works", ""},
		{record.WarnGovernor, Warning, "The CPU governor saves power, which makes every I/O slower.",
			"set the governor to performance to compare drives", ""},
		{record.WarnPoolSmall, Warning, "Too few written blocks are known for a measurement.",
			"wait: each round finds more; on a nearly empty drive, probe a file instead", ""},
		{record.WarnRepeatedBlocks, Warning, "The same blocks are read again within a window, perhaps from the drive's cache.",
			"make the probe file larger", ""},
		{record.WarnLoadBlind, Warning, "The device does not count I/Os, so the load of others is not known.",
			"turn on the statistics of the device: queue/iostats", ""},
		{record.WarnDisturbanceBlind, Warning, "The kernel does not say when a thread waited for a CPU.",
			"use a kernel with schedstat, or distrust single slow rounds", ""},
		{record.WarnThrottleBlind, Warning, "The cgroup does not say when its CPU quota stopped the process.",
			"make cpu.stat readable, or run ssdprobe without a CPU quota", ""},
		{record.WarnIdentity, Warning, "The drive has no stable identity, so a replacement is not noticed.",
			"after you replace the drive, run ssdprobe baseline reset", ""},

		{Quiet, Info, "In the quiet hours of the configuration, nothing is measured.",
			"wait, or change quiet_hours", ""},
		{record.WarnUnwritten, Info, "Most of the namespace was never written.",
			"measure a filled file, or only written blocks as the probes do", ""},
		{record.WarnLargerBlocks, Info, "The probe uses larger blocks, because the logical blocks of the device are larger.",
			"nothing to do; do not compare it with the same probe on drives with smaller blocks", ""},
		{record.WarnSmallFile, Warning, "The probe file is smaller than requested, so the drive's cache may answer.",
			"remove the probe file, and free space if it is short; or ask for a smaller one", ""},
		{record.WarnReadOnly, Info, "The file was not made by ssdprobe, so it is only read.",
			"name a directory; ssdprobe creates a probe file in it", ""},
		{record.WarnRemote, Info, "A network is measured along with the drive.",
			"probe the drive on its own node to measure the drive alone", ""},
		{record.WarnStacked, Info, "The device is made of other devices, which are measured together.",
			"probe the drives themselves to measure them one by one", ""},
		{record.WarnFilesystemUnknown, Info, "The filesystem does not say which device it is on.",
			"use a filesystem on a local drive, so that load, link and firmware are known", ""},
	}
}
