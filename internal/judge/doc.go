// Package judge judges the drives of a node together: beside each other, and by the work that
// they do. It says which drive is slow, or that a batch of them or the host is, since when, by
// how much, and who says so.
//
//   - Each drive has a drift.Tracker for each probe and one for its own traffic: its past.
//   - What most other drives did at the same time is the host's part; it is taken off what a
//     drive is judged by (source.go), and judged by itself (host.go): when most drives are
//     slower, the host is, and no drive is blamed (together.go).
//   - A drive far slower than others of its model and size is found by its level, from its first
//     hours on (level.go): by its probes, and by its traffic where the work is alike (likework.go).
//   - Probes and traffic are witnesses; what they say makes one verdict for each drive
//     (verdict.go).
//
// It is pure: no clock, no files, no logging. The daemon and the replay of histories feed it alike.
//
//	n := judge.NewNode(drift.Default())
//	n.AddDrive(judge.Drive{ID: "eui.1", Model: "X", SizeBytes: 1 << 40})
//	n.Round("eui.1", "read-4k", round, conditions)
//	for _, event := range n.Advance(now) { … }
package judge
