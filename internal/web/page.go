package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// page is the status page, ready to be filled in.
type page struct {
	template *template.Template
	// policy is the Content-Security-Policy that lets this page have its style
	// and nothing else: no script, no image, no other place.
	policy string
}

// pageStyle is the page's style with that of its plots.
func pageStyle() string { return pageCSS + string(plot.Style()) }

func newPage() *page {
	return &page{
		// Must: the text is part of the program.
		template: template.Must(template.New("page").Funcs(template.FuncMap{"keep": keep}).Parse(pageHTML)),
		policy:   policyOf(pageStyle()),
	}
}

// policyOf is the Content-Security-Policy of a page with this style.
func policyOf(style string) string {
	sum := sha256.Sum256([]byte(style))
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		base64.StdEncoding.EncodeToString(sum[:]))
}

func (p *page) render(s record.Snapshot, explain func(id string) (report.Explained, bool), version string) ([]byte, error) {
	view := newView(s, version)
	view.addPlots(s, explain)
	view.Style = template.CSS(pageStyle()) // part of the program, not of a request
	var b bytes.Buffer
	if err := p.template.Execute(&b, view); err != nil {
		return nil, fmt.Errorf("fill in the status page: %w", err)
	}
	return []byte(printable.Lines(b.String())), nil
}
