package nvme

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnitsInWords(t *testing.T) {
	for want, value := range map[string]any{
		"102400000 bytes":                 DataUnits{Low: 200},
		"9444732965739290427392000 bytes": DataUnits{High: 1},
		"3000000000 bytes":                BillionBytes{Low: 3},
		"7 min":                           Minutes{Low: 7},
		"18446744073709551616 h":          Hours{High: 1},
		"36 %":                            Percent(36),
		"-5 °C":                           Celsius(-5),
	} {
		assert.Equal(t, want, fmt.Sprint(value))
	}
}
