// Package glob matches the patterns of the configuration.
package glob

import (
	"path"
	"strings"
)

// Match reports whether a shell pattern matches the whole text, as path.Match does. But * and ? match a slash, too:
// models, identities and paths have them. A malformed pattern matches nothing.
func Match(pattern, text string) bool {
	flat := strings.NewReplacer("/", "\x00") // for path.Match, a slash is special
	ok, err := path.Match(flat.Replace(pattern), flat.Replace(text))
	return ok && err == nil
}

// Check returns path.ErrBadPattern if a pattern is malformed.
func Check(pattern string) error {
	_, err := path.Match(pattern, "")
	return err
}
