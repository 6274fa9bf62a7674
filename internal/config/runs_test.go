package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

func TestRunMatches(t *testing.T) {
	file := []string{"file:/srv/db/probe/data", "nvme0n1", "/srv/db"}
	for pattern, want := range map[string]bool{"file:*": true, "nvme*": true, "/srv/*": true, "/srv/db": true, "sd*": false, "/srv": false} {
		assert.Equal(t, want, config.Run{Targets: []string{pattern}}.Matches(file...), pattern)
	}
	assert.True(t, config.Run{}.Matches(file...))
	assert.True(t, config.Run{Targets: []string{"/srv/[a"}}.Matches("/srv/[a"), "a path that is no pattern stands for itself")
}
