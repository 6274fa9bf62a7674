package cli

import (
	"fmt"
	"slices"
	"strings"
)

// choice is a flag whose value is one of a few words.
type choice[T ~string] struct {
	to *T
	of []T
}

func (c choice[T]) String() string {
	if c.to == nil { // pflag creates it like this to learn the zero value
		return ""
	}
	return string(*c.to)
}

// Type returns the name of the value in the help.
func (c choice[T]) Type() string { return strings.Join(texts(c.of), "|") }

// Set sets the flag from its argument.
func (c choice[T]) Set(v string) error {
	if !slices.Contains(c.of, T(v)) {
		return fmt.Errorf("want %s", oneOf(c.of))
	}
	*c.to = T(v)
	return nil
}

// oneOf joins two or more words with commas and "or".
func oneOf[T ~string](words []T) string {
	last := len(words) - 1
	return strings.Join(texts(words[:last]), ", ") + " or " + string(words[last])
}

func texts[T ~string](words []T) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return all
}
