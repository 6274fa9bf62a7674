// Package replay runs recorded histories of probe rounds through the comparison that the
// daemon uses (package drift). A user can see what the daemon would have reported and
// tune it on past data.
//
// It reads histories as CSV (see Reader) or from Prometheus' HTTP API (see Prometheus),
// one round after the other and never as a whole. It writes what happened as lines of
// JSON or as text with a small plot. It decides nothing itself.
//
//	history, err := replay.NewReader("nvme0n1.csv", file)
//	…
//	report, err := replay.Run(ctx, "nvme0n1", history, drift.Default(), nil)
//	…
//	err = report.Text(os.Stdout)
package replay
