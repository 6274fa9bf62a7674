// Package text renders documents for terminals, and the help of commands. On one, it keeps to its width and has colours for states. Text that is
// piped is plain, to be pasted into a ticket: no colours, and sentences wrapped at a fixed width. Single words, ids above
// all, are never cut; a row of a table that is too wide goes on in the next line.
package text
