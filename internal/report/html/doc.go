// Package html renders documents as one page that holds all it needs: it is readable
// without a network and without scripts, light, dark and printed. Long tables are cut in
// the middle, with a word about it, so that the page stays small.
package html
