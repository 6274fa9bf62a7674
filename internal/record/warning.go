package record

// Warning says why a number may be wrong. It travels with the number to every
// place where the number is shown.
type Warning struct {
	// Code is stable and machine readable, one of the constants below.
	Code string `json:"code"`
	// Text is one sentence for people: what was seen. What to do about it is in the table of
	// package finding, by the code.
	Text string `json:"text"`
}

// The warnings of this tree.
const (
	WarnUnmapped          = "unmapped"           // blocks never written were read
	WarnPoolSmall         = "pool_small"         // too few written blocks found to measure with
	WarnRepeatedBlocks    = "repeated_blocks"    // the same blocks were read again within a window
	WarnLargerBlocks      = "larger_blocks"      // the device's logical blocks are larger than those of the probe
	WarnDisturbed         = "disturbed"          // the measuring thread did not get its CPU
	WarnIOLimited         = "io_limited"         // the cgroup limits I/O on the device
	WarnOthersActive      = "others_active"      // others used the device during the measurement
	WarnGovernor          = "governor"           // the CPU governor saves power
	WarnLinkBelowMaximum  = "link_below_maximum" // the PCIe link runs below what both ends can do
	WarnIdentity          = "identity"           // no stable identity: the name may change over a restart
	WarnRemote            = "remote"             // a network is measured along with the drive
	WarnStacked           = "stacked"            // a device made of other devices
	WarnFewSamples        = "few_samples"        // too few rounds to be sure
	WarnConditionsDiffer  = "conditions_differ"  // compared across different conditions
	WarnConditionsUnknown = "conditions_unknown" // not all conditions are known
	WarnCPUBound          = "cpu_bound"          // the CPUs were the limit, not the device
	WarnShort             = "short"              // stopped before the end
	WarnFilesystemUnknown = "filesystem_unknown" // the device below a file is not known
	WarnErrors            = "errors"             // some I/Os failed
	WarnLoadBlind         = "load_blind"         // the device does not count I/Os, so the load of others is not known
	WarnDisturbanceBlind  = "disturbance_blind"  // this kernel does not say when a thread waited for a CPU
	WarnThrottleBlind     = "throttle_blind"     // the cgroup does not say when its CPU quota stopped the process
	WarnState             = "state"              // the state directory cannot be read or written
	WarnReadOnly          = "read_only"          // the target is only read, so write probes do not run
	WarnDuplicate         = "duplicate"          // a second target or probe has the same name and is not exported
	WarnImpossible        = "impossible"         // beyond what the bus can carry: something else was measured
	WarnUnwritten         = "unwritten"          // most of the namespace was never written
	WarnThrottling        = "throttling"         // the drive slows down to cool
	WarnHot               = "hot"                // the drive is often above its warning temperature
	WarnCriticallyHot     = "critically_hot"     // the drive was above its critical temperature
	WarnFewSpares         = "few_spares"         // fewer spare blocks are left than the drive's threshold
	WarnWorn              = "worn"               // the drive is nearly worn out
	WarnMediaErrors       = "media_errors"       // the drive could not read data, or may not be able to
	WarnSmallFile         = "small_file"         // the probe file is smaller than was asked for
	WarnFallback          = "fallback_file"      // a file in the state directory is measured, as nothing else may be
	WarnNothingWatched    = "nothing_watched"    // there is nothing to watch
	WarnConfigFile        = "config_file"        // the configuration file holds something else than what is in force
	WarnDriveCritical     = "drive_critical"     // the drive itself reports a critical problem
	WarnMethod            = "method"             // measured otherwise than the figures are meant to be
	WarnDepth             = "depth"              // the device did not have as many I/Os in flight as were asked for
	WarnInterrupts        = "interrupts"         // the device interrupts the host too often
	WarnIOLatency         = "io_latency"         // the latency of applications' I/O cannot be seen

	// WarnSlowerThanPeers: for hours the drive has been far slower than the other drives of its model
	// on the node.
	WarnSlowerThanPeers = "slower_than_peers"
	// WarnSlowerThanSheet: the baseline of the drive is far slower than its data sheet says.
	WarnSlowerThanSheet = "slower_than_data_sheet"
)
