package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const dayAndTime = "2006-01-02 15:04:05 UTC"

// moment is a time as the page shows it.
type moment struct{ Machine, UTC, Ago string }

// at returns t in UTC, without the date when that is today. It is nil for the zero time.
func at(t, now time.Time) *moment {
	if t.IsZero() {
		return nil
	}
	t, now = t.UTC(), now.UTC()
	layout := dayAndTime
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		layout = "15:04:05 UTC"
	}
	return &moment{Machine: t.Format(time.RFC3339), UTC: t.Format(layout), Ago: keep(units.Ago(t, now))}
}

// asOf is like at, but always has the date, and not how long ago.
func asOf(t time.Time) *moment {
	t = t.UTC()
	return &moment{Machine: t.Format(time.RFC3339), UTC: t.Format(dayAndTime)}
}

// evidence returns what a verdict is based on.
func evidence(j record.Judgement, now time.Time) string {
	return report.VerdictDetail(j, func(t time.Time) string { return at(t, now).UTC })
}

// whyNotHealthy returns the same, and nothing for a verdict that is healthy.
func whyNotHealthy(j record.Judgement, now time.Time) string {
	if j.Verdict == record.Healthy {
		return ""
	}
	return evidence(j, now)
}

// keep keeps a short text on one line. "3 060 ok" would be misread if broken after the 3.
func keep(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }

// workload returns text such as "4 KiB random read, depth 1, 256 I/Os every 30 s".
func workload(p record.Probe) string {
	text := fmt.Sprintf("%s %s %s", units.BlockSize(p.BlockBytes), p.Pattern, p.Direction)
	if p.Datasync {
		text += " + fdatasync"
	}
	return fmt.Sprintf("%s, depth %d, %s every %s", text, p.QueueDepth, units.Plural(p.IOs, "I/O"), units.Span(p.Interval))
}

// about returns text such as "SAMSUNG MZQL23T8HCLS-00A07, 3.84 TB", as far as it is known.
func about(d record.Device) string { return known(d.Model, size(d.SizeBytes)) }

// identity returns everything that distinguishes the drive from others of its kind.
func identity(d record.Device) string {
	at, link, zoned := "", "", ""
	if d.PCIAddress != "" {
		at = "PCI address " + d.PCIAddress
	}
	if d.Link != nil {
		link = report.LinkText(*d.Link)
	}
	if d.Zoned != "" {
		zoned = "zoned " + d.Zoned
	}
	return known(report.DeviceText(d), d.Transport, at, link, zoned)
}

// onDevice prepends the device that a file is on.
func onDevice(t record.TargetStatus, text string) string {
	if t.File && t.Device.Name != "" {
		return "on " + t.Device.Name + ", " + text
	}
	return text
}

// known joins the parts that are not empty with commas.
func known(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

func size(bytes int64) string {
	if bytes <= 0 {
		return ""
	}
	return units.DriveSize(bytes)
}
