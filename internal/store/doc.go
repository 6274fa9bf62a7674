// Package store keeps values over restarts: one directory, one JSON file per
// value, which a person can read.
//
// A file is written beside its place, synced, renamed and its directory synced,
// so that after a crash at any moment the old or the new value is there whole. It
// carries its format, a version and a checksum of its data. A damaged file is set
// aside under another name and reported; a file of a newer version is left as it
// is and never overwritten.
//
// A value of an earlier version is migrated by the caller's Schema when it is read.
//
//	s, err := store.Open("/var/lib/ssdprobe", schema)
//	err = s.Save("targets", id, state)
//	found, err := s.Load("targets", id, &state)
//
// A directory or a file that another user could have changed is refused, see MakeDir.
//
// What the values mean is not known here.
package store
