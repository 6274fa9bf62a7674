package nvme

// FirmwareSlots describes the firmware images that a controller holds: the Firmware Slot
// Information log, log identifier 03h (Figure 209).
type FirmwareSlots struct {
	Active uint8 // 1 to 7
	// Next is the slot that the next reset activates; nil when none is waiting.
	Next *uint8
	// Revisions holds the firmware revisions of slots 1 to 7; "" for an empty slot.
	Revisions [7]string
}

const firmwareSlotsBytes = 512

// FirmwareSlots reads which firmware images the controller holds.
func (d *Device) FirmwareSlots() (FirmwareSlots, error) {
	data, err := d.log(LogPageRequest{Page: LogFirmwareSlots, Bytes: firmwareSlotsBytes})
	if err != nil {
		return FirmwareSlots{}, err
	}
	return DecodeFirmwareSlots(data)
}

// DecodeFirmwareSlots decodes the 512 bytes of log page 03h.
func DecodeFirmwareSlots(b []byte) (FirmwareSlots, error) {
	p, err := pageOf(LogFirmwareSlots.String(), b, firmwareSlotsBytes)
	if err != nil {
		return FirmwareSlots{}, err
	}
	f := FirmwareSlots{Active: p[0] & 7, Next: reported(p[0] >> 4 & 7)}
	for i := range f.Revisions {
		f.Revisions[i] = p.text(8+8*i, 8)
	}
	return f, nil
}
