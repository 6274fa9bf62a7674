package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

// commentedHead is the beginning of the commented file.
const commentedHead = `# Configuration of ssdprobe. All values in here are the defaults: a file needs only
# the keys that differ, and an empty file is valid.
#
#   ssdprobe config check FILE    says what is wrong, with lines
#   ssdprobe config show          prints the configuration in force, defaults included
#   ssdprobe config schema        prints the JSON schema, for editors
#   kill -HUP                     makes the daemon read it again; a bad file is refused and the old one stays
#
# Sizes:     4096, 4KiB, 1GiB (powers of 1024), 1GB (powers of 1000).
# Durations: 500ms, 30s, 5m, 1h30m, 7d.
# Ratios:    0.8 or 80%.
`

// commentWidth is the width of comment lines, without their indentation.
const commentWidth = 80

// commentedFile returns the default configuration in the form of the file, with the meaning and limits of each key as
// comments.
func commentedFile() (string, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	keys := config.Keys()
	for _, k := range keys {
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: k.Name}, k.Default)
	}
	if err := comment(root, keys, false); err != nil {
		return "", err
	}
	text, err := laidOut(root)
	return commentedHead + "\n" + text, err
}

// comment adds a comment to each key of a section: behind the value in an item of a list, otherwise in lines of its
// own.
func comment(values *yaml.Node, keys []config.Key, inItem bool) error {
	for pair := range slices.Chunk(values.Content, 2) {
		key, value := pair[0], pair[1]
		k := keys[slices.IndexFunc(keys, func(k config.Key) bool { return k.Name == key.Value })]
		switch {
		case !inItem:
			key.HeadComment, value.LineComment = wrapped(k.Help), k.Valid
		case value.Kind == yaml.ScalarNode:
			value.LineComment = k.Description()
		default: // the encoder would move the comment of a list to the next key
			key.LineComment = k.Description()
		}
		if k.Example != nil && !inItem && len(value.Content) == 0 {
			example, err := indented(k)
			if err != nil {
				return err
			}
			key.HeadComment += example
		}
		if err := commentInside(value, k, inItem); err != nil {
			return err
		}
	}
	return nil
}

// commentInside does the same inside the value of a key. In a list, it only comments on the first item; the comments
// hold for the others too.
func commentInside(value *yaml.Node, k config.Key, inItem bool) error {
	switch {
	case len(k.Keys) == 0 || len(value.Content) == 0:
		return nil
	case k.IsList:
		return comment(value.Content[0], k.Keys, true)
	default:
		return comment(value, k.Keys, inItem)
	}
}

// indented returns the example of a list as part of a comment.
func indented(k config.Key) (string, error) {
	if err := commentInside(k.Example, k, false); err != nil {
		return "", err
	}
	text, err := laidOut(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: k.Name}, k.Example}})
	return "#\n#   " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n#   ") + "\n", err
}

// laidOut formats the file: an empty line before comments that have lines of their own, and one column for the
// comments behind the values of a list.
func laidOut(values *yaml.Node) (string, error) {
	text, err := config.Encode(values)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	before := ":"
	for line := range strings.Lines(string(text)) {
		code := strings.TrimSpace(line)
		isComment := strings.HasPrefix(code, "#")
		if isComment && !strings.HasPrefix(before, "#") && !strings.HasSuffix(before, ":") {
			line = "\n" + line
		} else if !isComment {
			line = strings.Replace(line, " # ", "\t# ", 1)
		}
		if _, err := io.WriteString(w, line); err != nil {
			return "", fmt.Errorf("lay out the configuration: %w", err)
		}
		before = code
	}
	if err := w.Flush(); err != nil {
		return "", fmt.Errorf("lay out the configuration: %w", err)
	}
	return b.String(), nil
}

// wrapped wraps paragraphs, one per line of help, at the width of comments.
func wrapped(help string) string {
	var b strings.Builder
	for paragraph := range strings.Lines(help) {
		line := "#"
		for word := range strings.FieldsSeq(paragraph) {
			if line != "#" && utf8.RuneCountInString(line+" "+word) > commentWidth {
				b.WriteString(line + "\n")
				line = "#"
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
