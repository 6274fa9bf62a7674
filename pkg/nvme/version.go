package nvme

import "fmt"

// Version is the revision of the NVM Express Base Specification that a controller follows: major,
// minor and tertiary number (VER). Controllers before revision 1.2 may report 0.
type Version uint32

// NewVersion returns major.minor.
func NewVersion(major, minor uint8) Version { return Version(major)<<16 | Version(minor)<<8 }

// AtLeast reports whether the controller follows major.minor or a later revision.
func (v Version) AtLeast(major, minor uint8) bool { return v >= NewVersion(major, minor) }

// String returns the version in the form "1.4" or "1.2.1".
func (v Version) String() string {
	s := fmt.Sprintf("%d.%d", uint16(v>>16), uint8(v>>8))
	if tertiary := uint8(v); tertiary != 0 {
		s += fmt.Sprintf(".%d", tertiary)
	}
	return s
}
