package record

// Warning says why a number may be wrong. It accompanies the number wherever the number is shown.
type Warning struct {
	// Code is one of the constants below. It is stable and machine-readable.
	Code string `json:"code"`
	// Text is one sentence for people that says what was observed. Package finding has a table, by code, of what to
	// do about it.
	Text string `json:"text"`
}

// The codes of all warnings.
const (
	WarnUnmapped          = "unmapped"           // blocks were read that were never written
	WarnPoolSmall         = "pool_small"         // too few written blocks were found to measure with
	WarnRepeatedBlocks    = "repeated_blocks"    // the same blocks were read again within a window
	WarnLargerBlocks      = "larger_blocks"      // the device's logical blocks are larger than those of the probe
	WarnDisturbed         = "disturbed"          // the measuring thread had to wait for its CPU
	WarnIOLimited         = "io_limited"         // the cgroup limits I/O on the device
	WarnOthersActive      = "others_active"      // others used the device during the measurement
	WarnGovernor          = "governor"           // the CPU governor saves power
	WarnLinkBelowMaximum  = "link_below_maximum" // the PCIe link runs below what both ends can do
	WarnIdentity          = "identity"           // no stable identity, so the name may change over a restart
	WarnRemote            = "remote"             // a network is measured along with the drive
	WarnStacked           = "stacked"            // the device is built on other devices
	WarnFewSamples        = "few_samples"        // there are too few rounds to be sure
	WarnConditionsDiffer  = "conditions_differ"  // runs were compared under different conditions
	WarnConditionsUnknown = "conditions_unknown" // not all conditions are known
	WarnCPUBound          = "cpu_bound"          // the CPUs were the limit, not the device
	WarnShort             = "short"              // the run stopped before its end
	WarnFilesystemUnknown = "filesystem_unknown" // the device below a file is not known
	WarnErrors            = "errors"             // some I/Os failed
	WarnLoadBlind         = "load_blind"         // the device does not count I/Os, so the load of others is not known
	WarnDisturbanceBlind  = "disturbance_blind"  // this kernel does not report when a thread waited for a CPU
	WarnThrottleBlind     = "throttle_blind"     // the cgroup does not report when its CPU quota stopped the process
	WarnState             = "state"              // the state directory cannot be read or written
	WarnReadOnly          = "read_only"          // the target is only read, so write probes do not run
	WarnDuplicate         = "duplicate"          // a second target or probe has the same name and is not exported
	WarnImpossible        = "impossible"         // the figures exceed what the bus can carry, so something else was measured
	WarnUnwritten         = "unwritten"          // most of the namespace was never written
	WarnThrottling        = "throttling"         // the drive slows down to cool
	WarnHot               = "hot"                // the drive is often above its warning temperature
	WarnCriticallyHot     = "critically_hot"     // the drive was above its critical temperature
	WarnFewSpares         = "few_spares"         // fewer spare blocks are left than the drive's threshold requires
	WarnWorn              = "worn"               // the drive is nearly worn out
	WarnMediaErrors       = "media_errors"       // the drive could not read data, or may not be able to
	WarnSelfTestFailed    = "self_test_failed"   // the drive has failed its own test
	WarnDiesOffline       = "dies_offline"       // dies of the media are offline, no more than the drive tolerates
	WarnSmallFile         = "small_file"         // the probe file is smaller than requested
	WarnFallback          = "fallback_file"      // a file in the state directory is measured, because nothing else may be
	WarnNothingWatched    = "nothing_watched"    // there is nothing to watch
	WarnConfigFile        = "config_file"        // the configuration file differs from the configuration in force
	WarnDriveCritical     = "drive_critical"     // the drive itself reports a critical problem
	WarnMethod            = "method"             // the figures were not measured by the intended method
	WarnDepth             = "depth"              // the device had fewer I/Os in flight than requested
	WarnBrief             = "brief"              // the step was too short for the clock of fio
	WarnInterrupts        = "interrupts"         // the device interrupts the host too often
	WarnIOLatency         = "io_latency"         // the latency of applications' I/O cannot be measured

	// WarnSlowerThanPeers: the drive has been far slower for hours than the other drives of its model on the node.
	WarnSlowerThanPeers = "slower_than_peers"
	// WarnSlowerThanSheet: the baseline of the drive is far slower than its data sheet promises.
	WarnSlowerThanSheet = "slower_than_data_sheet"
)
