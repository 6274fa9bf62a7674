package nvme

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Uint128 is an unsigned counter of 128 bits. Values are comparable with ==. In JSON it is a
// string of digits, because many readers of JSON round numbers above 2⁵³.
type Uint128 struct{ High, Low uint64 }

// Uint64 returns the value, and whether it fits.
func (u Uint128) Uint64() (value uint64, ok bool) { return u.Low, u.High == 0 }

// Float64 returns the nearest floating-point number; exact up to 2⁵³.
func (u Uint128) Float64() float64 {
	f, _ := new(big.Float).SetInt(u.Big()).Float64()
	return f
}

// Big returns the value as an integer of any size.
func (u Uint128) Big() *big.Int {
	b := new(big.Int).SetUint64(u.High)
	return b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(u.Low))
}

// String returns the value in decimal.
func (u Uint128) String() string { return u.Big().String() }

// MarshalText returns the value in decimal.
func (u Uint128) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads a value in decimal.
func (u *Uint128) UnmarshalText(text []byte) error {
	const most = 39 // the digits of the largest value
	b, ok := new(big.Int).SetString(string(text[:min(len(text), most+1)]), 10)
	if !ok || len(text) > most || text[0] < '0' || b.BitLen() > 128 {
		return fmt.Errorf("%.40q is not a whole number below 2¹²⁸", text)
	}
	*u = Uint128{High: new(big.Int).Rsh(b, 64).Uint64(), Low: b.Uint64()}
	return nil
}

// Times returns u × factor, or the largest Uint128 if the product overflows.
func (u Uint128) Times(factor uint64) Uint128 {
	carry, low := bits.Mul64(u.Low, factor)
	over, high := bits.Mul64(u.High, factor)
	high, over2 := bits.Add64(high, carry, 0)
	if over != 0 || over2 != 0 {
		return Uint128{High: math.MaxUint64, Low: math.MaxUint64}
	}
	return Uint128{High: high, Low: low}
}
