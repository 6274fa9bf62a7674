package export

import (
	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// nodeFamilies returns the families about the whole node.
func nodeFamilies(build Build) []family[record.Snapshot] {
	return append(append(recorderFamilies(), missedFamily(), unreportedFamily()),
		metric("ssdprobe_build_info", gauge, []string{"version", "revision", "goversion", "engine"},
			"Version of ssdprobe, as labels. Always 1. engine is the version of the code that measures. It changes when an update changes what is measured. Only drives with the same engine can be compared.",
			func(_ record.Snapshot, emit emit) {
				emit(1, build.Version, build.Revision, build.GoVersion, build.Engine)
			}),
		single("ssdprobe_config_file_changed", gauge,
			"1 if the configuration file differs from the configuration in force: it was edited and not loaded, or it was refused. Else 0. Absent without a configuration file, or when it cannot be read.",
			func(s record.Snapshot) (float64, bool) { return flag(s.ConfigChanged) }),
		metric("ssdprobe_device_returns_total", counter, []string{"id"},
			"Number of times that a watched device came back after it had left the machine, since ssdprobe started, however short it was away. Those between two looks for devices "+
				"(discovery_interval) count once. It has no label device, as a device may come back under another name. Absent for probe files.",
			func(s record.Snapshot, emit emit) {
				for _, t := range s.Targets {
					if !t.File && t.ID != "" {
						emit(float64(t.Returns), t.ID)
					}
				}
			}),
		single("ssdprobe_fallback_file_used", gauge,
			"1 if ssdprobe measures a probe file in its state directory, because there is no device to watch and files is empty. Else 0. fallback_file: false in the configuration turns this off. Absent until the first search for devices ends.",
			func(s record.Snapshot) (float64, bool) { return flag(s.FallbackUsed) }),
		metric("ssdprobe_finding", gauge, []string{"device", "id", "probe", "code", "severity"},
			"A problem that ssdprobe found. Always 1; absent without a problem. docs/metrics.md lists the codes. severity is info, warning or critical. "+
				"probe is empty if the finding concerns the whole target; device and id are empty if it concerns the node. Several findings with the same labels share one series.",
			func(s record.Snapshot, emit emit) {
				for _, f := range finding.Of(s) {
					emit(1, f.Device, f.TargetID, f.Probe, f.Code, f.Severity.String())
				}
			}),
		metric("ssdprobe_probe_interval_seconds", gauge, []string{"probe"},
			"Mean time from round to round of a probe, in seconds, by the configuration. The same on all targets. Absent for a probe that runs on none.",
			func(s record.Snapshot, emit emit) {
				seen := map[string]bool{}
				for _, t := range s.Targets {
					for _, p := range t.Probes {
						if !seen[p.Probe.Name] {
							seen[p.Probe.Name] = true
							emit(p.Probe.Interval.Seconds(), p.Probe.Name)
						}
					}
				}
			}),
		single("ssdprobe_quiet", gauge, "1 during the quiet_hours of the configuration, when no probe and no scheduled run starts. Else 0.",
			func(s record.Snapshot) (float64, bool) { return boolean(!s.QuietUntil.IsZero()), true }),
	)
}
