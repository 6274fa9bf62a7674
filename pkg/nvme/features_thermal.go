package nvme

import "fmt"

// ThermalManagement are the temperatures at which the controller throttles because
// the host told it to, feature 10h (Figure 399); nil for one that is not set.
type ThermalManagement struct {
	Light *Celsius // TMT1: throttle with little loss of speed
	Heavy *Celsius // TMT2: throttle whatever it costs
}

// ThermalManagement gets the host's thresholds for throttling (HCTMA).
func (d *Device) ThermalManagement() (ThermalManagement, error) {
	v, err := d.feature(FeatureThermalManagement, 0, nil)
	if err != nil {
		return ThermalManagement{}, err
	}
	return ThermalManagement{Light: celsius(uint16(v >> 16)), Heavy: celsius(uint16(v))}, nil
}

// CompositeSensor is the drive's composite temperature; the others are 1 to 8.
const CompositeSensor uint8 = 0

// OverTemperature gets the temperature from which on a sensor raises the warning,
// feature 04h (Figure 390); nil when it never does. A sensor that SMART does not report is
// [errors.ErrUnsupported].
func (d *Device) OverTemperature(sensor uint8) (*Celsius, error) {
	return d.temperatureThreshold(sensor, 0)
}

// UnderTemperature gets the temperature down from which a sensor raises the
// warning, feature 04h of revision 1.2 and later; nil when it never does.
func (d *Device) UnderTemperature(sensor uint8) (*Celsius, error) {
	c, err := d.supports()
	if err != nil {
		return nil, err
	}
	if !c.Version.AtLeast(1, 2) {
		return nil, unsupported("under temperature threshold")
	}
	return d.temperatureThreshold(sensor, 1)
}

// temperatureThreshold gets a threshold of a type, THSEL, for a sensor, TMPSEL (Figure 390).
func (d *Device) temperatureThreshold(sensor uint8, kind uint32) (*Celsius, error) {
	if sensor != CompositeSensor {
		smart, err := d.SMART()
		if err != nil {
			return nil, err
		}
		if int(sensor) > len(smart.TemperatureSensors) || smart.TemperatureSensors[sensor-1] == nil {
			return nil, unsupported(fmt.Sprintf("%v of sensor %d", FeatureTemperatureThreshold, sensor))
		}
	}
	v, err := d.feature(FeatureTemperatureThreshold, uint32(sensor)<<16|kind<<20, nil)
	if err != nil {
		return nil, err
	}
	kelvin := uint16(v)
	if kelvin == 0xFFFF { // never reached
		return nil, nil
	}
	return celsius(kelvin), nil
}
