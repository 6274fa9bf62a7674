package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/url"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
)

//go:embed *.html
var pageHTML embed.FS

//go:embed page.css
var pageCSS string

// pageScript refreshes the page in place. Without it, the page reloads itself completely.
//
//go:embed page.js
var pageScript string

// pages holds the templates of the status page and of a target's page.
type pages struct {
	templates *template.Template
	// policy is the Content-Security-Policy that allows a page its own style and script, and to fetch itself. It
	// allows no images and no other origins.
	policy string
}

// pageStyle returns the style of the pages and their plots.
func pageStyle() string { return pageCSS + string(plot.Style()) }

func newPages() *pages {
	return &pages{
		// Must is safe, because the text is part of the program.
		templates: template.Must(template.New("").Funcs(template.FuncMap{"keep": keep, "escape": escape}).ParseFS(pageHTML, "*.html")),
		policy:    policyOf(pageStyle()) + "; script-src '" + hashOf(pageScript) + "'; connect-src 'self'",
	}
}

// policyOf returns the Content-Security-Policy of a page with this style and no script.
func policyOf(style string) string {
	return fmt.Sprintf("default-src 'none'; style-src '%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", hashOf(style))
}

// hashOf returns the hash by which a policy identifies a text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// escape makes the id of a target part of a URL path.
func escape(id string) string { return (&url.URL{Path: id}).EscapedPath() }

// render fills in the template with this name.
func (p *pages) render(name string, view any) ([]byte, error) {
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, name, view); err != nil {
		return nil, fmt.Errorf("fill in %s: %w", name, err)
	}
	return []byte(printable.Lines(b.String())), nil
}
