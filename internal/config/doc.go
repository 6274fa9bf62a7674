// Package config turns the configuration file into a validated Config.
//
// It owns the keys of the file, their units and limits, and the text forms of sizes, durations and ratios, which the
// command line uses too. Values are stored in the types of the packages that use them (drift.Settings, admit.Limits,
// device.Rule). These packages define the defaults of theirs; Default (config.go) has all others.
//
// The form (form.go) is a table of all keys with their limits and help. It is used to read, check and write the file.
// `make generate` makes deploy/ssdprobe.yaml, the schema of the chart's values and docs/configuration.md from it
// (Keys, Schema). The file of `ssdprobe run --spec` has its own form, which drift.data_sheets shares (sheet.go).
//
// The package rejects input rather than guessing: unknown and repeated keys, values without a clear unit, anchors and
// aliases, more than one document, and combinations that cannot work. It reports all problems at once, each with its
// line and what would be valid. It reads no file except the one named, and does not examine the machine: the caller
// fills in an empty node, state_dir or lock_dir.
//
//	source, err := config.Read("/etc/ssdprobe/ssdprobe.yaml") // its filesystem may hang
//	c, err := source.Parse()
//	var problems config.Problems
//	if errors.As(err, &problems) { … }
package config
