package nvme

import "fmt"

// DataUnits counts data in thousands of 512-byte units, rounded up, whatever the
// size of a logical block is.
type DataUnits Uint128

// Bytes returns the amount in bytes.
func (d DataUnits) Bytes() Uint128 { return Uint128(d).Times(512_000) }

// String returns the amount in the form "102400000 bytes".
func (d DataUnits) String() string { return d.Bytes().String() + " bytes" }

// BillionBytes counts data in units of 10⁹ bytes, rounded up.
type BillionBytes Uint128

// Bytes returns the amount in bytes.
func (b BillionBytes) Bytes() Uint128 { return Uint128(b).Times(1_000_000_000) }

// String returns the amount in the form "3000000000 bytes".
func (b BillionBytes) String() string { return b.Bytes().String() + " bytes" }

// Minutes is a duration that may be longer than a time.Duration holds.
type Minutes Uint128

// Seconds returns the duration in seconds.
func (m Minutes) Seconds() Uint128 { return Uint128(m).Times(60) }

// String returns the duration in the form "7 min".
func (m Minutes) String() string { return Uint128(m).String() + " min" }

// Hours is a duration that may be longer than a time.Duration holds.
type Hours Uint128

// Seconds returns the duration in seconds.
func (h Hours) Seconds() Uint128 { return Uint128(h).Times(3600) }

// String returns the duration in the form "7 h".
func (h Hours) String() string { return Uint128(h).String() + " h" }

// Percent is a percentage. Fields that may exceed 100 say so.
type Percent uint8

// Ratio returns the percentage as a fraction: 1 for 100 %.
func (p Percent) Ratio() float64 { return float64(p) / 100 }

// String returns the percentage in the form "36 %".
func (p Percent) String() string { return fmt.Sprintf("%d %%", uint8(p)) }
