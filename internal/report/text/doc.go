// Package text renders documents and the help of commands for terminals. On a terminal, it keeps to the width and colours
// states. Piped text is plain, to be pasted into a ticket: no colours, and sentences wrapped at a fixed width. Single
// words, in particular ids, are never cut. A table row that is too wide continues on the next line.
package text
