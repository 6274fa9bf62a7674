package config

import (
	"fmt"
	"slices"
)

// atStart is a field that the daemon reads only when it starts. A reload can change all other keys, but not these.
type atStart struct{ field }

func (f atStart) about() about {
	a := f.field.about()
	a.atStart = true
	return a
}

// RestartNeeded returns the changed keys that a running daemon cannot apply.
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
