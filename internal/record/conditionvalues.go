package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The values of a setting that is either on or off.
const (
	On  = "on"
	Off = "off"
)

// Number is a number that may be unknown. The zero value is unknown.
type Number struct {
	Known bool
	Value int
}

// NumberOf returns a known number.
func NumberOf(n int) Number { return Number{true, n} }

func (n Number) String() string {
	if !n.Known {
		return ""
	}
	return fmt.Sprint(n.Value)
}

// MarshalJSON writes the number, or null when it is unknown.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(cmp.Or(n.String(), "null")), nil }

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Number) UnmarshalJSON(data []byte) error {
	n.Known = string(data) != "null"
	return json.Unmarshal(data, &n.Value)
}

// BlockFormat is how a namespace is formatted.
type BlockFormat struct {
	LogicalBytes  int    `json:"logical_bytes"`
	PhysicalBytes int    `json:"physical_bytes"`
	MetadataBytes int    `json:"metadata_bytes,omitempty"` // in each block, besides the data
	Protection    string `json:"protection,omitempty"`     // of data integrity: "T10-DIF-TYPE1-CRC"
}

// String returns text such as "512/4096 + 8 bytes of metadata, T10-DIF-TYPE1-CRC".
func (f BlockFormat) String() string {
	if f == (BlockFormat{}) {
		return ""
	}
	text := fmt.Sprintf("%d/%d", f.LogicalBytes, f.PhysicalBytes)
	if f.MetadataBytes > 0 {
		text += fmt.Sprintf(" + %d bytes of metadata", f.MetadataBytes)
	}
	if f.Protection != "" {
		text += ", " + f.Protection
	}
	return text
}

// LinkRate is the speed and width of a PCIe link.
type LinkRate struct {
	GTs   float64 `json:"gts"` // gigatransfers per second and lane
	Lanes int     `json:"lanes"`
}

// String returns text such as "8 GT/s x4".
func (l LinkRate) String() string {
	if l == (LinkRate{}) {
		return ""
	}
	return fmt.Sprintf("%g GT/s x%d", l.GTs, l.Lanes)
}

// ASPM is PCIe's active state power management of a link. Either part may be unknown.
type ASPM struct {
	States string `json:"states,omitempty"` // the enabled states: "L0s L1", or Off
	Policy string `json:"policy,omitempty"` // of the kernel
}

// String returns text such as "L1, policy default".
func (a ASPM) String() string {
	var parts []string
	if a.States != "" {
		parts = append(parts, a.States)
	}
	if a.Policy != "" {
		parts = append(parts, "policy "+a.Policy)
	}
	return strings.Join(parts, ", ")
}

// Polling says whether completions may be polled for, and how many queues have no interrupt.
type Polling struct {
	Mode   string `json:"mode"` // On, Off
	Queues Number `json:"queues,omitzero"`
}

// String returns text such as "on, poll_queues 4".
func (p Polling) String() string {
	if p.Queues == (Number{}) {
		return p.Mode
	}
	return fmt.Sprintf("%s, poll_queues %s", p.Mode, p.Queues)
}

// PowerState is the NVMe power state that is set (0 is full power), or says that the drive changes it autonomously.
type PowerState struct {
	Autonomous bool   `json:"autonomous,omitempty"`
	State      Number `json:"state,omitzero"` // unknown while autonomous
}

func (p PowerState) String() string {
	if p.Autonomous {
		return "autonomous"
	}
	return p.State.String()
}

// Each holds the distinct values of the controllers of one device, at most four. The controllers usually agree, and
// it holds one value.
type Each[T comparable] [4]T

// EachOf returns the distinct known values, in the order of their texts. Values beyond the first four are dropped.
func EachOf[T comparable](values ...T) (e Each[T]) {
	var unknown T
	values = slices.DeleteFunc(slices.Clone(values), func(v T) bool { return v == unknown })
	slices.SortFunc(values, func(a, b T) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	copy(e[:], slices.Compact(values))
	return e
}

func (e Each[T]) values() []T {
	var unknown T
	return slices.DeleteFunc(slices.Clone(e[:]), func(v T) bool { return v == unknown })
}

// String returns text such as "11 / 200µs and off".
func (e Each[T]) String() string {
	texts := make([]string, 0, len(e))
	for _, v := range e.values() {
		texts = append(texts, fmt.Sprint(v))
	}
	return strings.Join(texts, " and ")
}

// MarshalJSON writes a list of the values.
func (e Each[T]) MarshalJSON() ([]byte, error) { return json.Marshal(e.values()) }

func (e *Each[T]) parse(text string) error {
	var values []T
	for part := range strings.SplitSeq(text, " and ") {
		var v T
		if err := parseCondition(part, &v); err != nil {
			return err
		}
		values = append(values, v)
	}
	*e = EachOf(values...)
	return nil
}

// parseCondition parses a condition from the text that people and metric labels use, and that version 1 stored. An
// empty text means that the condition is unknown.
func parseCondition(text string, to any) (err error) {
	if text == "" {
		return nil
	}
	switch v := to.(type) {
	case *string:
		*v = text
	case *Number:
		v.Known, err = true, scan(text, "%d", &v.Value)
	case *BlockFormat:
		text, v.Protection, _ = strings.Cut(text, ", ")
		blocks, metadata, more := strings.Cut(text, " + ")
		if err = scan(blocks, "%d/%d", &v.LogicalBytes, &v.PhysicalBytes); err == nil && more {
			err = scan(metadata, "%d bytes of metadata", &v.MetadataBytes)
		}
	case *LinkRate:
		if err = scan(text, "%g GT/s x%d", &v.GTs, &v.Lanes); err == nil && !(v.GTs >= 0 && v.GTs < 1e6) {
			err = errors.New("no speed of a link") // NaN would never equal itself
		}
	case *ASPM:
		v.States, v.Policy, _ = strings.Cut(", "+text, ", policy ")
		v.States = strings.TrimPrefix(v.States, ", ")
	case *Polling:
		var queues string
		v.Mode, queues, _ = strings.Cut(text, ", poll_queues ")
		err = parseCondition(queues, &v.Queues)
	case *Coalescing:
		if *v = (Coalescing{Threshold: 1}); text != Off {
			var wait string
			err = scan(text, "%d / %s", &v.Threshold, &wait)
			if err == nil {
				v.Time, err = time.ParseDuration(wait)
			}
			if v.String() == Off { // "2 / 0s"
				*v = Coalescing{Threshold: 1}
			}
		}
	case *PowerState:
		if v.Autonomous = text == "autonomous"; !v.Autonomous {
			err = parseCondition(text, &v.State)
		}
	case interface{ parse(text string) error }:
		err = v.parse(text)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	return nil
}

// scan parses a text that must match the format completely.
func scan(text, format string, to ...any) error {
	_, err := fmt.Sscanf(text+"\n", format+"\n", to...)
	return err
}
