function(config) {
  name: 'ssdprobe-devices',
  rules: [
    // What a device is, once per target, to join with its other series:
    //   … * on (job, instance, device, id) group_left (model, firmware) device:ssdprobe_device_info:unique
    // topk takes one if there are two at once, for example while a pod is replaced: a
    // join that finds two fails for the whole fleet.
    {
      record: 'device:ssdprobe_device_info:unique',
      expr: 'topk by (job, instance, device, id) (1, ssdprobe_device_info{%(selector)s})' % config,
    },

    // The trained bandwidth of a link, as a share of what both ends support. A probe file
    // has the link of the device below it.
    {
      record: 'device:ssdprobe_pcie_link:ratio',
      expr: |||
        max by (job, instance, device, id) (
            ssdprobe_pcie_link_speed_transfers_per_second{state="current"}
          / ignoring (state) ssdprobe_pcie_link_speed_transfers_per_second{state="max"}
          * ignoring (state) ssdprobe_pcie_link_width_lanes{state="current"}
          / ignoring (state) ssdprobe_pcie_link_width_lanes{state="max"}
        )
        * on (job, instance, device, id) group_left (model, firmware, kind) device:ssdprobe_device_info:unique
      |||,
    },

    // The same with the labels that compared drives must share: size in bytes (empty if
    // unknown) and engine (empty for builds that do not export it). Engine versions measure
    // differently: if they were compared, an upgrade of half a fleet would make the
    // other half look slow.
    {
      record: 'device:ssdprobe_device_info:comparable',
      expr: |||
        max by (job, instance, device, id, model, firmware, transport, kind, size, engine) (
          device:ssdprobe_device_info:unique{model!=""}
          * on (job, instance, device, id) group_left (size) (
              count_values by (job, instance, device, id) ("size", max by (job, instance, device, id) (ssdprobe_device_size_bytes))
            or on (job, instance, device, id)
              device:ssdprobe_device_info:unique
          )
          * on (job, instance) group_left (engine) (
              topk by (job, instance) (1, ssdprobe_build_info)
            or on (job, instance)
              max by (job, instance) (device:ssdprobe_device_info:unique)
          )
        )
      |||,
    },
  ],
}
