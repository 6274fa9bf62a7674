package drift

import (
	"math"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// statistics is how many figures of a round are compared.
const statistics = 4

// Values are the statistics of one round in their units, in the order of their source's statistics. A statistic that
// the round does not have is 0.
type Values [statistics]float64

// Shift is how much slower something is: the logarithm of the ratio in
// ten-thousandths, so that 953 is 10 % slower and -953 as much faster. Slower is
// positive for every statistic. Shifts are whole numbers so that a state that was
// written and read back is the same to the last digit.
type Shift int32

// ShiftOf returns the shift of a ratio above 0.
func ShiftOf(slower float64) Shift {
	const most = 1e6 // e^100 is beyond all that is measured
	return Shift(math.Round(min(most, max(-most, 1e4*math.Log(slower)))))
}

// Ratio returns how many times slower the shift is.
func (s Shift) Ratio() float64 { return math.Exp(float64(s) / 1e4) }

// Shifts are the shifts of all statistics.
type Shifts [statistics]Shift

// missing is the shift of a statistic that a round or block does not have.
const missing Shift = math.MinInt32

// Known reports whether the shift is not Missing.
func (s Shift) Known() bool { return s != missing }

// rate is the index of the statistic for which more is better: record.IOPS.
const rate = 3

// from returns how much slower v is than the reference; missing where either is 0.
func (v Values) from(reference Values) Shifts {
	var out Shifts
	for i := range v {
		before, now := reference[i], v[i]
		if i == rate {
			before, now = now, before
		}
		if before <= 0 || now <= 0 {
			out[i] = missing
			continue
		}
		out[i] = ShiftOf(now / before)
	}
	return out
}

// moved returns the values made slower by some shifts.
func (v Values) moved(by Shifts) Values {
	for i := range v {
		if i == rate {
			v[i] /= by[i].Ratio()
		} else {
			v[i] *= by[i].Ratio()
		}
	}
	return v
}

// MostValue is beyond all that is measured, in seconds or a second.
const MostValue = 1e12

// valid reports whether v has at least one value, and no impossible one.
func (v Values) valid() bool {
	for _, x := range v {
		if math.IsNaN(x) || x < 0 || x > MostValue {
			return false
		}
	}
	return v != Values{}
}

// valuesOf returns the values in the order of their names.
func valuesOf(names []record.Statistic, m map[record.Statistic]float64) Values {
	var v Values
	for i, name := range names {
		v[i] = m[name]
	}
	return v
}

// named returns the values above 0 by name.
func named(names []record.Statistic, v Values) map[record.Statistic]float64 {
	out := map[record.Statistic]float64{}
	for i, name := range names {
		if v[i] > 0 {
			out[name] = v[i]
		}
	}
	return out
}

// median returns the median of at least one value. It sorts the values.
func median[T Shift | int | int32 | float64](values []T) T {
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return (values[n/2-1] + values[n/2]) / 2
}

// quantile returns a quantile of sorted values, by nearest rank; 0 when there are none.
func quantile(sorted []Shift, q float64) Shift {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(len(sorted)-1, max(0, i))]
}
