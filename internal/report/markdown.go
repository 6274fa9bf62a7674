package report

import (
	"io"

	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/markdown"
)

// Markdown writes runs as tables for a ticket or a mail, with the conditions and all
// warnings. It leaves out plots and job files.
func Markdown(w io.Writer, documents ...Document) error {
	pages := make([]document.Page, len(documents))
	for i, d := range documents {
		pages[i] = runPage(d)
	}
	return markdown.Write(w, pages...)
}
