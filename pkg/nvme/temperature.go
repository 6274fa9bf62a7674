package nvme

import "fmt"

// Celsius is a temperature in whole degrees. Drives report kelvin, which this package converts as kelvin − 273.
type Celsius int

// String returns the temperature in the form "36 °C".
func (c Celsius) String() string { return fmt.Sprintf("%d °C", int(c)) }

// celsius converts a temperature field. It returns nil for 0 kelvin, which means that the
// temperature is not reported.
func celsius(kelvin uint16) *Celsius {
	if kelvin == 0 {
		return nil
	}
	return new(Celsius(int(kelvin) - 273))
}
