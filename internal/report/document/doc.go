// Package document is the model of everything that ssdprobe shows to people: a list of
// blocks, which are notes, facts, tables, plots and sections of such blocks. A document
// is built once, and rendered as text by package text, as a page by package html, and as
// Markdown by package markdown.
//
// It owns the kinds of blocks, and the rule for shortening a long table. It decides nothing
// about drives, and does not know how wide a terminal is. Values are text, which the renderers
// escape. Only warnings, and the drawings of plots, are not text yet.
//
//	blocks := []document.Block{
//		document.Sentence("All 3 drives are well."),
//		document.Gap{},
//		document.Facts{{Name: "life used", Value: "2.0 %"}},
//	}
//	err := text.Write(os.Stdout, "health", blocks...)
package document
