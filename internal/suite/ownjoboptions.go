package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// within are the options of fio 3.28 and later whose effect stays within the target and fio's own process. Of all others,
// some run commands, open, write or remove other files, or change the host, and new versions bring more: what is not
// named here is refused.
func within() []string {
	return strings.Fields(`
		name description
		rw readwrite rw_sequencer bs blocksize ba blockalign bsrange blocksize_range bssplit bs_unaligned blocksize_unaligned
		size offset fileoffset offset_increment io_size io_limit number_ios loops
		randrepeat randseed allrandrepeat norandommap random_generator random_distribution percentage_random
		ioengine iodepth iodepth_low iodepth_batch iodepth_batch_submit iodepth_batch_complete iodepth_batch_complete_min
		iodepth_batch_complete_max io_submit_mode serialize_overlap
		hipri hipri_percentage fixedbufs registerfiles sqthread_poll sqthread_poll_cpu nonvectored uncached nowait force_async
		userspace_reap cmdprio cmdprio_class cmdprio_percentage cmdprio_bssplit thp
		direct buffered atomic sync fsync fdatasync sync_file_range end_fsync fsync_on_close write_barrier write_hint
		overwrite invalidate pre_read fadvise_hint fallocate allow_file_create
		rwmixread rwmixwrite
		rate rate_min rate_iops rate_iops_min rate_process rate_cycle rate_ignore_thinktime
		thinktime thinktime_spin thinktime_blocks thinktime_blocks_type thinktime_iotime
		max_latency latency_target latency_window latency_percentile latency_run
		runtime timeout time_based ramp_time startdelay clocksource
		numjobs thread stonewall wait_for_previous wait_for new_group group_reporting exitall exit_what exitall_on_error
		flow flow_id flow_sleep steadystate steadystate_duration steadystate_ramp_time
		cpumask cpus_allowed cpus_allowed_policy numa_cpu_nodes numa_mem_policy nice prio prioclass lockmem
		mem iomem hugepage-size
		zero_buffers refill_buffers scramble_buffers buffer_pattern buffer_compress_percentage buffer_compress_chunk
		dedupe_percentage dedupe_mode dedupe_working_set_percentage dedupe_global
		verify do_verify verify_only verify_interval verify_offset verify_pattern verify_fatal verify_async verify_backlog
		verify_backlog_batch
		ignore_error continue_on_error error_dump
		stats disk_util lat_percentiles clat_percentiles slat_percentiles percentile_list significant_figures
		block_error_percentiles unified_rw_reporting gtod_reduce gtod_cpu
		disable_lat disable_clat disable_slat disable_bw_measurement kb_base unit_base`)
}

// localEngines do I/O on the files that they are given, and nothing else.
func localEngines() []string {
	return []string{"sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "io_uring", "mmap"}
}

// leadsBeyond says why a section may reach beyond its target, in one phrase for each option.
func leadsBeyond(o fio.Options) []string {
	var reasons []string
	if o.IOEngine != "" && !slices.Contains(localEngines(), o.IOEngine) {
		reasons = append(reasons, fmt.Sprintf("ioengine=%s: use one of %s", o.IOEngine, strings.Join(localEngines(), ", ")))
	}
	for _, x := range o.Extra {
		switch {
		case x.Key == "filename": // the caller has a better word for it
		case !slices.Contains(within(), x.Key):
			reasons = append(reasons, x.Key+": not known to stay within the target")
		case namesFile(x):
			reasons = append(reasons, fmt.Sprintf("%s=%s: it leads beyond the target", x.Key, x.Value))
		}
	}
	return reasons
}

// namesFile tells values that are the paths of files: memory that is mapped from one, which fio truncates, and patterns
// that are read from one.
func namesFile(x fio.Option) bool {
	switch x.Key {
	case "mem", "iomem":
		return strings.ContainsAny(x.Value, ":/$")
	case "buffer_pattern", "verify_pattern":
		return strings.ContainsAny(x.Value, "'$")
	}
	return false
}
