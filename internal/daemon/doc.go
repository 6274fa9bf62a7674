// Package daemon puts the parts together: it finds devices, watches each target,
// executes the runs of the calendar, and stops all of it in order.
//
// Everything it runs is a task of one group. Each type has one owner, and a lock for what others see of it:
//
//   - Daemon: discovery, which starts and stops the watches.
//   - watch: one target, its descriptor and its rounds; owned by the goroutine of Run.
//   - suites: what is known of the runs on one target; the calendar and discovery change it.
//   - calendar: executes runs, one at a time; it touches of a watch its suites, its rest and its access alone.
//   - access: the turns of discovery and watch at one target. It has one guard, so that a target that hangs takes one
//     thread and holds up no other.
//   - storage: the state directory, behind a guard.
//   - keeper: the health of the drives.
//
// What they know is copied into a record.Snapshot when somebody asks; asking never touches a device.
package daemon
