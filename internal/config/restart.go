package config

import (
	"fmt"
	"slices"
)

// atStart is what the daemon takes when it starts. A reload cannot change it; all other
// keys it takes at once.
type atStart struct{ field }

func (f atStart) about() about {
	a := f.field.about()
	a.atStart = true
	return a
}

// RestartNeeded returns the keys that have another value after and that a running daemon
// cannot take.
func RestartNeeded(before, after Config) []string { return before.form().changed(after.form(), "") }

func (s section) changed(after section, name string) []string {
	var keys []string
	for i, e := range s {
		key := join(name, e.key)
		switch then := e.field.(type) {
		case atStart:
			if fmt.Sprint(plain(then.write())) != fmt.Sprint(plain(after[i].field.write())) {
				keys = append(keys, key)
			}
		case section:
			keys = slices.Concat(keys, then.changed(after[i].field.(section), key))
		}
	}
	return keys
}
