// Drives that come back. A group of its own, because a return is recorded once: it is what was not there one
// evaluation ago.
function(config) {
  name: 'ssdprobe-returns',
  interval: '1m',
  rules: [
    // Not what a daemon finds when it starts, nor after a time in which it was not scraped. Virtual volumes and those
    // behind a network come and go with what uses them.
    {
      record: 'device:ssdprobe_device_info:returned',
      expr: |||
        max by (cluster, job, instance, id, model) (
          ssdprobe_device_info{kind!="file",transport!~"%(unlikeTransports)s",model!~"%(unlikeModels)s",%(selector)s}
          unless on (cluster, job, instance, id) ssdprobe_device_info offset 1m
          and on (cluster, job, instance) ssdprobe_build_info offset 1m
          and on (cluster, job, instance) time() - process_start_time_seconds > 600
        )
      ||| % config,
    },
  ],
}
