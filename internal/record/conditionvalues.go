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

// Settings that are on or off.
const (
	On  = "on"
	Off = "off"
)

// Number is a number that may be unknown, which is its zero value.
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

// MarshalJSON writes a number, and null when it is not known.
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
	MetadataBytes int    `json:"metadata_bytes,omitempty"` // that each block carries beside the data
	Protection    string `json:"protection,omitempty"`     // of integrity: "T10-DIF-TYPE1-CRC"
}

// String says "512/4096", and what each block carries beside the data.
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

// LinkRate is a speed and a width of a PCIe link.
type LinkRate struct {
	GTs   float64 `json:"gts"` // gigatransfers per second and lane
	Lanes int     `json:"lanes"`
}

// String says "8 GT/s x4".
func (l LinkRate) String() string {
	if l == (LinkRate{}) {
		return ""
	}
	return fmt.Sprintf("%g GT/s x%d", l.GTs, l.Lanes)
}

// ASPM is PCIe's active state power management of a link. Either part may be unknown.
type ASPM struct {
	States string `json:"states,omitempty"` // those enabled: "L0s L1", or Off
	Policy string `json:"policy,omitempty"` // of the kernel
}

// String says "L1, policy default".
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

// Polling is whether I/Os may be waited for by polling, and with how many queues without interrupts.
type Polling struct {
	Mode   string `json:"mode"` // On, Off
	Queues Number `json:"queues,omitzero"`
}

// String says "on, poll_queues 4".
func (p Polling) String() string {
	if p.Queues == (Number{}) {
		return p.Mode
	}
	return fmt.Sprintf("%s, poll_queues %s", p.Mode, p.Queues)
}

// PowerState is the NVMe power state that was set, 0 for full power, or that the drive changes it by itself.
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

// Each are the values that the controllers of a device have, each once. Mostly they agree, and there is one.
type Each[T comparable] [4]T

// EachOf returns the values that are known, in the order of their texts.
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

// String says "11 / 200µs and off".
func (e Each[T]) String() string {
	texts := make([]string, 0, len(e))
	for _, v := range e.values() {
		texts = append(texts, fmt.Sprint(v))
	}
	return strings.Join(texts, " and ")
}

// MarshalJSON writes a list.
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

// parseCondition reads a condition as people, the labels of metrics and stored values of version 1 give it. An
// empty text means that it is not known.
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
			err = errors.New("no speed of a link") // NaN would differ from itself
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

// scan reads a text that consists of what the format says, and nothing else.
func scan(text, format string, to ...any) error {
	_, err := fmt.Sscanf(text+"\n", format+"\n", to...)
	return err
}
