// Package markdown renders a document as Markdown with tables, for tickets and mails.
//
// Dialects of Markdown differ, so it uses only headings, lists, and tables with pipes. It
// leaves out what has no such form: drawings and folded parts. Every text is escaped.
package markdown
