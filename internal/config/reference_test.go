package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/config"
)

func TestReferenceSaysWhatEachKeyDoes(t *testing.T) {
	reference := config.Reference()
	assert.Contains(t, reference, "| `discovery_interval` |")
	assert.NotContains(t, reference, "|  |\n")
}
