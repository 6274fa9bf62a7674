// Package finding decides what a person should know of a node: what is wrong, how bad it
// is, since when, the evidence, and what to do. It reads a record.Snapshot and nothing
// else, so the status page, the commands, the API and the metrics show one list.
//
//	for _, f := range finding.Of(snapshot) {
//		fmt.Println(f.Severity, f.Path, f, f.Action)
//	}
//
// A new finding begins as a row of the table in kinds.go.
package finding
