package state

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/store"
)

// A change of the form of a stored value takes a new version: write the step, add it to steps, and keep
// a state directory of the version before as testdata/version-N.txtar.

// steps returns what brings values of version 1 to 2, of 2 to 3, and so on. A step changes the decoded JSON of a
// value of some kind; numbers are json.Number, so that none loses a digit.
func steps() []func(kind string, value any) any {
	return []func(string, any) any{fromVersion1}
}

func schema() store.Schema { return store.Schema{Version: len(steps()) + 1, Migrate: migrate} }

// migrate brings data of a kind from an earlier version to the current one.
func migrate(kind string, version int, data json.RawMessage) (json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	for _, step := range steps()[version-1:] {
		value = step(kind, value)
	}
	return json.Marshal(value)
}

// fromVersion1 is for what was written before the schema had a version: names that the detector had then. The
// conditions of that version are texts, which record.Conditions reads itself: reports that users keep have them too.
func fromVersion1(_ string, value any) any {
	visit(value, func(object map[string]any) {
		for was, is := range map[string]string{
			"sureness": "maturity", "inertia": "autocorrelation_factor", "slow_inertia": "slow_autocorrelation_factor",
			"back_height": "back_threshold",
		} {
			if v, found := object[was]; found {
				delete(object, was)
				object[is] = v
			}
		}
		if object["maturity"] == "young" {
			object["maturity"] = "early"
		}
	})
	return value
}

// visit calls change with each object in a value, inner ones last.
func visit(value any, change func(object map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		change(v)
		for _, inner := range v {
			visit(inner, change)
		}
	case []any:
		for _, inner := range v {
			visit(inner, change)
		}
	}
}
