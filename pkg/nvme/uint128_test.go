package nvme

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUint128(t *testing.T) {
	for _, c := range []struct {
		value Uint128
		text  string
		float float64
		fits  bool
	}{
		{Uint128{}, "0", 0, true},
		{Uint128{Low: 1<<53 + 1}, "9007199254740993", 1 << 53, true},
		{Uint128{Low: math.MaxUint64}, "18446744073709551615", 1 << 64, true},
		{Uint128{High: 1}, "18446744073709551616", 1 << 64, false},
		{Uint128{High: math.MaxUint64, Low: math.MaxUint64}, "340282366920938463463374607431768211455", 1 << 127 * 2, false},
	} {
		t.Run(c.text, func(t *testing.T) {
			assert.Equal(t, c.text, c.value.String())
			assert.Equal(t, c.text, c.value.Big().String())
			assert.Equal(t, c.float, c.value.Float64())
			low, fits := c.value.Uint64()
			assert.Equal(t, c.fits, fits)
			assert.Equal(t, c.value.Low, low)
		})
	}
}

// FuzzUint128Times compares with math/big.
func FuzzUint128Times(f *testing.F) {
	f.Add(uint64(0), uint64(3), uint64(512_000))
	f.Add(uint64(1), uint64(math.MaxUint64), uint64(math.MaxUint64))
	f.Add(uint64(math.MaxUint64), uint64(0), uint64(2))
	limit := new(big.Int).Lsh(big.NewInt(1), 128)
	f.Fuzz(func(t *testing.T, high, low, factor uint64) {
		u := Uint128{High: high, Low: low}
		want := new(big.Int).Mul(u.Big(), new(big.Int).SetUint64(factor))
		if want.Cmp(limit) >= 0 {
			want.Sub(limit, big.NewInt(1))
		}
		assert.Equal(t, want.String(), u.Times(factor).String())
	})
}
