package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

const (
	defaultFile  = "deploy/ssdprobe.yaml"
	valuesSchema = "deploy/helm/ssdprobe/values.schema.json"
	keysDocument = "docs/configuration.md"
)

// configuration makes the files that depend on the form of package config: the default file, the definition of the
// configuration in the schema of the chart's values, and the tables of keys.
func configuration(root fs.FS) (map[string]string, error) {
	standard, err := commentedFile()
	if err != nil {
		return nil, err
	}
	schema, err := schemaOfValues(root)
	if err != nil {
		return nil, err
	}
	document, err := byHand(root, keysDocument, "<!-- What follows is made by `make generate` from internal/config. -->\n\n")
	if err != nil {
		return nil, err
	}
	keys, err := reference()
	return map[string]string{defaultFile: standard, valuesSchema: schema, keysDocument: document + keys}, err
}

// schemaOfValues returns the schema of the chart's values. It is written by hand up to the definition of the
// configuration.
func schemaOfValues(root fs.FS) (string, error) {
	schema, err := config.Schema()
	if err != nil {
		return "", err
	}
	const title = `  "title": "Configuration of ssdprobe",`
	_, members, found := strings.Cut(string(schema), title)
	if !found {
		return "", fmt.Errorf("the schema of the configuration has no %s", title)
	}
	values, err := byHand(root, valuesSchema, `    "configuration": `)
	if err != nil {
		return "", err
	}
	var made bytes.Buffer
	made.WriteString(values)
	if err := json.Indent(&made, []byte(`{"$comment": "Made from internal/config by make generate.",`+members), "    ", "  "); err != nil {
		return "", fmt.Errorf("%s: %w", valuesSchema, err)
	}
	return strings.TrimSpace(made.String()) + "\n  }\n}\n", nil
}

// byHand returns the part of a file that is written by hand, including the marker that ends it.
func byHand(root fs.FS, name, marker string) (string, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return "", err
	}
	written, _, found := strings.Cut(string(text), marker)
	if !found {
		return "", fmt.Errorf("%s: %q is missing, behind which it is made", name, marker)
	}
	return written + marker, nil
}
