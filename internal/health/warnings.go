package health

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// mostlyUnwritten is the share of a namespace below which most of it holds no data.
	mostlyUnwritten = 0.5
	// wornOut is the used share of the foreseen life from which on it is over.
	wornOut = 1
)

// Warnings says in words what is wrong with a controller and what to do about it. before
// is its reading before this one, nil when there was none: what has grown since tells
// whether something goes on now. Warnings of one namespace are those of Namespace.
func Warnings(name string, before *record.Health, now record.Health) []record.Warning {
	var list []record.Warning
	warn := func(code, format string, args ...any) {
		list = append(list, record.Warning{Code: code, Text: name + ": " + fmt.Sprintf(format, args...)})
	}
	for _, w := range now.CriticalWarnings {
		warn(record.WarnDriveCritical, "%s", criticalText(w, now))
	}
	if now.PercentageUsed >= wornOut {
		warn(record.WarnWorn, "%.0f %% of the rated endurance is used",
			100*now.PercentageUsed)
	}
	if before == nil || before.Identity.Serial != now.Identity.Serial {
		return list
	}
	if text := throttled(*before, now); text != "" {
		warn(record.WarnThrottling, "the drive slowed down to cool since it was last asked (%s)", text)
	}
	if n := now.MediaErrors - before.MediaErrors; now.MediaErrors > before.MediaErrors {
		warn(record.WarnMediaErrors, "%d new media errors since it was last asked, %d in all: data could not be read or was found damaged",
			n, now.MediaErrors)
	}
	return list
}

// throttled says what of the counters of heat has grown; empty when nothing has. The
// time above the critical temperature counts: no drive is at full speed there.
func throttled(before, now record.Health) string {
	for i, t := range now.Throttling {
		if i >= len(before.Throttling) || before.Throttling[i].Level != t.Level {
			continue
		}
		was := before.Throttling[i]
		if more := t.Time - was.Time; more > 0 {
			return fmt.Sprintf("%s throttling for %v", t.Level, more)
		}
		if more := int64(t.Transitions - was.Transitions); more > 0 {
			return fmt.Sprintf("%s throttling, %d times", t.Level, more)
		}
	}
	if a, b := before.CriticalTemperatureTime, now.CriticalTemperatureTime; a != nil && b != nil && *b > *a {
		return fmt.Sprintf("%v above its critical temperature", *b-*a)
	}
	return ""
}

// criticalText says what a critical warning means and what to do.
func criticalText(w record.CriticalWarning, h record.Health) string {
	switch w {
	case record.CriticalSpare:
		left, threshold := "", ""
		if h.AvailableSpare != nil && h.AvailableSpareThreshold != nil {
			left, threshold = fmt.Sprintf(" (%.0f %%)", 100**h.AvailableSpare), fmt.Sprintf(" (%.0f %%)", 100**h.AvailableSpareThreshold)
		}
		return fmt.Sprintf("the spare blocks%s are below the drive's threshold%s: it may become read-only; replace it soon", left, threshold)
	case record.CriticalTemperature:
		return "a temperature is beyond its threshold" + temperatureText(h) +
			": the drive slows down or stops to protect itself; look at airflow, heat sink and fans"
	case record.CriticalReliability:
		return "the drive calls itself unreliable because of media or internal errors: copy what is on it, and replace it"
	case record.CriticalReadOnly:
		return "all media are read-only now, usually at the end of the drive's life: copy what is on it, and replace it"
	case record.CriticalBackup:
		return "the backup of its volatile memory has failed (its capacitors): writes it called safe may be lost with the power; replace it"
	case record.CriticalPersistentMemory:
		return "its persistent memory region is unreliable or read-only: do not use that region, and ask the vendor"
	}
	return string(w)
}

func temperatureText(h record.Health) string {
	for _, t := range h.Temperatures {
		if t.Sensor == record.CompositeSensor {
			return fmt.Sprintf(" (%d °C now)", t.Celsius)
		}
	}
	return ""
}

// NamespaceWarnings says what is wrong with the namespace that a device is.
func NamespaceWarnings(device string, n record.NamespaceHealth) []record.Warning {
	allocated, ok := n.AllocatedRatio()
	if !ok || allocated >= mostlyUnwritten {
		return nil
	}
	return []record.Warning{{
		Code: record.WarnUnwritten,
		Text: fmt.Sprintf("%s: only %.1f %% of the namespace holds data (NUSE/NSZE): reads of the rest are answered from a table at a speed "+
			"that is none", device, 100*allocated),
	}}
}

// DiskWarnings says what is wrong with a SATA or SAS drive. before is nil when there
// was no reading before.
func DiskWarnings(name string, before *record.DiskHealth, now record.DiskHealth) []record.Warning {
	var list []record.Warning
	warn := func(code, format string, args ...any) {
		list = append(list, record.Warning{Code: code, Text: name + ": " + fmt.Sprintf(format, args...)})
	}
	if now.Passed != nil && !*now.Passed {
		warn(record.WarnDriveCritical, "the drive says that it is failing (SMART status): copy what is on it, and replace it")
	}
	if now.PercentageUsed != nil && *now.PercentageUsed >= wornOut {
		warn(record.WarnWorn, "%.0f %% of the rated endurance is used",
			100**now.PercentageUsed)
	}
	bad := func(n *int64, harmless int64, what string) {
		if n != nil && *n > harmless {
			warn(record.WarnMediaErrors, "%d sectors %s: data in them may be lost", *n, what)
		}
	}
	var flips int64
	if now.PendingFlips {
		flips = 1
	}
	bad(now.PendingSectors, flips, "wait to be replaced")
	bad(now.UncorrectableSectors, 0, "cannot be read")
	if before != nil && before.ReallocatedSectors != nil && now.ReallocatedSectors != nil {
		if more := *now.ReallocatedSectors - *before.ReallocatedSectors; more > 0 {
			warn(record.WarnMediaErrors, "%d sectors were replaced since it was last asked, %d in all",
				more, *now.ReallocatedSectors)
		}
	}
	return list
}

// Critical reports whether a drive itself says, in one of the warnings, that something
// is wrong with it.
func Critical(warnings []record.Warning) bool {
	for _, w := range warnings {
		if w.Code == record.WarnDriveCritical {
			return true
		}
	}
	return false
}
