package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// allowed is a group of fio options that a job file may use.
type allowed struct {
	// why a job needs them, and why they affect only the target and fio's own process.
	why     string
	options string // full names, separated by spaces; each alias is listed, and fio accepts no abbreviations
}

// within returns the options that a user's job file may use. Others run commands, open, write or remove other files,
// pin memory or change the host, and new versions of fio add more. An option that is not listed here is therefore
// refused. A new option needs a reason here and a review of docs/security.md.
func within() []allowed {
	return []allowed{
		{"labels of a job, for the report", "name description"},
		{"what is done to the target: bind gives the file, and refuses what does not fit it",
			"rw readwrite rw_sequencer bs blocksize ba blockalign bsrange blocksize_range bssplit bs_unaligned blocksize_unaligned " +
				"size offset fileoffset offset_increment io_size io_limit number_ios loops overwrite allow_file_create"},
		{"the order of offsets: the map of blocks done takes a bit for each, in fio's own memory",
			"randrepeat randseed allrandrepeat norandommap random_generator random_distribution percentage_random"},
		{"one of the engines below and how many I/Os it keeps in flight; their buffers are fio's own memory",
			"ioengine iodepth iodepth_low iodepth_batch iodepth_batch_submit iodepth_batch_complete iodepth_batch_complete_min " +
				"iodepth_batch_complete_max io_submit_mode serialize_overlap"},
		{"what is measured of engines: polling, buffers and files registered with a ring, priority of single commands; for as long as fio lives",
			"hipri hipri_percentage fixedbufs registerfiles sqthread_poll sqthread_poll_cpu nowait force_async " +
				"cmdprio cmdprio_class cmdprio_percentage cmdprio_bssplit"},
		{"past or through the page cache, and when writes have to be on the drive: of the target alone",
			"direct buffered atomic sync fsync fdatasync sync_file_range end_fsync fsync_on_close write_barrier invalidate fadvise_hint"},
		{"shares of reads and writes", "rwmixread rwmixwrite"},
		{"how fast I/Os come, and when a latency is too long",
			"rate rate_min rate_iops rate_iops_min rate_process rate_cycle rate_ignore_thinktime " +
				"thinktime thinktime_spin thinktime_blocks thinktime_blocks_type thinktime_iotime " +
				"max_latency latency_target latency_window latency_percentile latency_run"},
		{"how long, and when it is steady", "runtime timeout time_based ramp_time startdelay steadystate steadystate_duration steadystate_ramp_time"},
		{"how many jobs, in which order; thread is always 1, so that none outlives fio",
			"numjobs thread stonewall wait_for_previous wait_for new_group group_reporting exitall exit_what exitall_on_error flow flow_id flow_sleep"},
		{"which CPUs and what priority fio's own threads have",
			"cpumask cpus_allowed cpus_allowed_policy numa_cpu_nodes numa_mem_policy nice prio prioclass"},
		{"what is written: drives that compress or deduplicate; no pattern may come from a file",
			"zero_buffers refill_buffers scramble_buffers buffer_pattern buffer_compress_percentage buffer_compress_chunk dedupe_percentage"},
		{"whether what is read is what was written; what was verified is never saved",
			"verify do_verify verify_only verify_interval verify_offset verify_pattern verify_fatal verify_async verify_backlog verify_backlog_batch"},
		{"going on after errors", "ignore_error continue_on_error"},
		{"what fio reports, to ssdprobe alone",
			"stats disk_util lat_percentiles clat_percentiles slat_percentiles percentile_list significant_figures " +
				"unified_rw_reporting gtod_reduce disable_lat disable_clat disable_slat disable_bw_measurement kb_base unit_base"},
	}
}

// isWithin reports whether a job file may use the option with this name.
func isWithin(key string) bool {
	return slices.ContainsFunc(within(), func(a allowed) bool { return slices.Contains(strings.Fields(a.options), key) })
}

// localEngines returns the I/O engines that only access the given files.
func localEngines() []string {
	return []string{"sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "io_uring", "mmap"}
}

// leadsBeyond returns why a section may reach beyond its target, one phrase for each option.
func leadsBeyond(o fio.Options) []string {
	var reasons []string
	if o.IOEngine != "" && !slices.Contains(localEngines(), o.IOEngine) {
		reasons = append(reasons, fmt.Sprintf("ioengine=%s: use one of %s", o.IOEngine, strings.Join(localEngines(), ", ")))
	}
	texts := []fio.Option{{Key: "rw", Value: string(o.RW)}, {Key: "cpus_allowed", Value: o.CPUsAllowed}}
	for _, x := range append(texts, o.Extra...) {
		switch {
		case x.Key == "filename": // the caller reports this one better
		case !isWithin(x.Key):
			reasons = append(reasons, x.Key+": not known to stay within the target")
		case strings.Contains(x.Value, "$"): // fio replaces variables from the environment, and evaluates expressions with a shell
			reasons = append(reasons, fmt.Sprintf("%s=%s: variables are not replaced; write the value itself", x.Key, x.Value))
		case namesFile(x):
			reasons = append(reasons, fmt.Sprintf("%s=%s: it reaches beyond the target", x.Key, x.Value))
		}
	}
	return reasons
}

// namesFile reports whether x is a pattern that is read from a file.
func namesFile(x fio.Option) bool {
	return (x.Key == "buffer_pattern" || x.Key == "verify_pattern") && strings.Contains(x.Value, "'")
}
