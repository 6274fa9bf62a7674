package finding

import (
	"fmt"
	"slices"
)

// Severity is how bad a finding is. A greater value is worse.
type Severity int

// The severities.
const (
	// Info explains something; nothing needs to be done.
	Info Severity = iota
	// Warning means that something may be wrong, or that a figure may be.
	Warning
	// Critical means that a drive fails, is in danger or is not measured, or that its verdict is severe. For a drive that
	// is slower but not severe, the severity is Warning.
	Critical
)

// severities lists all severities, the worst first.
func severities() []Severity { return []Severity{Critical, Warning, Info} }

// String returns "info", "warning" or "critical".
func (s Severity) String() string {
	switch s {
	case Info:
		return "info"
	case Warning:
		return "warning"
	case Critical:
		return "critical"
	}
	return fmt.Sprintf("severity %d", int(s))
}

// MarshalText implements encoding.TextMarshaler.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.IndexFunc(severities(), func(known Severity) bool { return known.String() == string(text) })
	if i < 0 {
		return fmt.Errorf("severity %q is not known; want info, warning or critical", text)
	}
	*s = severities()[i]
	return nil
}
