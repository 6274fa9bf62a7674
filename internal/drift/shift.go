package drift

import (
	"math"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// statistics is how many figures of a round are compared.
const statistics = 4

// Values are the statistics of one round in their units, in the order of
// record.Statistics.
type Values [statistics]float64

// shift is how much slower something is: the logarithm of the ratio in
// ten-thousandths, so that 953 is 10 % slower and -953 as much faster. Slower is
// positive for every statistic. Shifts are whole numbers so that a state that was
// written and read back is the same to the last digit.
type shift int32

// shiftOf returns the shift of a ratio above 0.
func shiftOf(slower float64) shift {
	const most = 1e6 // e^100: nothing that was measured is beyond
	return shift(math.Round(min(most, max(-most, 1e4*math.Log(slower)))))
}

// ratio is how many times slower the shift is.
func (s shift) ratio() float64 { return math.Exp(float64(s) / 1e4) }

// shifts are those of all statistics.
type shifts [statistics]shift

// from returns how much slower v is than the reference.
func (v Values) from(reference Values) shifts {
	var out shifts
	for i, s := range record.Statistics() {
		out[i] = shiftOf(s.Slower(reference[i], v[i]))
	}
	return out
}

// moved returns the values that are so much slower than v.
func (v Values) moved(by shifts) Values {
	for i, s := range record.Statistics() {
		if s == record.IOPS {
			v[i] /= by[i].ratio()
		} else {
			v[i] *= by[i].ratio()
		}
	}
	return v
}

func (v Values) valid() bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) || x <= 0 {
			return false
		}
	}
	return true
}

func (v Values) byName() map[record.Statistic]float64 {
	out := map[record.Statistic]float64{}
	for i, s := range record.Statistics() {
		out[s] = v[i]
	}
	return out
}

func valuesByName(m map[record.Statistic]float64) Values {
	var v Values
	for i, s := range record.Statistics() {
		v[i] = m[s]
	}
	return v
}

// median of at least one value; it sorts them.
func median[T shift | int | float64](values []T) T {
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return (values[n/2-1] + values[n/2]) / 2
}

// quantile of sorted values, by nearest rank; 0 when there are none.
func quantile(sorted []shift, q float64) shift {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(len(sorted)-1, max(0, i))]
}
