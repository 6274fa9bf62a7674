package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ParseConditions reads conditions from pairs like "firmware=GDC5602Q;kernel=6.12".
// Names are those of record.Conditions, and fw is short for firmware. A history may tell
// conditions in other ways: what is no such pair is kept as the engine, the
// condition that says what measured, so that another text is another epoch all the same.
// So is all of a text with a value that its condition cannot have.
func ParseConditions(text string) record.Conditions {
	fields, other := map[string]string{}, []string{}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == ',' }) {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if name == "fw" {
			name = "firmware"
		}
		if ok && isCondition(name) {
			fields[name] = value
		} else {
			other = append(other, strings.TrimSpace(part))
		}
	}
	if len(other) > 0 {
		fields["engine"] = strings.TrimSpace(strings.Join(append(other, fields["engine"]), " "))
	}
	var c record.Conditions
	if err := setConditions(&c, fields); err != nil {
		return record.Conditions{Engine: text}
	}
	return c
}

// setConditions sets conditions to texts by their names, as their JSON form allows.
func setConditions(c *record.Conditions, texts map[string]string) error {
	data, err := json.Marshal(texts)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, c)
}

func isCondition(name string) bool {
	return slices.ContainsFunc(record.Conditions{}.List(), func(c record.Condition) bool { return c.Name == name })
}
