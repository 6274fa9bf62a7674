package nvme

import "fmt"

// Percent is a percentage. Fields that may exceed 100 say so.
type Percent uint8

// Ratio returns the percentage as a fraction: 1 for 100 %.
func (p Percent) Ratio() float64 { return float64(p) / 100 }

// String returns the percentage in the form "36 %".
func (p Percent) String() string { return fmt.Sprintf("%d %%", uint8(p)) }
