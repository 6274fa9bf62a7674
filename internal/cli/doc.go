// Package cli is the command line: flags become an options struct, and a plain
// function does the work. Only this package knows cobra.
//
// What a command has to say goes to standard output; progress, notes and errors go
// to standard error. The exit code tells how it went: see Exit codes.
package cli
