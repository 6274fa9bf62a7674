package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
)

// Conditions are everything that can change the speed of a device for a known reason. Two measurements may be
// compared when their conditions are equal (==). The zero value of a field means that the machine does not report it.
//
// Adding a field here is enough for a condition to be stored, compared and shown; package device or health reads it. The
// type of the field holds the value, its String method returns the text for people (parseCondition reads it), and its tags
// are:
//
//   - json: the name in stored values, the API and the metrics;
//   - title: the name for people, where it is not the json name without underscores;
//   - from:"drive": only the drive knows it, so the last value is kept while the drive does not answer.
type Conditions struct {
	Model        string           `json:"model,omitzero"`
	Firmware     string           `json:"firmware,omitzero"`
	Transport    string           `json:"transport,omitzero"`
	Format       BlockFormat      `json:"format,omitzero"`
	PCIeLink     LinkRate         `json:"pcie_link,omitzero" title:"PCIe link"`
	ASPM         ASPM             `json:"aspm,omitzero" title:"ASPM"`
	NUMANode     Number           `json:"numa_node,omitzero" title:"NUMA node"`
	Scheduler    string           `json:"scheduler,omitzero"`
	NrRequests   Number           `json:"nr_requests,omitzero" title:"nr_requests"` // the kernel's own term
	WriteCache   string           `json:"write_cache,omitzero"`                     // what the kernel assumes, in the kernel's words
	DriveCache   Each[string]     `json:"drive_cache,omitzero" from:"drive"`        // the drive's own setting: On, Off
	Coalescing   Each[Coalescing] `json:"coalescing,omitzero" from:"drive"`         // of interrupts
	PowerState   Each[PowerState] `json:"power_state,omitzero" from:"drive"`
	Polling      Polling          `json:"polling,omitzero"`
	Governor     string           `json:"governor,omitzero"`
	Kernel       string           `json:"kernel,omitzero"`
	Stack        string           `json:"stack,omitzero"` // "lvm vg-root on eui.…-part2" when devices are stacked
	Filesystem   string           `json:"filesystem,omitzero"`
	MountOptions string           `json:"mount_options,omitzero"`
	Engine       string           `json:"engine,omitzero"` // what measures: "ssdprobe-1", "fio-3.33 libaio"
}

// Condition is one field of Conditions as text.
type Condition struct {
	Name  string `json:"name"`
	Value string `json:"value"` // empty when the machine does not report it
}

// ConditionNames returns the names of all conditions, in declared order.
func ConditionNames() []string {
	var names []string
	for _, c := range (Conditions{}).List() {
		names = append(names, c.Name)
	}
	return names
}

// Change is one condition that differs between two Conditions.
type Change struct {
	Condition string `json:"condition"`
	From      string `json:"from"`
	To        string `json:"to"`
}

// String returns text such as "firmware A → B".
func (c Change) String() string {
	return fmt.Sprintf("%s %s → %s", ConditionTitle(c.Condition), cmp.Or(c.From, "unknown"), cmp.Or(c.To, "unknown"))
}

// ChangeTexts writes each change: "firmware A → B", "scheduler none → bfq".
func ChangeTexts(changes []Change) []string {
	texts := make([]string, len(changes))
	for i, c := range changes {
		texts[i] = c.String()
	}
	return texts
}

// ChangedWith says which conditions changed when something began: "changed with it: firmware A → B and scheduler none →
// bfq". It is empty when none did.
func ChangedWith(changes []Change) string {
	if len(changes) == 0 {
		return ""
	}
	return "changed with it: " + strings.Join(slices.Compact(ChangeTexts(changes)), " and ")
}

// ConditionTitle returns the title of the condition with this name, such as "PCIe link".
func ConditionTitle(name string) string {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Conditions]()) {
		if title := f.Tag.Get("title"); title != "" && nameOf(f) == name {
			return title
		}
	}
	return strings.ReplaceAll(name, "_", " ")
}

func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// fields returns every condition, in declared order, with its field of c.
func (c *Conditions) fields() iter.Seq2[reflect.StructField, reflect.Value] {
	return reflect.ValueOf(c).Elem().Fields()
}

// List returns all conditions in declared order, including unknown ones. The names are those of the JSON form.
func (c Conditions) List() []Condition {
	var list []Condition
	for f, v := range c.fields() {
		list = append(list, Condition{Name: nameOf(f), Value: fmt.Sprint(v.Interface())})
	}
	return list
}

// Changes returns the differences between c and later, in declared order.
func (c Conditions) Changes(later Conditions) []Change {
	var changes []Change
	after := reflect.ValueOf(later)
	for f, v := range c.fields() {
		if to := after.FieldByIndex(f.Index).Interface(); v.Interface() != to {
			changes = append(changes, Change{Condition: nameOf(f), From: fmt.Sprint(v.Interface()), To: fmt.Sprint(to)})
		}
	}
	return changes
}

// Extended reports whether later agrees with everything that c knows. A condition that becomes known is not a change.
func (c Conditions) Extended(later Conditions) bool {
	return !slices.ContainsFunc(c.Changes(later), func(ch Change) bool { return ch.From != "" })
}

// Remember returns c, with those unknown conditions that only the drive can report filled in from before. A drive
// that does not answer therefore causes no change of conditions.
func (c Conditions) Remember(before Conditions) Conditions {
	old := reflect.ValueOf(before)
	for f, v := range c.fields() {
		if f.Tag.Get("from") == "drive" && v.IsZero() {
			v.Set(old.FieldByIndex(f.Index))
		}
	}
	return c
}

// UnmarshalJSON also accepts conditions as text, the form in which version 1 stored all of them.
func (c *Conditions) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for f, v := range c.fields() {
		raw, found := fields[nameOf(f)]
		if !found {
			continue
		}
		var text string
		var err error
		if json.Unmarshal(raw, &text) == nil {
			err = parseCondition(text, v.Addr().Interface())
		} else {
			err = json.Unmarshal(raw, v.Addr().Interface())
		}
		if err != nil {
			return fmt.Errorf("condition %s: %w", nameOf(f), err)
		}
	}
	return nil
}
