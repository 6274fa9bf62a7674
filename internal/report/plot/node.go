package plot

import (
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/printable"
)

// node is an element of a drawing. Texts and attributes are escaped when it is written,
// so there is no way to write an unescaped one.
type node struct {
	name     string
	attrs    []string // name, value, name, value …
	text     string
	children []*node
}

func (n *node) add(name string, attrs ...string) *node {
	child := &node{name: name, attrs: attrs}
	n.children = append(n.children, child)
	return child
}

// label adds a text at a position; anchor is start, middle or end.
func (n *node) label(x, y float64, anchor, class, text string) *node {
	t := n.add("text", "x", px(x), "y", px(y), "class", class)
	if anchor != "start" {
		t.attrs = append(t.attrs, "text-anchor", anchor)
	}
	t.text = text
	return t
}

func (n *node) line(x1, y1, x2, y2 float64, class string) {
	n.add("path", "class", class, "d", "M"+px(x1)+" "+px(y1)+"L"+px(x2)+" "+px(y2))
}

func (n *node) rect(x, y, width, height float64, class string) *node {
	return n.add("rect", "x", px(x), "y", px(y), "width", px(width), "height", px(height), "class", class)
}

// note adds a text that is shown when the reader points at the element.
func (n *node) note(text string) {
	if text != "" {
		n.add("title").text = text
	}
}

func (n *node) write(b *strings.Builder) {
	b.WriteString("<" + n.name)
	for i := 0; i+1 < len(n.attrs); i += 2 {
		b.WriteString(" " + n.attrs[i] + `="` + escaped(n.attrs[i+1]) + `"`)
	}
	if n.text == "" && len(n.children) == 0 {
		b.WriteString("/>")
		return
	}
	b.WriteString(">" + escaped(n.text))
	for _, c := range n.children {
		c.write(b)
	}
	b.WriteString("</" + n.name + ">")
}

// escaped also replaces characters that no page may contain.
func escaped(s string) string { return html.EscapeString(printable.Text(s)) }

func (n *node) html() template.HTML {
	var b strings.Builder
	n.write(&b)
	return template.HTML(b.String()) // all of it was escaped above
}

// canvas returns an empty drawing.
func canvas(title string, width, height float64) *node {
	class := "plot"
	if width == narrow {
		class += " narrow"
	}
	return &node{name: "svg", attrs: []string{
		"class", class, "viewBox", fmt.Sprintf("0 0 %s %s", px(width), px(height)), "role", "img", "aria-label", title,
	}}
}

// px formats a coordinate, to a tenth of a pixel.
func px(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}

// textWidth estimates the width of a text in pixels. It is used only to reserve room,
// because the reader's font is not known.
func textWidth(s string) float64 { return 6.3 * float64(len([]rune(s))) }

// cut shortens a text to about a width in pixels.
func cut(s string, room float64) string {
	most := max(1, int(room/6.3))
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
