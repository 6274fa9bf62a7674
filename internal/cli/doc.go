// Package cli is the command line: flags are parsed into an options struct, and a plain function does the work.
// Only this package uses cobra.
//
// Results go to standard output; progress, notes and errors go to standard error. The exit code tells the
// result: see Exit codes.
package cli
