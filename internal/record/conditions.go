package record

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Conditions are all that may rightly change a device's speed. Two measurements
// may be compared when their conditions are equal (==). An empty field means
// that the machine does not say.
type Conditions struct {
	Model        string `json:"model,omitempty"`
	Firmware     string `json:"firmware,omitempty"`
	Transport    string `json:"transport,omitempty"`
	Format       string `json:"format,omitempty"`    // logical/physical block bytes, "512/4096"
	PCIeLink     string `json:"pcie_link,omitempty"` // "8 GT/s x4"
	ASPM         string `json:"aspm,omitempty"`      // power management of the link: "L1, policy default"
	NUMANode     string `json:"numa_node,omitempty"`
	Scheduler    string `json:"scheduler,omitempty"`
	NrRequests   string `json:"nr_requests,omitempty"`
	WriteCache   string `json:"write_cache,omitempty"` // as the kernel takes it to be
	DriveCache   string `json:"drive_cache,omitempty"` // the drive's own setting: "on", "off"
	Coalescing   string `json:"coalescing,omitempty"`  // of interrupts: "off", "11 / 200µs"
	PowerState   string `json:"power_state,omitempty"` // "0"; "autonomous" when the drive changes it by itself
	Polling      string `json:"polling,omitempty"`
	Governor     string `json:"governor,omitempty"`
	Kernel       string `json:"kernel,omitempty"`
	Stack        string `json:"stack,omitempty"` // "lvm vg-root on eui.…-part2" when devices are stacked
	Filesystem   string `json:"filesystem,omitempty"`
	MountOptions string `json:"mount_options,omitempty"`
	Engine       string `json:"engine,omitempty"` // what measured: "ssdprobe-1", "fio-3.33 libaio"
}

// Condition is one field of Conditions by its name.
type Condition struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Change is a condition that differs between two Conditions.
type Change struct {
	Condition string `json:"condition"`
	From      string `json:"from"`
	To        string `json:"to"`
}

// String says "firmware A → B".
func (c Change) String() string {
	return fmt.Sprintf("%s %s → %s", ConditionTitle(c.Condition), orUnknown(c.From), orUnknown(c.To))
}

// ConditionTitle is what people call the condition of this name: "PCIe link".
func ConditionTitle(name string) string {
	switch name {
	case "pcie_link":
		return "PCIe link"
	case "numa_node":
		return "NUMA node"
	case "aspm":
		return "ASPM"
	case "nr_requests":
		return name // the kernel's own word
	default:
		return strings.ReplaceAll(name, "_", " ")
	}
}

// List returns all conditions in their declared order, unknown ones included.
// The names are those of the JSON form.
func (c Conditions) List() []Condition {
	v := reflect.ValueOf(c)
	list := make([]Condition, v.NumField())
	for i := range list {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		list[i] = Condition{Name: name, Value: v.Field(i).String()}
	}
	return list
}

// Changes returns what differs from c to later, in declared order.
func (c Conditions) Changes(later Conditions) []Change {
	var changes []Change
	after := later.List()
	for i, before := range c.List() {
		if before.Value != after[i].Value {
			changes = append(changes, Change{Condition: before.Name, From: before.Value, To: after[i].Value})
		}
	}
	return changes
}

// Extended reports whether later says what c does, and only more: a condition that
// was not known before did not change.
func (c Conditions) Extended(later Conditions) bool {
	return !slices.ContainsFunc(c.Changes(later), func(ch Change) bool { return ch.From != "" })
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
