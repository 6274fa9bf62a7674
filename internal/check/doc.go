// Package check summarizes in one word and one line whether the drives of a node are fine, for programs that act on it:
// Nagios, node-problem-detector, Slurm. It is pure: a Result is built from what the daemon reports, or from the state
// that it stored last.
//
// Whatever is not known to be good is not healthy: a missing daemon, an old state, a drive that is not judged.
//
//	r := check.Of(snapshot, nil)
//	fmt.Println(check.Text.Line(r))
//	os.Exit(check.Text.Code(r))
package check
