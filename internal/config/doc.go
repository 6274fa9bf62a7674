// Package config turns the configuration file into a validated Config.
//
// It owns the keys of the file, their units and limits, and the text forms of sizes,
// durations and ratios, which the command line uses too. Values go into the types of the
// packages that use them (drift.Settings, admit.Limits, device.Rule), which also have
// their defaults.
//
// The form (form.go) is one table of keys with their limits and help. The file is read,
// checked and written by it. `make generate` makes deploy/ssdprobe.yaml, the schema of the
// chart's values and docs/configuration.md from it (Keys, Schema). The file of `ssdprobe run --spec` has a form of its own, which
// drift.data_sheets shares (sheet.go).
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
