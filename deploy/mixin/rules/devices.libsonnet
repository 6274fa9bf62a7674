function(config) {
  name: 'ssdprobe-devices',
  rules: [
    // What a device is, once per target, to join with its other series:
    //   … * on (cluster, job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
    // topk takes one if there are two at once, for example while a pod is replaced: a
    // join that finds two fails for the whole fleet.
    {
      record: 'device:ssdprobe_device_info:unique',
      expr: 'topk by (cluster, job, instance, device, id) (1, ssdprobe_device_info{%(selector)s})' % config,
    },

    // The trained bandwidth of a link, as a share of what both ends support. A probe file
    // has the link of the device below it.
    {
      record: 'device:ssdprobe_pcie_link:ratio',
      expr: |||
        max by (cluster, job, instance, device, id) (
            ssdprobe_pcie_link_speed_transfers_per_second{state="current"}
          / ignoring (state) ssdprobe_pcie_link_speed_transfers_per_second{state="max"}
          * ignoring (state) ssdprobe_pcie_link_width_lanes{state="current"}
          / ignoring (state) ssdprobe_pcie_link_width_lanes{state="max"}
        )
        * on (cluster, job, instance, device, id) group_left (model, firmware, kind) device:ssdprobe_device_info:unique
      |||,
    },

    // The warnings of drives: 1 for one that was set when the drive last answered. A drive that sleeps or no longer
    // answers has not taken it back, so the value stays as long as the drive is there and health is not switched
    // off, also over a day in which nothing is scraped. Once it is taken back, by any controller of the drive, it is 0. SATA and
    // SAS drives have one verdict on themselves. While its reason is heat, it tells of nothing else: heat is no critical warning,
    // and takes none back. Nor is a rated endurance that is used: SsdprobeDriveWorn tells that. Drives that never warned have no series.
    {
      record: 'controller:ssdprobe_critical_warning:last',
      expr: |||
        max by (cluster, job, instance, device, id, controller, condition) (ssdprobe_nvme_critical_warning{condition!~"temperature|rated_endurance"} == 1)
        or
        label_replace(1 + max by (cluster, job, instance, device, id) (ssdprobe_drive_smart_passed == 0 unless on (cluster, job, instance, device, id) ssdprobe_drive_too_hot == 1), "condition", "self_assessment", "", "")
        or
        0 * (
            last_over_time(controller:ssdprobe_critical_warning:last[1d])
          and on (cluster, job, instance, device, id, condition) (
              ssdprobe_nvme_critical_warning
            or
              label_replace(ssdprobe_drive_smart_passed unless on (cluster, job, instance, device, id) ssdprobe_drive_too_hot == 1, "condition", "self_assessment", "", "")
          )
        )
        or
        last_over_time(controller:ssdprobe_critical_warning:last[1d])
        and on (cluster, job, instance, device, id) device:ssdprobe_device_info:unique
        and on (cluster, job, instance) ssdprobe_collector_success{collector="health"}
      |||,
    },

    // What the media of a drive have lost, whatever the kernel calls the drive and however often the daemon was replaced: both
    // begin new series. Recorded, because the lowest of a day is asked for, which a subquery would compute anew each time.
    {
      record: 'drive:ssdprobe_media_errors:max',
      expr: |||
        max by (cluster, job, instance, id, count) (
          label_replace({__name__=~"ssdprobe_(nvme_media_errors_total|drive_(uncorrectable|pending|reallocated)_sectors)"}, "count", "$1", "__name__", "(.+)")
        )
      |||,
    },

    // What a device is, with the labels that compared drives must share: size in bytes (empty if
    // unknown) and engine (empty for builds that do not export it). Engine versions measure
    // differently: if they were compared, an upgrade of half a fleet would make the
    // other half look slow.
    {
      record: 'device:ssdprobe_device_info:comparable',
      expr: |||
        max by (cluster, job, instance, device, id, model, firmware, transport, kind, size, engine) (
          device:ssdprobe_device_info:unique{model!=""}
          * on (cluster, job, instance, device, id) group_left (size) (
              count_values by (cluster, job, instance, device, id) ("size", max by (cluster, job, instance, device, id) (ssdprobe_device_size_bytes))
            or on (cluster, job, instance, device, id)
              device:ssdprobe_device_info:unique
          )
          * on (cluster, job, instance) group_left (engine) (
              topk by (cluster, job, instance) (1, ssdprobe_build_info)
            or on (cluster, job, instance)
              max by (cluster, job, instance) (device:ssdprobe_device_info:unique)
          )
        )
      |||,
    },
  ],
}
