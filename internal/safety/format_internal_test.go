package safety

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
	"github.com/ssdprobe/ssdprobe/pkg/nvme/nvmetest"
)

// Formatting namespace 1 must not reach anything else.
func TestFormatReachesNothingElse(t *testing.T) {
	const (
		cmic, oacs, nn, fna, ioccsz = 76, 256, 516, 524, 1792
		formats, manages            = 2, 8
	)
	namespaces := func(ids ...byte) []byte {
		page := make([]byte, 4096)
		for i, id := range ids {
			page[4*i] = id
		}
		return page
	}
	for name, c := range map[string]struct {
		identify    map[int]byte
		namespaces  []byte // the allocated ones; nil if they must not be queried
		controllers []byte
		says        string // empty if formatting is allowed
	}{
		"of the namespace alone":       {identify: map[int]byte{oacs: formats, nn: 32, cmic: 2}},
		"the only one there can be":    {identify: map[int]byte{oacs: formats, nn: 1, fna: 3}},
		"the only one there is":        {identify: map[int]byte{oacs: formats | manages, nn: 32, fna: 1}, namespaces: namespaces(1)},
		"the only one, one controller": {identify: map[int]byte{oacs: formats | manages, nn: 32, fna: 2, cmic: 2}, namespaces: namespaces(1), controllers: []byte{1, 0, 7}},

		"no such command":         {identify: map[int]byte{nn: 1}, says: "its controller does not have the command"},
		"a network":               {identify: map[int]byte{oacs: formats, nn: 1, ioccsz: 4}, says: "it is reached over a network"},
		"two namespaces":          {identify: map[int]byte{oacs: formats | manages, nn: 32, fna: 1}, namespaces: namespaces(1, 2), says: "formats all namespaces at once (Identify Controller, FNA), and its namespaces are 1 and 2"},
		"two to erase":            {identify: map[int]byte{oacs: formats | manages, nn: 32, fna: 2}, namespaces: namespaces(1, 2, 5), says: "its namespaces are 1, 2 and 5"},
		"another namespace":       {identify: map[int]byte{oacs: formats | manages, nn: 32, fna: 1}, namespaces: namespaces(2), says: "its namespaces are 2"},
		"nobody knows":            {identify: map[int]byte{oacs: formats, nn: 32, fna: 1}, says: "and it may have 32 and does not list them"},
		"two controllers":         {identify: map[int]byte{oacs: formats | manages, nn: 32, fna: 1, cmic: 2}, namespaces: namespaces(1), controllers: []byte{2, 0, 0, 0, 1}, says: "its controllers are 0 and 1"},
		"perhaps two controllers": {identify: map[int]byte{oacs: formats, nn: 1, fna: 1, cmic: 2}, says: "may have further controllers (CMIC), which it does not list"},
	} {
		t.Run(name, func(t *testing.T) {
			page := make([]byte, 4096)
			for offset, value := range c.identify {
				page[offset] = value
			}
			script := nvmetest.New(t)
			script.On(nvme.IdentifyCommand(nvme.IdentifyController, 0)).Return(page)
			if c.namespaces != nil {
				script.On(nvme.IdentifyCommand(nvme.IdentifyAllocatedNamespaces, 0)).Return(c.namespaces)
			}
			if c.controllers != nil {
				script.On(nvme.IdentifyCommand(nvme.IdentifyControllers, 0)).Return(c.controllers)
			}
			found, err := beyond(nvme.NewDevice(script), 1)
			require.NoError(t, err)
			if c.says == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			assert.Equal(t, KindFormat, found[0].Kind)
			assert.Contains(t, found[0].Text, "it cannot be formatted: ")
			assert.Contains(t, found[0].Text, c.says)
			for _, sent := range script.Sent() {
				assert.Equal(t, nvme.OpcodeIdentify, sent.Opcode)
			}
		})
	}
}

// Only a drive that has not answered may still be formatting.
func TestWhetherTheDriveStillFormats(t *testing.T) {
	interrupted := errors.New("interrupted")
	over, cancel := context.WithCancelCause(t.Context())
	cancel(interrupted)
	refused := errors.New("Invalid Field in Command")
	for name, c := range map[string]struct {
		ctx   context.Context
		err   error
		still bool
		is    error
	}{
		"no answer, and interrupted":    {over, &guard.HungError{}, true, interrupted},
		"no answer for a day":           {t.Context(), &guard.HungError{}, true, ErrFormatting},
		"another call hangs":            {over, &guard.HungError{Earlier: true}, false, nil},
		"interrupted before":            {over, context.Canceled, false, interrupted},
		"refused while it was too late": {over, refused, false, refused},
		"refused":                       {t.Context(), refused, false, refused},
	} {
		t.Run(name, func(t *testing.T) {
			err := unanswered(c.ctx, c.err)
			assert.Equal(t, c.still, errors.Is(err, ErrFormatting), err)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
}
