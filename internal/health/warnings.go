package health

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const (
	// mostlyUnwritten is the share of a namespace below which most of it holds no data.
	mostlyUnwritten = 0.5
	// nearlyWorn is the used share of the rated endurance above which a drive is nearly worn out. The alert
	// SsdprobeDriveWorn uses the same value.
	nearlyWorn = 0.9
	// hotFor is how long within an hour a drive may be above its warning temperature. The alert
	// SsdprobeTemperatureAboveLimit uses the same value.
	hotFor = 5 * time.Minute
)

// Warnings describes what is wrong with a controller and what to do about it. It compares with earlier readings to find
// out what is happening now. NamespaceWarnings describes what is wrong with a single namespace. The texts do not name
// the drive, so that they are the same for all drives; whoever shows one adds the name.
func (r *Recent) Warnings(now record.Health) []record.Warning {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []record.Warning
	warn := func(code, format string, args ...any) {
		list = append(list, record.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	for _, w := range now.CriticalWarnings {
		if w != record.CriticalEndurance { // said with the wear
			warn(record.WarnDriveCritical, "%s", criticalText(w, now))
		}
	}
	for _, w := range now.GroupWarnings {
		warn(record.WarnDriveCritical, "%s", groupText(w))
	}
	if fewSpares(now) {
		warn(record.WarnFewSpares, "%.0f %% of its spare blocks are left, fewer than its threshold of %.0f %%", 100**now.AvailableSpare, 100**now.AvailableSpareThreshold)
	}
	if now.PercentageUsed != nil && *now.PercentageUsed > nearlyWorn {
		text := wornText
		if slices.Contains(now.CriticalWarnings, record.CriticalEndurance) {
			text += "; " + criticalText(record.CriticalEndurance, now)
		}
		warn(record.WarnWorn, text, 100**now.PercentageUsed)
	}
	list = slices.Concat(list, selfTestWarnings(now), mediaDiesWarnings(now))
	before := r.add(now)
	if before != nil {
		if text := throttled(*before, now); text != "" {
			warn(record.WarnThrottling, "the drive slowed down to cool since it was last asked (%s)", text)
		}
	}
	hour := r.within(time.Hour, now.Time)
	if hour.critical > 0 {
		warn(record.WarnCriticallyHot, "above its critical temperature for %s of the last %s", units.Span(hour.critical), hour.span())
	} else if t, limit := composite(now), now.Identity.CriticalTemperature; reaches(now, limit) {
		// The drive counts in minutes, and a first reading has nothing to compare with.
		warn(record.WarnCriticallyHot, "%d °C now, and its critical temperature is %d °C", *t, *limit)
	}
	if hour.warning >= hotFor {
		warn(record.WarnHot, "above its warning temperature for %s of the last %s", units.Span(hour.warning), hour.span())
	} else if t, limit := composite(now), now.Identity.WarningTemperature; now.WarningTemperatureTime == nil && reaches(now, limit) {
		warn(record.WarnHot, "%d °C now, and its warning temperature is %d °C", *t, *limit)
	}
	if errors := r.within(24*time.Hour, now.Time).mediaErrors; errors > 0 && now.MediaErrors != nil {
		warn(record.WarnMediaErrors, "%d new media errors within a day, %d in all: data could not be read or was found damaged",
			errors, *now.MediaErrors)
	}
	return list
}

const failingText = "the drive says that it is failing (SMART status%s): copy what is on it, and replace it"

const wornText = "%.0f %% of the rated endurance is used"

// fewSpares reports whether the available spare is below its threshold and no critical warning says so already.
func fewSpares(h record.Health) bool {
	return h.AvailableSpare != nil && h.AvailableSpareThreshold != nil && *h.AvailableSpare < *h.AvailableSpareThreshold &&
		!h.Warns(record.CriticalSpare)
}

// throttled says which throttling counters have grown since before; empty if none has.
func throttled(before, now record.Health) string {
	var texts []string
	for i, t := range now.Throttling {
		if i >= len(before.Throttling) || before.Throttling[i].Level != t.Level {
			continue
		}
		was := before.Throttling[i]
		if more := t.Time - was.Time; more > 0 {
			texts = append(texts, fmt.Sprintf("%s throttling for %v", t.Level, more))
		} else if more := int64(t.Transitions - was.Transitions); more > 0 {
			texts = append(texts, fmt.Sprintf("%s throttling, %d times", t.Level, more))
		}
	}
	return strings.Join(texts, ", ")
}

// criticalText says what a critical warning means and what to do.
func criticalText(w record.CriticalWarning, h record.Health) string {
	switch w {
	case record.CriticalSpare:
		which := "the spare blocks are below the drive's threshold"
		switch left, threshold := h.AvailableSpare, h.AvailableSpareThreshold; {
		case left == nil || threshold == nil:
		case *left <= *threshold:
			which = fmt.Sprintf("the spare blocks (%.0f %%) are below the drive's threshold (%.0f %%)", 100**left, 100**threshold)
		default:
			which = fmt.Sprintf("the drive has too few spare blocks (%.0f %% are left on the whole)", 100**left)
		}
		return which + ": it may become read-only; replace it soon"
	case record.CriticalTemperature:
		return "a temperature is beyond its threshold" + temperatureText(h) +
			": the drive slows down or stops to protect itself; look at airflow, heat sink and fans"
	case record.CriticalReliability:
		return "the drive calls itself unreliable because of media or internal errors: copy what is on it, and replace it"
	case record.CriticalEndurance:
		return "the drive calls itself unreliable, probably because of that: it has no media errors and spare blocks enough"
	case record.CriticalReadOnly:
		return "all media are read-only now, usually at the end of the drive's life: copy what is on it, and replace it"
	case record.CriticalBackup:
		return "the backup of its volatile memory has failed (its capacitors): writes it called safe may be lost with the power; replace it"
	case record.CriticalPersistentMemory:
		return "its persistent memory region is unreliable or read-only: do not use that region, and ask the vendor"
	}
	return string(w)
}

// groupText says what a warning about an endurance group means, when the drive as a whole does not give it.
func groupText(w record.CriticalWarning) string {
	const elsewhere = ": copy what its namespaces hold, and replace the drive; others are not affected so far"
	switch w {
	case record.CriticalSpare:
		return "the spare blocks of one endurance group are below the drive's threshold: the group may become read-only; replace the drive soon"
	case record.CriticalReliability:
		return "the drive calls one endurance group unreliable because of media or internal errors" + elsewhere
	case record.CriticalReadOnly:
		return "the media of one endurance group are read-only now, usually at the end of their life" + elsewhere
	default: // there is no other
		return string(w)
	}
}

func temperatureText(h record.Health) string {
	if t := composite(h); t != nil {
		return fmt.Sprintf(" (%d °C now)", *t)
	}
	return ""
}

// composite returns the temperature of the drive as a whole, in degrees Celsius; nil if it is not reported.
func composite(h record.Health) *int {
	for _, t := range h.Temperatures {
		if t.Sensor == record.CompositeSensor {
			return &t.Celsius
		}
	}
	return nil
}

// reaches reports whether the temperature of the drive reaches a limit, and it does not say itself that it is too hot.
func reaches(h record.Health, limit *int) bool {
	t := composite(h)
	return t != nil && limit != nil && *t >= *limit && !h.Warns(record.CriticalTemperature)
}

// NamespaceWarnings describes what is wrong with a namespace.
func NamespaceWarnings(n record.NamespaceHealth) []record.Warning {
	allocated, ok := n.AllocatedRatio()
	if !ok || allocated >= mostlyUnwritten {
		return nil
	}
	return []record.Warning{{
		Code: record.WarnUnwritten,
		Text: fmt.Sprintf("only %.1f %% of the namespace holds data (NUSE/NSZE): reads of the rest are answered from a table at a speed "+
			"that is none", 100*allocated),
	}}
}

// DiskWarnings describes what is wrong with a SATA or SAS drive, as Warnings does for a controller.
func (r *Recent) DiskWarnings(now record.DiskHealth) []record.Warning {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addDisk(now)
	var list []record.Warning
	warn := func(code, format string, args ...any) {
		list = append(list, record.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	switch failed := now.Passed != nil && !*now.Passed; {
	case failed && now.TooHot:
		degrees := ""
		if t := now.TemperatureCelsius; t != nil {
			degrees = fmt.Sprintf(" (%d °C)", *t)
		}
		warn(record.WarnDriveCritical, "its temperature%s is above the drive's limit: look at airflow, heat sink and fans", degrees)
	case failed && now.Reason != "":
		warn(record.WarnDriveCritical, failingText, ": "+now.Reason)
	case failed:
		warn(record.WarnDriveCritical, failingText, "")
	}
	if now.PercentageUsed != nil && *now.PercentageUsed > nearlyWorn {
		warn(record.WarnWorn, wornText, 100**now.PercentageUsed)
	}
	bad := func(n *int64, what string) {
		if n != nil && *n > 0 {
			warn(record.WarnMediaErrors, "%d sectors %s: data in them may be lost", *n, what)
		}
	}
	bad(now.Pending(), "wait to be replaced")
	bad(now.UncorrectableSectors, "cannot be read")
	if more := r.within(24*time.Hour, now.Time).sectors; more > 0 && now.ReallocatedSectors != nil {
		warn(record.WarnMediaErrors, "%d sectors were replaced within a day, %d in all", more, *now.ReallocatedSectors)
	}
	return list
}
