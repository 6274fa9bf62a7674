// Package check says in one word and one line whether the drives of a node are fine, for programs that act on it: Nagios,
// node-problem-detector, Slurm. It is pure: a Result is made of what the daemon says, or of what it stored last.
//
// What is not known to be good is not healthy: a daemon that is gone, a state that is old, a drive that is not judged.
//
//	r := check.Of(snapshot, nil)
//	fmt.Println(check.Text.Line(r))
//	os.Exit(check.Text.Code(r))
package check
