// Package config turns the configuration file into a validated Config.
//
// It owns the file's keys, their defaults, units and limits, and the text forms
// of sizes, durations and ratios that the command line uses too. The file form is
// one table of keys with their help and limits (form.go). From it the file is read,
// checked and written, and two files are made by `make golden`: deploy/ssdprobe.yaml,
// and the schema in the values.schema.json of the Helm chart. The validated form is
// Config.
//
// It refuses rather than guesses: unknown and repeated keys, values without a
// clear unit, anchors and aliases, more than one document, combinations that
// cannot work. All problems are reported at once, each with its line and with
// what would be valid. It reads no file but the one named and asks nothing of the
// machine: an empty node, state_dir or lock_dir is for the caller to fill in.
//
//	source, err := config.Read("/etc/ssdprobe/ssdprobe.yaml") // its filesystem may hang
//	c, err := source.Parse()
//	var problems config.Problems
//	if errors.As(err, &problems) { … }
package config
