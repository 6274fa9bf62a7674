// Package verdicts judges the judge: it runs scenarios of package drifttest through the code
// that the daemon and `ssdprobe drift replay` run, and compares the verdicts with what
// happened.
package verdicts
