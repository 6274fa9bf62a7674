// Package daemon puts the parts together: it finds devices, keeps a watch on each,
// serves what they see, and stops all of it in order.
//
// Everything it runs is a task of one group. A watch owns one target: its
// descriptor, its probes, their trackers and its part of the state directory; it
// shares nothing with other watches but the engine and the slots that keep rounds
// of one node apart. Discovery and a watch reach the target in turns, by an access with
// one guard, so that a target that hangs takes one thread and holds up no other. What a watch knows is copied into a record.Snapshot when
// somebody asks; asking never touches a device.
package daemon
