// Package html renders documents as one self-contained page. It is readable without a
// network and without scripts, in light and dark mode and in print. Long tables are cut
// in the middle, with a note that says so, to keep the page small.
package html
