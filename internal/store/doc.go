// Package store keeps values across restarts: one directory, with one human-readable
// JSON file per value.
//
// A new file is written beside the old one and synced. It then replaces the old one by
// a rename, and the directory is synced. After a crash at any moment, either the old or
// the new value is complete. A file carries its format, its version and a checksum of
// its data. A damaged file is renamed and reported; a file of a newer version is left
// unchanged and never overwritten.
//
// A value of an earlier version is migrated by the caller's Schema when it is read.
//
//	s, err := store.Open("/var/lib/ssdprobe", schema)
//	err = s.Save("targets", id, state)
//	found, err := s.Load("targets", id, &state)
//
// A directory or a file that another user could have changed is refused, see MakeDir.
//
// This package does not know what the values mean.
package store
