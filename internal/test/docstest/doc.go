// Package docstest runs the commands of README.md, in a copy of the tree as a clone has
// it, and asks of every other command in docs that a test somewhere runs it, or that the
// document itself says why none does.
//
// A document says so in a paragraph that begins with "No test runs", README.md in one that
// begins with "`make test` runs every command above": commands that begin with one of its
// `words in backquotes` are let off.
package docstest
