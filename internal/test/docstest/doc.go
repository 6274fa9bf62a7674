// Package docstest runs the commands of README.md in a copy of the tree as a clone has it.
// For every other command in docs it requires that a test somewhere runs it, or that the
// document itself says why none does.
//
// A document does that in a paragraph that begins with "No test runs", README.md in one
// that begins with "`make test` runs every command above". Commands that begin with one of
// the `words in backquotes` of that paragraph are exempt.
package docstest
