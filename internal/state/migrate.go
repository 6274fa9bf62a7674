package state

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/store"
)

// To change the form of a stored value, take a new version: write the step, add it to steps, and keep a state
// directory of the previous version as testdata/version-N.txtar.

// steps returns the functions that migrate values from version 1 to 2, from 2 to 3, and so on. A step changes the
// decoded JSON of a value of any kind; numbers are json.Number, so that no digit is lost.
func steps() []func(kind string, value any) any {
	return []func(string, any) any{fromVersion1}
}

func schema() store.Schema { return store.Schema{Version: len(steps()) + 1, Migrate: migrate} }

// migrate converts data of a kind from an earlier version to the current one.
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

// fromVersion1 migrates values written before the schema had a version: it renames what the detector has renamed
// since. It leaves the conditions, which were texts then: record.Conditions still reads those, because reports that
// users keep contain them too.
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

// visit calls change for each object in a value, outer objects first.
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
