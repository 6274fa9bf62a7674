package nvme

import (
	"fmt"
	"io"
	"strings"
)

// NamespaceIdentifiers holds the permanent identifiers of a namespace, and its command
// set. Those that the namespace does not have are nil.
type NamespaceIdentifiers struct {
	EUI64      *EUI64
	NGUID      *NGUID
	UUID       *UUID
	CommandSet *CommandSet
}

// CommandSet is the I/O command set of a namespace, CSI (Figure 312).
type CommandSet uint8

// The command sets.
const (
	CommandSetNVM      CommandSet = 0
	CommandSetKeyValue CommandSet = 1
	CommandSetZoned    CommandSet = 2
)

// String names the command set.
func (c CommandSet) String() string {
	switch c {
	case CommandSetNVM:
		return "nvm"
	case CommandSetKeyValue:
		return "key value"
	case CommandSetZoned:
		return "zoned"
	}
	return fmt.Sprintf("unknown command set %02xh", uint8(c))
}

// UUID is a universally unique identifier of RFC 9562, in network byte order.
type UUID [16]byte

// String returns the identifier in groups of 8, 4, 4, 4 and 12 digits.
func (u UUID) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// MarshalText returns what String does.
func (u UUID) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads what String returns.
func (u *UUID) UnmarshalText(text []byte) error {
	return decodeHex(u[:], strings.ReplaceAll(string(text), "-", ""))
}

// DecodeNamespaceIdentifiers decodes the 4096 bytes of Identify, CNS 03h: Namespace
// Identification Descriptors (Figure 316) up to one of length 0 (NIDL). It skips unknown types.
func DecodeNamespaceIdentifiers(b []byte) (NamespaceIdentifiers, error) {
	p, err := pageOf("namespace identifiers", b, identifyBytes)
	if err != nil {
		return NamespaceIdentifiers{}, err
	}
	const headerBytes = 4
	var ids NamespaceIdentifiers
	for len(p) >= headerBytes && p[1] != 0 {
		kind, size := p[0], int(p[1])
		p = p[headerBytes:]
		if size > len(p) {
			return NamespaceIdentifiers{}, fmt.Errorf("decode namespace identifiers: type %d of %d bytes, %d left: %w",
				kind, size, len(p), io.ErrUnexpectedEOF)
		}
		value := p[:size]
		p = p[size:]
		switch {
		case kind == 1 && size == 8:
			ids.EUI64 = new(EUI64(value))
		case kind == 2 && size == 16:
			ids.NGUID = new(NGUID(value))
		case kind == 3 && size == 16:
			ids.UUID = new(UUID(value))
		case kind == 4 && size == 1:
			ids.CommandSet = new(CommandSet(value[0]))
		case kind >= 1 && kind <= 4:
			return NamespaceIdentifiers{}, fmt.Errorf("decode namespace identifiers: type %d of %d bytes", kind, size)
		}
	}
	return ids, nil
}
