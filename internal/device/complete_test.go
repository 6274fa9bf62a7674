package device_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// A condition that nobody reads is always unknown, so every drive looks as if it had never changed.
func TestEveryConditionIsRead(t *testing.T) {
	known := map[string]bool{"Engine": true, "Filesystem": true, "MountOptions": true} // see Conditions
	archives, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	for _, archive := range archives {
		for _, d := range look(t, sysfstest.Unpack(t, archive)).Devices {
			for field, value := range reflect.ValueOf(d.Conditions).Fields() {
				known[field.Name] = known[field.Name] || !value.IsZero()
			}
		}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[record.Conditions]()) {
		if !strings.Contains(string(field.Tag), `from:"drive"`) {
			assert.True(t, known[field.Name], "%s: no machine in testdata has it: read it in conditions.go", field.Name)
		}
	}
}
