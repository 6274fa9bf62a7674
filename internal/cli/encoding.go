package cli

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// inUTF8 returns a text in UTF-8 without a byte order mark. PowerShell and editors of Windows put one before what they save, and PowerShell
// saves the output of a program as UTF-16.
func inUTF8(text []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte{0xFF, 0xFE}):
		order = binary.LittleEndian
	case bytes.HasPrefix(text, []byte{0xFE, 0xFF}):
		order = binary.BigEndian
	default:
		return bytes.TrimPrefix(text, []byte("\uFEFF"))
	}
	text = text[2:]
	points := make([]uint16, len(text)/2)
	for i := range points {
		points[i] = order.Uint16(text[2*i:])
	}
	return []byte(string(utf16.Decode(points)))
}
