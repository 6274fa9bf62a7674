package nvme

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCommandEncoding(t *testing.T) {
	for _, c := range []struct {
		name string
		got  Command
		want Command
		text string
	}{
		{
			"identify controller", IdentifyCommand(IdentifyController, 0),
			Command{Opcode: 0x06, Dword10: 1}, "identify 01h",
		},
		{
			"identify namespace", IdentifyCommand(IdentifyNamespace, 7),
			Command{Opcode: 0x06, NamespaceID: 7}, "identify 00h of namespace 7",
		},
		{
			"smart", LogPageCommand(LogPageRequest{Page: LogSMART, Bytes: 512}),
			Command{Opcode: 0x02, NamespaceID: 0xFFFFFFFF, Dword10: 0x007F_0002}, "get log page 02h",
		},
		{
			"retaining events", LogPageCommand(LogPageRequest{Page: LogSMART, Bytes: 512, RetainEvents: true}),
			Command{Opcode: 0x02, NamespaceID: 0xFFFFFFFF, Dword10: 0x007F_8002}, "get log page 02h",
		},
		{
			"an endurance group", LogPageCommand(LogPageRequest{Page: LogEnduranceGroup, Bytes: 512, Identifier: 0x1234}),
			Command{Opcode: 0x02, NamespaceID: 0xFFFFFFFF, Dword10: 0x007F_0009, Dword11: 0x1234_0000}, "get log page 09h, identifier 4660",
		},
		{
			"a large page of another vendor", LogPageCommand(LogPageRequest{Page: LogOCPSMART, Bytes: 1 << 20, UUIDIndex: 0xFF}),
			Command{Opcode: 0x02, NamespaceID: 0xFFFFFFFF, Dword10: 0xFFFF_00C0, Dword11: 3, Dword14: 0x7F}, "get log page c0h",
		},
		{
			"get feature", GetFeatureCommand(FeatureTemperatureThreshold, SelectCapabilities, 0x13_0000),
			Command{Opcode: 0x0A, Dword10: 0x304, Dword11: 0x13_0000}, "get features 04h",
		},
		{
			"set feature", SetFeatureCommand(FeatureInterruptCoalescing, 0x0A07, UntilReset),
			Command{Opcode: 0x09, Dword10: 0x08, Dword11: 0x0A07}, "set features 08h",
		},
		{
			"set and save feature", SetFeatureCommand(FeatureVolatileWriteCache, 1, Saved),
			Command{Opcode: 0x09, Dword10: 0x8000_0006, Dword11: 1}, "set features 06h",
		},
		{
			"format", FormatCommand(2, Namespace{FormatIndex: 0x11}),
			Command{Opcode: 0x80, NamespaceID: 2, Dword10: 0x1201}, "format nvm of namespace 2",
		},
		{"unknown opcode", Command{Opcode: 0xC0, Dword10: 1}, Command{Opcode: 0xC0, Dword10: 1}, "admin command c0h 01h"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, c.got)
			assert.Equal(t, c.text, c.got.String())
		})
	}
}

// A command for another number of bytes than its buffer has would make the controller write beyond the buffer.
func TestLogPageCommandOfAnImpossibleLength(t *testing.T) {
	for _, bytes := range []int{-4, 0, 2, 513} {
		assert.PanicsWithValue(t, fmt.Sprintf("nvme: smart log of %d bytes: want a multiple of 4, at least 4", bytes), func() {
			LogPageCommand(LogPageRequest{Page: LogSMART, Bytes: bytes})
		})
	}
}
