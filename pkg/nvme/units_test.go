package nvme

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnitsInWords(t *testing.T) {
	for want, value := range map[string]any{
		"36 %":  Percent(36),
		"-5 °C": Celsius(-5),

		"short": SelfTestShort, "extended": SelfTestExtended, "host-initiated refresh": SelfTestRefresh,
		"vendor specific": SelfTestVendorSpecific, "unknown kind 4h": SelfTestKind(4),
		"i/o": ControllerTypeIO, "administrative": ControllerTypeAdministrative, "discovery": ControllerTypeDiscovery, "unknown type 09h": ControllerType(9),
		"nvm": CommandSetNVM, "key value": CommandSetKeyValue, "zoned": CommandSetZoned, "unknown command set 07h": CommandSet(7),
		"zeros": DeallocatedZeros, "ones": DeallocatedOnes, "not reported": DeallocatedNotReported, "unknown 3h": DeallocatedRead(3),
		"none": CriticalWarnings(0), "temperature, backup, bit 7": WarningTemperature | WarningBackup | 1<<7,
		"spare, bit 1, read-only": GroupWarningSpare | GroupWarningReadOnly | 1<<1,
	} {
		assert.Equal(t, want, fmt.Sprint(value))
	}
}
