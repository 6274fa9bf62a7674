// What a user may want to change: what is watched, severities and thresholds.
{
  _config+:: {
    // Labels that select daemons, such as those of one cluster: 'cluster="storage"'. Empty selects all: where one server
    // evaluates the rules for several clusters, nodes are told apart by the label cluster.
    selector: '',
    // The same for kube-state-metrics, and the name of the DaemonSet in its metrics (a regular expression).
    kubeStateMetricsSelector: '',
    daemonSet: '.*ssdprobe.*',

    // Severity of the alerts about a `severe` drive, batch or host. `critical` pages somebody, but the
    // rate of false verdicts in docs/drift.md is not yet low enough for that.
    severeSeverity: 'warning',

    runbookURL: 'https://github.com/ssdprobe/ssdprobe/blob/main/docs/runbook.md#',

    // A drive is compared with the drives of its model on all nodes. Volumes that are virtual, or behind
    // a network, share a model without being alike, so these transports and models are left out.
    unlikeTransports: 'tcp|rdma|fc|loop|virtio|xen',
    unlikeModels: '(Amazon EC2|Amazon Elastic Block|Alibaba Cloud Elastic Block|nvme_card-pd|(Google )?PersistentDisk|(Msft )?Virtual [Dd]isk|VMware Virtual|MSFT NVMe).*',
    // How much slower than the median a drive has to be: by this many standard deviations of its model,
    // and by at least the ratio. Tails (p95, p99) depend more on what else a drive does.
    deviations: 6,
    peerRatio: 1.25,
    peerTailRatio: 1.5,
    // The same ratios for a firmware, compared with the fastest firmware of the model.
    firmwareRatio: 1.15,
    firmwareTailRatio: 1.3,
    // How much a change of conditions has to slow drives, and how many of them.
    changeRatio: 1.15,
    changeTailRatio: 1.3,
    changeDrives: 5,

    // The alert fires if this many rounds of one probe or more fail in half an hour, or in an hour without a good one.
    failedRounds: 3,
    // Far above the timeout of a round (20 s) and of an NVMe command (30 s).
    stuckSeconds: 300,
    noResultsHours: 6,
    // A day, plus the hour in which a drive gets its first baseline.
    notJudgedHours: 25,
    // Longer than the window of most runs.
    runOverdueDays: 2,

    wornRatio: 0.9,
    // Time within the last hour above the drive's own warning temperature.
    hotSeconds: 300,
    // How often a drive may come back within six hours: somebody may add and reseat it.
    returns: 3,
    // Share of remote interrupts, for drives with at least this many interrupts a second.
    remoteInterruptsRatio: 0.5,
    remoteInterruptsFrom: 10,

    // Restarts within an hour: more than an upgrade or a change of configuration takes.
    restarts: 4,

    // What ssdprobe may cost: far above its normal cost (docs/benchmarks.md), so that only a fault exceeds it.
    cpuRatio: 0.05,
    cpuRatioOfTarget: 0.003,
    memoryMiB: 256,
    // The default budget is 1 GiB per target and day. An unused budget may be used at once, so a day may have
    // two. Change this together with admission.write_budget_per_day.
    writtenGiB: 2.1,
  },
}
