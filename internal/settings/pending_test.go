package settings_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/device/devicetest"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// A device that hangs holds up neither the start nor the settings of others. Its own are restored when it answers, and
// the next start tells of it.
func TestADeviceThatHangsHoldsUpNoStart(t *testing.T) {
	o := options(t)
	o.FS = devicetest.Server{Sockets: 1, Cores: 2, Threads: 1, Drives: 2}.Make(t)
	var ids []string
	controllers := map[string]*controller{}
	for _, name := range []string{"nvme0", "nvme1"} {
		d, err := device.Find(o.FS, name+"n1")
		require.NoError(t, err)
		ids = append(ids, d.ID)
		controllers["/dev/"+name] = &controller{features: map[nvme.Feature]uint32{nvme.FeatureVolatileWriteCache: 0}, cache: true}
		require.NoError(t, o.Store.Save("settings", d.ID, map[string]any{
			"version": 1, "device_id": d.ID, "entries": []map[string]any{{"setting": settings.WriteCache, "was": "on"}},
		}))
	}
	ctx, end := context.WithCancelCause(t.Context())
	other, answers := make(chan struct{}), make(chan struct{})
	opened := sync.OnceFunc(func() { close(other) })
	o.OpenNVMe = func(path string) (*nvme.Device, error) {
		if path == "/dev/nvme0" {
			<-other
			end(assert.AnError)
			<-answers
		} else {
			opened()
		}
		return nvme.NewDevice(controllers[path]), nil
	}
	all, left, err := settings.RestorePending(ctx, o)
	require.NoError(t, err)
	require.ErrorContains(t, left[ids[0]], "restore settings of "+ids[0]+": the device or the state directory does not answer: "+assert.AnError.Error())
	testenv.Eventually(t, "those of the other are restored", func() bool { return assert.ObjectsAreEqual(ids[:1], journals(t, o)) })
	close(answers)
	testenv.Eventually(t, "those of the device are restored", func() bool { return len(journals(t, o)) == 0 })
	testenv.Eventually(t, "both are told", func() bool {
		all = append(all, nextStart(t, o)...)
		return len(all) == len(ids)
	})
	for path, c := range controllers {
		assert.Equal(t, uint32(1), c.features[nvme.FeatureVolatileWriteCache], path)
	}
	for _, id := range ids {
		assert.Regexp(t, `write cache of nvme.n1 \(`+id+`\) is on again`, all)
	}
}

func TestAStateDirectoryThatHangsHoldsUpNoStart(t *testing.T) {
	o := options(t)
	testenv.HungFilesystem(t, o.Store.Dir())
	ctx, end := context.WithCancelCause(t.Context())
	end(assert.AnError)
	_, _, err := settings.RestorePending(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	ctx, stop := context.WithTimeoutCause(t.Context(), time.Millisecond, assert.AnError)
	defer stop()
	_, _, err = settings.RestorePending(ctx, o)
	require.ErrorIs(t, err, assert.AnError)
	require.False(t, guard.Hangs(err), "it was not waited for")
	require.ErrorContains(t, err, "the state directory does not answer")
}
