package nvme

import "fmt"

// ThermalManagement holds the temperatures at which the host wants the controller to
// throttle, feature 10h (Figure 399). A temperature that is not set is nil.
type ThermalManagement struct {
	Light *Celsius // TMT1: throttle with minimal impact on performance
	Heavy *Celsius // TMT2: throttle regardless of the impact on performance
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

// OverTemperature gets the temperature at or above which a sensor raises the warning,
// feature 04h (Figure 390); nil when it never does. For a sensor that SMART does not
// report the error matches [errors.ErrUnsupported].
func (d *Device) OverTemperature(sensor uint8) (*Celsius, error) {
	return d.temperatureThreshold(sensor, 0)
}

// UnderTemperature gets the temperature at or below which a sensor raises the warning,
// feature 04h of revision 1.2 and later; nil when it never does.
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

// temperatureThreshold gets the threshold of the given kind (THSEL) for a sensor (TMPSEL), see Figure 390.
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
