// Package markdown renders a document as Markdown with tables, for tickets and mails.
//
// It is read in many dialects, so it keeps to headings, lists, and tables with pipes. What
// has no form there is left out: drawings and folded parts. Every text is escaped.
package markdown
