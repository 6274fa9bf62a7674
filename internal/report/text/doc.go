// Package text renders documents for terminals. Text is plain, so it can be piped and
// pasted into a ticket: no colours, and sentences wrapped at a fixed width. Tables and
// single words, ids above all, are never cut.
package text
