// Package judge judges the drives of a node together. It compares each drive with its own past and with its peers,
// under the work that it does. It says which drive is slow, or that a batch of drives or the host is slow, since
// when, by how much, and which witnesses say so.
//
//   - Each drive has a drift.Tracker for each probe and one for its own traffic. They know its past.
//   - The host's part is the median of what the other drives did at the same time. It is taken off before a drive is
//     judged (source.go), and it is judged itself (host.go): when nearly all drives are slower, the host is blamed and
//     no drive is (together.go).
//   - A drive that is far slower than others of its model and size is found by its level, from its first hours on
//     (level.go): by its probes, and by its traffic where the work is alike (likework.go).
//   - Probes and traffic are two witnesses (witness.go). Their evidence makes one verdict for each drive (verdict.go). It takes
//     more for severe (severe.go). Stalls and errors are witnesses, too (trouble.go).
//   - A verdict that comes and goes is one finding (recurrence.go).
//
// The package is pure: no clock, no files, no logging. The daemon and the replay of histories use it in the same way.
//
//	n := judge.NewNode(drift.Default())
//	n.AddDrive(judge.Drive{ID: "eui.1", Model: "X", SizeBytes: 1 << 40})
//	n.Round("eui.1", "read-4k", round, conditions)
//	for _, event := range n.Advance(now) { … }
package judge
