// Package document is the model of everything that ssdprobe shows to people: a list of
// blocks, which are notes, facts, tables, plots and sections of such blocks. A document
// is built once, and rendered as text by package text and as a page by package html.
//
// It owns the kinds of blocks, and the rule for shortening a long table. It knows neither
// drives nor terminals nor browsers: every value in a block is already text, and the
// renderers escape it.
//
//	blocks := []document.Block{
//		document.Sentence("All 3 drives are well."),
//		document.Gap{},
//		document.Facts{{Name: "life used", Value: "2.0 %"}},
//	}
//	err := text.Write(os.Stdout, "health", blocks...)
package document
