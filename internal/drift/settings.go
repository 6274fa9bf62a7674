package drift

import "time"

// Settings are the settings of the comparison. Fields left zero mean the default.
type Settings struct {
	// Window is how far back the rounds of Status.Window reach.
	Window time.Duration
	// BaselineRounds is how many good rounds make the first, early baseline. From
	// then on there is a ratio, and large shifts are judged.
	BaselineRounds int
	// Threshold is the smallest shift that is judged before the baseline is final,
	// which takes a day: 0.2 is 20 % slower.
	Threshold float64
	// SmallestEffect is the smallest shift of interest once the baseline is final:
	// 0.08 is 8 %. Smaller shifts never alarm; see docs/drift.md for what it costs.
	SmallestEffect float64
	// FalseAlarmsPerYear is the accepted number of false alarms in a year of one source (a probe, or the traffic) on
	// one target. The thresholds of all CUSUMs follow from it.
	FalseAlarmsPerYear float64
}

// Default returns the settings that users get.
func Default() Settings {
	return Settings{
		Window: 5 * time.Minute, BaselineRounds: 120, Threshold: 0.2,
		SmallestEffect: 0.08, FalseAlarmsPerYear: 0.5,
	}
}

// Shared returns the settings for each of several trackers that share the budget of false alarms, as the probes and
// the traffic of a target do.
func (s Settings) Shared(trackers int) Settings {
	s.FalseAlarmsPerYear /= float64(max(1, trackers))
	return s
}

func (s Settings) orDefault() Settings {
	d := Default()
	if s.Window <= 0 {
		s.Window = d.Window
	}
	if s.BaselineRounds <= 0 {
		s.BaselineRounds = d.BaselineRounds
	}
	if s.Threshold <= 0 {
		s.Threshold = d.Threshold
	}
	if s.SmallestEffect <= 0 {
		s.SmallestEffect = d.SmallestEffect
	}
	if s.FalseAlarmsPerYear <= 0 {
		s.FalseAlarmsPerYear = d.FalseAlarmsPerYear
	}
	return s
}

// smallest is SmallestEffect as a shift.
func (s Settings) smallest() Shift { return ShiftOf(1 + s.SmallestEffect) }

// references is how many CUSUMs look for a change of level in one direction.
const references = 3

// blocksPerYear is how many blocks a year has.
const blocksPerYear = int64(365.25*24*time.Hour) / int64(blockLength)

// rarity is the share of blocks at which one CUSUM may alarm without a cause: the budget divided among the CUSUMs
// that can find a regression of any statistic, including those for slow rounds.
func (s Settings) rarity() float64 {
	return s.FalseAlarmsPerYear / float64(blocksPerYear) / float64(statistics*(references+1))
}
