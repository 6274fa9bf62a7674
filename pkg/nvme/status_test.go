package nvme

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		status     Status
		kind       StatusType
		code       uint8
		more       bool
		doNotRetry bool
		text       string
	}{
		{0x0000, StatusGeneric, 0x00, false, false, "success (type 0h, code 00h)"},
		{0x4002, StatusGeneric, 0x02, false, true, "invalid field in command (type 0h, code 02h, do not retry)"},
		{0x6109, StatusCommandSpecific, 0x09, true, true, "invalid log page (type 1h, code 09h, more in the error log, do not retry)"},
		{0x0281, StatusMediaError, 0x81, false, false, "unrecovered read error (type 2h, code 81h)"},
		{0x0371, StatusPathError, 0x71, false, false, "aborted by host (type 3h, code 71h)"},
		{0x412C, StatusCommandSpecific, 0x2C, false, true, "invalid i/o command set (type 1h, code 2ch, do not retry)"},
		{0x01BC, StatusCommandSpecific, 0xBC, false, false, "zone invalid write (type 1h, code bch)"},
		{0x1806, StatusGeneric, 0x06, false, false, "internal error (type 0h, code 06h)"}, // with a retry delay
		{0x07FF, StatusVendorSpecific, 0xFF, false, false, "vendor specific status (type 7h, code ffh)"},
		{0x01C5, StatusCommandSpecific, 0xC5, false, false, "vendor specific status (type 1h, code c5h)"},
		{0x0477, StatusType(4), 0x77, false, false, "unknown status (type 4h, code 77h)"},
	} {
		t.Run(c.text, func(t *testing.T) {
			assert.Equal(t, c.kind, c.status.Type())
			assert.Equal(t, c.code, c.status.Code())
			assert.Equal(t, c.more, c.status.More())
			assert.Equal(t, c.doNotRetry, c.status.DoNotRetry())
			assert.Equal(t, c.text, c.status.String())
		})
	}
}

func TestStatusErrorMeaning(t *testing.T) {
	meanings := []error{errors.ErrUnsupported, fs.ErrPermission, fs.ErrNotExist, ErrNotLive, ErrCancelled}
	for _, c := range []struct {
		status Status
		want   error
	}{
		{0x0001, errors.ErrUnsupported}, // invalid opcode
		{0x4002, errors.ErrUnsupported}, // invalid field
		{0x4109, errors.ErrUnsupported}, // invalid log page
		{0x010D, errors.ErrUnsupported}, // feature not saveable
		{0x010E, errors.ErrUnsupported}, // feature not changeable
		{0x010F, errors.ErrUnsupported}, // feature not namespace specific
		{0x0015, fs.ErrPermission},      // operation denied
		{0x0023, fs.ErrPermission},      // prohibited by lockdown
		{0x0286, fs.ErrPermission},      // access denied
		{0x400B, fs.ErrNotExist},        // invalid namespace
		{0x412C, errors.ErrUnsupported}, // invalid I/O command set
		{0x0370, ErrNotLive},            // host pathing error, from the driver
		{0x0371, ErrCancelled},          // aborted by host, from the driver
		{0x0006, nil},                   // internal error
		{0x0281, nil},                   // unrecovered read error
	} {
		err := fmt.Errorf("wrapped: %w", &StatusError{Command: IdentifyCommand(IdentifyController, 0), Status: c.status})
		for _, meaning := range meanings {
			if c.want != nil && errors.Is(c.want, meaning) {
				require.ErrorIs(t, err, meaning)
			} else {
				require.NotErrorIs(t, err, meaning)
			}
		}
		var refusal *StatusError
		require.ErrorAs(t, err, &refusal)
		assert.Equal(t, c.status, refusal.Status)
	}
}

func TestStatusErrorText(t *testing.T) {
	e := &StatusError{Command: LogPageCommand(LogPageRequest{Page: LogSMART, Bytes: 512}), Status: 0x4109}
	require.EqualError(t, e, "get log page 02h: invalid log page (type 1h, code 09h, do not retry)")
	e.Remembered = true
	require.EqualError(t, e, "get log page 02h: invalid log page (type 1h, code 09h, do not retry), not asked again")
}
