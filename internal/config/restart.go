package config

import (
	"fmt"
	"slices"
)

// atStart is what the daemon takes when it starts. A reload cannot change it; all other
// keys it takes at once.
type atStart struct{ field }

// RestartNeeded returns the keys that have another value after and that a running daemon
// cannot take.
func RestartNeeded(before, after Config) []string {
	var keys []string
	now := after.form().taken("")
	for i, then := range before.form().taken("") {
		if then.value != now[i].value {
			keys = append(keys, then.key)
		}
	}
	return keys
}

// value is that of a key, as text.
type value struct{ key, value string }

// taken are the values of a section that are taken at the start.
func (s section) taken(name string) []value {
	var all []value
	for _, e := range s {
		key := join(name, e.key)
		switch f := e.field.(type) {
		case atStart:
			all = append(all, value{key, fmt.Sprint(plain(f.write(none)))})
		case section:
			all = slices.Concat(all, f.taken(key))
		}
	}
	return all
}
