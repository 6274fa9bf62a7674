// Package daemon puts the parts together: it finds devices, watches each target, executes the scheduled runs, and
// stops everything in order.
//
// Everything it runs is a task of one group. Each type has one owner, and a lock for what others read from it:
//
//   - Daemon: discovery, which starts and stops the watches.
//   - watch: one target, as discovery saw it last; owned by the goroutine of Run, as are the opener and the rounds.
//   - opener: the descriptor of the target and its probe file, or why there is none.
//   - rounds: the probes of the target, when each is due, and what came of its rounds.
//   - suites: the status of the runs on the target; the calendar and discovery change it.
//   - calendar: executes runs, one at a time. Of a watch, it uses only the suites, the opener, the rest and the access.
//   - access: lets discovery and the watch take turns at one target. Its guard makes sure that a target that hangs
//     blocks one thread and delays no other target.
//   - storage: the state directory, behind a guard.
//   - keeper: the health of the drives.
//   - judging: the judge of the node, to which the watches and the sampler of the traffic bring what they have measured.
//   - flight: the flight recorder and its recordings.
//   - timed: the eBPF programs that time the I/O of applications.
//   - configFile: the configuration file and its reloads.
//   - permits and nodeStatus: what the daemon asks and tells Kubernetes.
//
// Their state is copied into a record.Snapshot on request, which never touches a device.
package daemon
