package document

import (
	"html/template"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
)

// Block is a part of a document: a Note, Facts, a Table, a Plot, Warnings, a Section, Code or a
// Gap.
type Block any

// Note is a sentence or a list.
type Note struct {
	// Label precedes the text, with its punctuation: "not watched: ". Further lines are indented
	// by its width.
	Label string
	Text  string
	// Items follow Text, separated by commas. Lines break only between items, so that an id or a
	// path stays whole.
	Items []string
	Tone  Tone
}

// Tone is how good or bad something is; empty when it is neither.
type Tone string

// The tones.
const (
	Bad  Tone = "bad"
	Good Tone = "good"
)

// Sentence returns a note without a label.
func Sentence(text string) Note { return Note{Text: text} }

// List returns a note of items.
func List(label string, items ...string) Note { return Note{Label: label, Items: items} }

// Gap is an empty line in text output.
type Gap struct{}

// Warnings are shown with their codes.
type Warnings []record.Warning

// Facts is a list of names with their values.
type Facts []Fact

// Fact is a name with its value: "temperature", "38 °C".
type Fact struct {
	Name, Value string
	// More continues the value where there is room: "; the drive warns from 74 °C".
	More string
	// Detail marks a fact that is left out where only the main ones are wanted.
	Detail bool
}

// Known returns the facts that have a value.
func (f Facts) Known() Facts {
	return slices.DeleteFunc(slices.Clone(f), func(fact Fact) bool { return fact.Value == "" })
}

// Main returns the facts that have a value and are not details.
func (f Facts) Main() Facts {
	return slices.DeleteFunc(f.Known(), func(fact Fact) bool { return fact.Detail })
}

// Section is a group of blocks under a title.
type Section struct {
	// ID is the target of links within a page; it may be empty.
	ID string
	// Title may be empty; the blocks are then only indented.
	Title string
	// Lead sums up the section in one sentence.
	Lead string
	// Minor says that Lead does not answer the reader's first question.
	Minor bool
	// Answer comes before Blocks. It goes with Lead where a reader gets only the answer.
	Answer []Block
	Blocks []Block
	// Indent is the indentation of the blocks in columns of text; 0 means two.
	Indent int
	// Folded hides the blocks of a page until the reader opens them.
	Folded bool
}

// Code is text whose lines are kept as they are.
type Code string

// Drawing is a diagram that can be drawn for the width of a screen and for that of a phone.
type Drawing interface {
	SVG() template.HTML
	Narrow() template.HTML
}

// Plot is a drawing with the information needed to read it.
type Plot struct {
	Drawing Drawing
	Caption string
	// Warnings are the warnings about the values in the drawing.
	Warnings Warnings
	// Small is the most informative part of the drawing, for a terminal; nil when there is none.
	Small *plot.Small
}

// Page is a document with a head, for a reader who opens it on its own.
type Page struct {
	Title string
	About []string
	// Lead sums up the page, and Points the other results of its sections.
	Lead     string
	Points   []Point
	Doubt    string // why the page is less trustworthy
	Warnings Warnings
	Sections []Section
	Foot     string
}

// Point is a sentence that links to a section.
type Point struct{ Section, Text string }
