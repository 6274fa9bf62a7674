package nvme

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// A structure with a counter that no floating-point number holds comes back from JSON as it was.
func TestJSONLosesNothing(t *testing.T) {
	counter := Uint128{High: 1 << 60, Low: 1<<53 + 1}
	want := SMART{MediaErrors: counter, PowerOnHours: Uint128{High: math.MaxUint64, Low: math.MaxUint64}, Temperature: new(Celsius(40))}
	text, err := json.Marshal(want)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"MediaErrors":"`+counter.String()+`"`)
	var got SMART
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Equal(t, want, got)

	namespace, err := DecodeNamespace(captured(t, "identify-namespace"))
	require.NoError(t, err)
	identifiers, err := DecodeNamespaceIdentifiers(built(t, "namespace-identifiers"))
	require.NoError(t, err)
	namespace.NGUID, namespace.EUI64 = identifiers.NGUID, identifiers.EUI64
	controller, err := DecodeController(captured(t, "identify-controller"))
	require.NoError(t, err)
	type all struct {
		Namespace   Namespace
		Identifiers NamespaceIdentifiers
		Controller  Controller
	}
	before, after := all{namespace, identifiers, controller}, all{}
	text, err = json.Marshal(before)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"UUID":"c0ffee00-1234-4abc-8def-0123456789ab"`)
	assert.Contains(t, string(text), `"NGUID":"36344830525000010025384500000001"`)
	require.NoError(t, json.Unmarshal(text, &after))
	assert.Equal(t, before, after)
	for _, wrong := range []string{"", "zz", "0025385b71b0000", "0025385b71b0000102"} {
		require.Error(t, identifiers.EUI64.UnmarshalText([]byte(wrong)))
	}
	assert.Equal(t, "0025385b71b00001", identifiers.EUI64.String())

	for _, wrong := range []string{
		``, `-1`, `-0`, `+1`, `1.5`, `1e3`, `0x10`, ` 1`, `340282366920938463463374607431768211456`, strings.Repeat("9", 1<<20),
	} {
		u := Uint128{Low: 7}
		require.Error(t, u.UnmarshalText([]byte(wrong)))
		assert.Equal(t, Uint128{Low: 7}, u)
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
