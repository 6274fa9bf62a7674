// Package replay runs recorded histories of probe rounds through the comparison
// that the daemon runs (package drift), so that a user can see what it would have
// said and tune it on the own past.
//
// It reads histories as CSV (see Reader) or from Prometheus' HTTP API (see
// Prometheus), one round after the other and never as a whole, and writes what
// happened as lines of JSON or as a text with a small plot. It decides nothing itself.
//
//	history, err := replay.NewReader(file)
//	…
//	report, err := replay.Run(ctx, history, drift.Default(), nil)
//	…
//	err = report.Text(os.Stdout)
package replay
