package nvme

import "fmt"

// Celsius is a temperature in whole degrees. The wire has kelvin; it is converted
// here, once, as kelvin − 273.
type Celsius int

// String says "36 °C".
func (c Celsius) String() string { return fmt.Sprintf("%d °C", int(c)) }

// celsius converts a temperature field, in which 0 kelvin means that there is none.
func celsius(kelvin uint16) *Celsius {
	if kelvin == 0 {
		return nil
	}
	return new(Celsius(int(kelvin) - 273))
}
