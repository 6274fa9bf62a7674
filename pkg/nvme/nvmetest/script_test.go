package nvmetest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/pkg/nvme"
	"github.com/ssdprobe/ssdprobe/pkg/nvme/nvmetest"
)

// recorder stands in for the testing.TB of a test that should fail.
type recorder struct{ failures []string }

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestUnprogrammedCommandFails(t *testing.T) {
	r := &recorder{}
	script := nvmetest.New(r)
	script.On(nvme.IdentifyCommand(nvme.IdentifyController, 0)).Return(nil)
	_, err := script.Admin(nvme.IdentifyCommand(nvme.IdentifyNamespace, 1), make([]byte, 4096))
	require.ErrorIs(t, err, nvmetest.ErrNotProgrammed)
	require.Len(t, r.failures, 1)
	assert.Contains(t, r.failures[0], "identify 00h of namespace 1: command not programmed")

	_, err = nvmetest.New(nil).Admin(nvme.Command{}, nil)
	require.ErrorIs(t, err, nvmetest.ErrNotProgrammed)
}

func TestCommandWithoutAnAnswerFails(t *testing.T) {
	r := &recorder{}
	script := nvmetest.New(r)
	script.On(nvme.Command{Opcode: 1})
	_, err := script.Admin(nvme.Command{Opcode: 1}, nil)
	require.ErrorIs(t, err, nvmetest.ErrNotProgrammed)
	assert.Len(t, r.failures, 1)
}

func TestAnswers(t *testing.T) {
	cause := errors.New("unplugged")
	cmd := nvme.GetFeatureCommand(nvme.FeatureVolatileWriteCache, nvme.SelectCurrent, 0)
	script := nvmetest.New(t)
	script.On(cmd).Return([]byte{1, 2}).Result(7).ReturnResult([]byte{3}, 8)
	script.On(cmd).Refuse(0x4002).Fail(cause)

	for _, want := range []struct {
		data       []byte
		completion nvme.Completion
		err        error
	}{
		{[]byte{1, 2, 0, 0}, nvme.Completion{}, nil},
		{[]byte{0, 0, 0, 0}, nvme.Completion{Result: 7}, nil},
		{[]byte{3, 0, 0, 0}, nvme.Completion{Result: 8}, nil},
		{[]byte{0, 0, 0, 0}, nvme.Completion{Status: 0x4002}, nil},
		{[]byte{0, 0, 0, 0}, nvme.Completion{}, cause},
		{[]byte{0, 0, 0, 0}, nvme.Completion{}, cause}, // the last one is repeated
	} {
		data := []byte{9, 9, 9, 9} // nothing of this may remain
		completion, err := script.Admin(cmd, data)
		assert.Equal(t, want.err, err)
		assert.Equal(t, want.completion, completion)
		assert.Equal(t, want.data, data)
	}
	assert.Len(t, script.Sent(), 6)
}

func TestWhatMakesCommandsTheSame(t *testing.T) {
	log := func(r nvme.LogPageRequest) nvme.Command { return nvme.LogPageCommand(r) }
	programmed := log(nvme.LogPageRequest{Page: nvme.LogEnduranceGroup, Bytes: 512, Identifier: 1})
	for _, c := range []struct {
		name string
		cmd  nvme.Command
		same bool
	}{
		{"length and events", log(nvme.LogPageRequest{Page: nvme.LogEnduranceGroup, Bytes: 1 << 20, Identifier: 1, RetainEvents: true}), true},
		{"identifier", log(nvme.LogPageRequest{Page: nvme.LogEnduranceGroup, Bytes: 512, Identifier: 2}), false},
		{"uuid", log(nvme.LogPageRequest{Page: nvme.LogEnduranceGroup, Bytes: 512, Identifier: 1, UUIDIndex: 1}), false},
		{"page", log(nvme.LogPageRequest{Page: nvme.LogSMART, Bytes: 512, Identifier: 1}), false},
	} {
		script := nvmetest.New(nil)
		script.On(programmed).Return(nil)
		_, err := script.Admin(c.cmd, nil)
		assert.Equal(t, c.same, err == nil, c.name)
	}
	script := nvmetest.New(nil)
	script.On(nvme.SetFeatureCommand(nvme.FeatureVolatileWriteCache, 1, nvme.UntilReset)).Result(0)
	_, err := script.Admin(nvme.SetFeatureCommand(nvme.FeatureVolatileWriteCache, 1, nvme.Saved), nil)
	require.ErrorIs(t, err, nvmetest.ErrNotProgrammed, "of other commands every bit counts")
}
