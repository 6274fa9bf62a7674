// Package finding decides what a person should know about a node: what is wrong, how bad
// it is, since when, the evidence, and what to do. Its only input is a record.Snapshot,
// so the status page, the commands, the API and the metrics show the same list.
//
//	for _, f := range finding.Of(snapshot) {
//		fmt.Println(f.Severity, f.Path, f, f.Action)
//	}
//
// To add a finding, start with a row in the table in kinds.go.
package finding
