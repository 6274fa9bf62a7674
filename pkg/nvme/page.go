package nvme

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// page is a structure as the controller transfers it: little-endian fields at fixed offsets.
type page []byte

// pageOf checks that b holds a whole structure, and cuts off what follows it.
func pageOf(name string, b []byte, size int) (page, error) {
	if len(b) < size {
		return nil, fmt.Errorf("decode %s: want %d bytes, have %d: %w", name, size, len(b), io.ErrUnexpectedEOF)
	}
	return page(b[:size]), nil
}

func (p page) u16(offset int) uint16 { return binary.LittleEndian.Uint16(p[offset:]) }
func (p page) u32(offset int) uint32 { return binary.LittleEndian.Uint32(p[offset:]) }
func (p page) u64(offset int) uint64 { return binary.LittleEndian.Uint64(p[offset:]) }

// u48 reads the 6-byte counters of vendor pages.
func (p page) u48(offset int) uint64 {
	return uint64(p.u32(offset)) | uint64(p.u16(offset+4))<<32
}

// u56 reads the 7-byte counters of vendor pages.
func (p page) u56(offset int) uint64 {
	return p.u48(offset) | uint64(p[offset+6])<<48
}

func (p page) u128(offset int) Uint128 {
	return Uint128{High: p.u64(offset + 8), Low: p.u64(offset)}
}

// text reads a string that ends at its first zero or with the field, and is padded with spaces. ASCII fields
// have no zeros, except of drives that do not follow the specification.
func (p page) text(offset, size int) string {
	text, _, _ := strings.Cut(string(p[offset:offset+size]), "\x00")
	return strings.TrimSpace(text)
}

// reported returns a pointer to a field, or nil if the field is 0, which means that the controller does not report it.
func reported[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// onlyIf returns a pointer to a field, or nil if another field declares it not valid.
func onlyIf[T any](valid bool, value T) *T {
	if !valid {
		return nil
	}
	return &value
}
