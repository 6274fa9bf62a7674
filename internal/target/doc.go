// Package target opens what probes read and write, always bypassing the page cache, and
// refuses what is unsafe or would measure something else.
//
// There are three kinds of targets. A Device is a raw block device; it is opened
// read-only and has no method that writes. A File is a probe file: this package makes it,
// fills it with incompressible data and recognises it again, so it may be rewritten. An
// Existing is any other file; it is only read. Nothing here ever writes to a file that it
// did not make.
//
//	f, err := target.PrepareFile(ctx, "/srv/data", target.FileOptions{SizeBytes: 1 << 30})
//	if err != nil { … }
//	defer f.Close()
package target
