package document

import (
	"html/template"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
)

// Block is a part of what is shown: a Note, Facts, a Table, a Plot, Warnings, a Section
// or a Gap.
type Block any

// Note is a sentence or a list.
type Note struct {
	// Label stands before it, with its punctuation: "not watched: ". Further lines of
	// text hang below what follows it.
	Label string
	Text  string
	// Items are written after Text, separated by commas. Lines break only between them,
	// so that an id or a path stays whole.
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

// Sentence is a note without a label.
func Sentence(text string) Note { return Note{Text: text} }

// List is a note of items.
func List(label string, items ...string) Note { return Note{Label: label, Items: items} }

// Gap is an empty line of text.
type Gap struct{}

// Warnings are shown with their codes.
type Warnings []record.Warning

// Facts are names with their values.
type Facts []Fact

// Fact is a name with its value: "temperature", "38 °C".
type Fact struct {
	Name, Value string
	// More goes on after the value where there is room: "; the drive warns from 74 °C".
	More string
	// Detail is a fact that is left out where a reader wants the main ones alone.
	Detail bool
}

// Known are the facts that have a value.
func (f Facts) Known() Facts {
	return slices.DeleteFunc(slices.Clone(f), func(fact Fact) bool { return fact.Value == "" })
}

// Main are the facts that are no details.
func (f Facts) Main() Facts {
	return slices.DeleteFunc(f.Known(), func(fact Fact) bool { return fact.Detail })
}

// Section is blocks under a title.
type Section struct {
	// ID is what links of a page lead to; it may be empty.
	ID string
	// Title may be empty: then the blocks are only indented.
	Title string
	// Lead says in one sentence what the section comes to.
	Lead string
	// Minor says that Lead does not answer what the reader asked for first.
	Minor bool
	// Answer comes before Blocks, and goes with Lead where a reader gets no more than the answer.
	Answer []Block
	Blocks []Block
	// Indent is that of the blocks in columns of text; 0 for two.
	Indent int
	// Folded has the reader of a page ask for the blocks.
	Folded bool
}

// Code is text whose lines stay as they are.
type Code string

// Drawing is drawn as wide as a screen, and as wide as a phone.
type Drawing interface {
	SVG() template.HTML
	Narrow() template.HTML
}

// Plot is a drawing, and what has to be known about it.
type Plot struct {
	Drawing Drawing
	Caption string
	// Warnings are those of the values in it.
	Warnings Warnings
	// Small is the most telling part of it for a terminal; nil when there is none.
	Small *plot.Small
}

// Page is a document with a head, for a reader who opens it alone.
type Page struct {
	Title string
	About []string
	// Lead is what it comes to, Points what else its sections say.
	Lead     string
	Points   []Point
	Doubt    string // what makes it less trustworthy
	Warnings Warnings
	Sections []Section
	Foot     string
}

// Point is a sentence that leads to a section.
type Point struct{ Section, Text string }
