package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ParseConditions parses conditions from pairs like "firmware=GDC5602Q;kernel=6.12".
// Names are those of record.Conditions; fw is short for firmware. A history may state
// conditions in other ways. Text that is not such a pair is kept as the engine, the
// condition that says what measured, so that a different text still starts a different
// epoch. The whole text is kept as the engine when a condition cannot have its value.
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

// setConditions sets conditions from texts by their names, by way of their JSON form.
func setConditions(c *record.Conditions, texts map[string]string) error {
	data, err := json.Marshal(texts)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, c)
}

func isCondition(name string) bool {
	return slices.Contains(record.ConditionNames(), name)
}
