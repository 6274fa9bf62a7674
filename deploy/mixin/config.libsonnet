// What a user may want to have otherwise: what is watched, how severe it is, and from where on.
{
  _config+:: {
    // Labels that choose daemons, as those of one cluster: 'cluster="storage"'. Empty chooses all.
    selector: '',
    // The same of kube-state-metrics, and the name of the DaemonSet there, a regular expression.
    kubeStateMetricsSelector: '',
    daemonSet: '.*ssdprobe.*',

    // Severity of a drive, batch or host that is `severe`. `critical` pages somebody: docs/drift.md
    // has the rate of false verdicts, which is not yet that of a page.
    severeSeverity: 'warning',

    runbookURL: 'https://github.com/ssdprobe/ssdprobe/blob/main/docs/runbook.md#',

    // A drive beside the drives of its model on all nodes. Volumes that are virtual, or behind a
    // network, share a model without being alike: transports and models that are left out.
    unlikeTransports: 'tcp|rdma|fc|loop|virtio|xen',
    unlikeModels: '(Amazon EC2|Amazon Elastic Block|Alibaba Cloud Elastic Block|nvme_card-pd|(Google )?PersistentDisk|(Msft )?Virtual [Dd]isk|VMware Virtual|MSFT NVMe).*',
    // How many times slower than the median it has to be: so many standard deviations of its
    // model, and at least the ratio. Tails (p95, p99) depend more on what else a drive does.
    deviations: 6,
    peerRatio: 1.25,
    peerTailRatio: 1.5,
    // The same of a firmware beside the fastest one of the model.
    firmwareRatio: 1.15,
    firmwareTailRatio: 1.3,
    // What a change of conditions has to do, to how many drives.
    changeRatio: 1.15,
    changeTailRatio: 1.3,
    changeDrives: 5,

    // More rounds of one probe than these that fail in half an hour.
    failedRounds: 2,
    // Far above the timeout of a round (20 s) and of an NVMe command (30 s).
    stuckSeconds: 300,
    noResultsHours: 6,
    // A day, and the hour in which an older drive is learned.
    notJudgedHours: 25,
    // Longer than the window of most runs.
    runOverdueDays: 2,

    wornRatio: 0.9,
    // Of the last hour, above the drive's own warning temperature.
    hotSeconds: 300,
    // Of drives with so many interrupts a second or more.
    remoteInterruptsRatio: 0.5,
    remoteInterruptsFrom: 10,

    // What ssdprobe may cost: far above what it takes (docs/benchmarks.md), so that only a fault exceeds it.
    cpuRatio: 0.05,
    cpuRatioOfTarget: 0.003,
    memoryMiB: 256,
    // The default budget is 1 GiB per target and day. What is unused may be used at once, so a day may have
    // two. Goes with admission.write_budget_per_day.
    writtenGiB: 2.1,
  },
}
