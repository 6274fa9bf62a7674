package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTaintWithoutKubernetesIsWarnedAbout(t *testing.T) {
	const warning = "kubernetes.taint has no effect: kubernetes.enabled is false"
	c, err := parse("kubernetes: {taint: NoSchedule}\n")
	require.NoError(t, err)
	assert.Contains(t, c.Warnings(), warning)
	c, err = parse("kubernetes: {enabled: true, taint: NoSchedule}\n")
	require.NoError(t, err)
	assert.NotContains(t, c.Warnings(), warning)
}

func TestFleetWithoutRunsIsWarnedAbout(t *testing.T) {
	const warning = "fleet.enabled has no effect: runs is empty"
	c, err := parse("fleet: {enabled: true}\n")
	require.NoError(t, err)
	assert.Contains(t, c.Warnings(), warning)
	c, err = parse("fleet: {enabled: true}\nruns: [{suite: quick, schedule: '@daily'}]\n")
	require.NoError(t, err)
	assert.NotContains(t, c.Warnings(), warning)
}
