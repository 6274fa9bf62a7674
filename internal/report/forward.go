package report

import (
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// These serve the files of comparisons until those move.

func Count(n int64) string                    { return units.Count(n) }
func IOPS(v float64) string                   { return units.IOPS(v) }
func Ratio(r float64) string                  { return units.Ratio(r) }
func Percent(share float64) string            { return units.Percent(share) }
func BlockSize(bytes int64) string            { return units.BlockSize(bytes) }
func Time(t time.Time) string                 { return units.Time(t) }
func plural(n int, noun string) string        { return units.Plural(n, noun) }
func StatisticName(s record.Statistic) string { return s.Short() }

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
