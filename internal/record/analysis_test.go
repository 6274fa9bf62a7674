package record_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// The verdict on an effect follows from its interval. Reports of earlier versions have no verdict, and get one.
func TestVerdictOfAnEffect(t *testing.T) {
	for text, want := range map[string]record.Verdict{
		`"iops_ratio": {"value": 0.5, "lower": 0.4, "upper": 0.6}, "certain": true`:        record.Slower,
		`"iops_ratio": {"value": 1.5, "lower": 1.4, "upper": 1.6}`:                         record.Faster,
		`"iops_ratio": {"value": 1.5, "lower": 0.9, "upper": 2.5}`:                         record.Inconclusive,
		`"iops_ratio": {"value": 1, "lower": 1, "upper": 1}`:                               record.Inconclusive,
		`"iops_ratio": {"value": 0.5}`:                                                     record.Inconclusive,
		`"iops_ratio": {"value": 0.5, "lower": 0.4, "upper": 0.6}, "codes": ["disturbed"]`: record.Inconclusive,
		`"iops_ratio": {"value": 0.5, "lower": 0.4, "upper": 0.6}, "verdict": "faster"`:    record.Faster,
	} {
		var e record.SettingEffect
		require.NoError(t, json.Unmarshal([]byte("{"+text+"}"), &e), text)
		assert.Equal(t, want, e.Verdict, text)
	}
}
