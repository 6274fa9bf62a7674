package wire_test

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/lab/wire"
)

func TestMessages(t *testing.T) {
	var line bytes.Buffer
	sent := []wire.Request{
		{ID: 1, Run: &wire.Command{Args: []string{"echo", "a\nb"}, Stdin: []byte{0, 255}}},
		{ID: 2, Signal: &wire.SignalVerb{Process: 1, Signal: 15, Group: true}},
	}
	for _, request := range sent {
		require.NoError(t, wire.Write(&line, request))
	}
	var received []wire.Request
	for {
		var request wire.Request
		err := wire.Read(&line, &request)
		if err != nil {
			require.Equal(t, io.EOF, err)
			break
		}
		received = append(received, request)
	}
	assert.Equal(t, sent, received)
}

func TestTooLong(t *testing.T) {
	var line bytes.Buffer
	require.NoError(t, wire.Write(&line, wire.Reply{Data: make([]byte, wire.MaxDataBytes)}))
	line.Reset()
	require.ErrorIs(t, wire.Write(&line, wire.Reply{Data: make([]byte, wire.MaxFrameBytes)}), wire.ErrTooLong)
	assert.Zero(t, line.Len())
	require.ErrorIs(t, wire.Read(strings.NewReader("\xff\xff\xff\xff"), &wire.Reply{}), wire.ErrTooLong)
}

func TestGreetedDropsWhatWasSaidBefore(t *testing.T) {
	var whole bytes.Buffer
	require.NoError(t, wire.Write(&whole, wire.Reply{ID: 7, Data: bytes.Repeat([]byte{'\n', 0xff}, 10_000)}))
	// A reader's buffer of 4096 bytes ends before, in and after the greeting.
	for _, said := range []int{0, 1, 4, 5, 4086, 4087, 4088, 4095, 4096, whole.Len()} {
		var line bytes.Buffer
		line.Write(whole.Bytes()[:said])
		require.NoError(t, wire.Greet(&line))
		require.NoError(t, wire.Write(&line, wire.Reply{ID: 8}))
		in := bufio.NewReader(&line)
		require.NoError(t, wire.Greeted(in))
		var reply wire.Reply
		require.NoError(t, wire.Read(in, &reply))
		assert.Equal(t, wire.Reply{ID: 8}, reply, "after %d bytes", said)
	}
	require.Equal(t, io.EOF, wire.Greeted(bufio.NewReader(strings.NewReader("no greeting\n"))))
}

// FuzzGreeted checks that bytes before the greeting change nothing after it. The bytes are like those of messages.
func FuzzGreeted(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Add(bytes.Repeat([]byte("long"), 2000))
	f.Fuzz(func(t *testing.T, before []byte) {
		var line bytes.Buffer
		require.NoError(t, wire.Write(&line, wire.Reply{Data: before}))
		line.Truncate(line.Len() / 2)
		require.NoError(t, wire.Greet(&line))
		line.WriteString("rest")
		in := bufio.NewReader(&line)
		require.NoError(t, wire.Greeted(in))
		rest, err := io.ReadAll(in)
		require.NoError(t, err)
		assert.Equal(t, "rest", string(rest))
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x08{\"ID\":3}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var request wire.Request
		if wire.Read(bytes.NewReader(data), &request) != nil {
			return
		}
		var line bytes.Buffer
		require.NoError(t, wire.Write(&line, request))
		var again wire.Request
		require.NoError(t, wire.Read(&line, &again))
		assert.Equal(t, request, again)
	})
}
