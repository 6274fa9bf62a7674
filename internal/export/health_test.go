package export_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

// Every field of a drive's health must have a metric in nvme.go or drive.go.
func TestEveryFieldOfHealthIsExported(t *testing.T) {
	shown := func(change func(*record.Controller)) string {
		s := recordtest.Snapshot()
		s.Controllers = append(s.Controllers[:1], sataDrive())
		for i := range s.Controllers {
			change(&s.Controllers[i])
		}
		_, text := exposition(t, gather(t, s, export.NewLatencies()))
		return text
	}
	check := func(field string, whole, without func(*record.Controller)) {
		// These have no metrics: the time of the reading, the identity, the namespaces, how reliable a count is, and reasons in words.
		if !slices.Contains([]string{"Time", "Identity", "Namespaces", "PendingFlips", "Reason"}, field) {
			assert.NotEqual(t, shown(whole), shown(without), "no metric shows %s", field)
		}
	}
	nvme := func() record.Health {
		h := *recordtest.Snapshot().Controllers[0].Health
		h.CriticalWarnings = record.CriticalWarnings()[:3]
		h.GroupWarnings = []record.CriticalWarning{record.CriticalReadOnly}
		return h
	}
	with := func(h record.Health) func(*record.Controller) {
		return func(c *record.Controller) {
			if c.Health != nil {
				c.Health = &h
			}
		}
	}
	recordtest.EachField(t, nvme, func(field string, h record.Health) { check(field, with(nvme()), with(h)) })
	sata := func() record.DiskHealth {
		d := *sataDrive().Disk
		d.Asleep, d.PendingFlips, d.Passed, d.Reason, d.TooHot = true, true, new(false), "hot", true
		return d
	}
	disk := func(d record.DiskHealth) func(*record.Controller) {
		return func(c *record.Controller) {
			if c.Disk != nil {
				c.Disk = &d
			}
		}
	}
	recordtest.EachField(t, sata, func(field string, d record.DiskHealth) { check(field, disk(sata()), disk(d)) })
}
