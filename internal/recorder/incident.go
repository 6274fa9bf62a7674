package recorder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// around is how much time is kept before and after a trigger.
	around = time.Minute
	// longest is the longest time to which further triggers may extend a recording.
	longest = 5 * time.Minute
	// again is how long a device begins no other recording for the same kind of trigger. Otherwise a drive that
	// stalls all the time would displace all other recordings. What it does meanwhile is part of the recordings
	// that others begin.
	again = time.Hour
	// mostTriggers is the most triggers that a recording lists.
	mostTriggers = 32
	// retry is how long to wait before a recording that could not be written is due again.
	retry = 30 * time.Second
)

// incident describes a recording that is to be made.
type incident struct {
	id          string
	from, until time.Duration // on the steady clock
	triggers    []record.Trigger
	more        int
	retry       time.Duration // do not write the recording before this time
}

// has returns the index of a trigger that reports the same stall; -1 when there is none.
func (i *incident) has(t record.Trigger) int {
	return slices.IndexFunc(i.triggers, func(before record.Trigger) bool { return same(before, t) })
}

// same reports whether two triggers report the same stall, one of them with more details.
func same(a, b record.Trigger) bool {
	return a.Kind == record.TriggerStall && b.Kind == a.Kind && a.TargetID == b.TargetID && a.DeviceID == b.DeviceID && a.Time.Equal(b.Time)
}

// add adds a further trigger. at is when it happened, on the steady clock, and now is when it is reported.
func (i *incident) add(t record.Trigger, at, now time.Duration) {
	began := at
	switch before := i.has(t); {
	case before >= 0:
		i.triggers[before] = t
		at = now // the stall has lasted until about now
	case len(i.triggers) == mostTriggers:
		i.more++
	default:
		i.triggers = append(i.triggers, t)
	}
	i.from = min(i.from, began-around)
	i.until = max(i.until, min(at+around, i.from+longest))
}

// wanted returns the ids of the devices that triggered the recording.
func (i *incident) wanted() (ids []string) {
	for _, t := range i.triggers {
		ids = append(ids, t.DeviceID)
	}
	return ids
}

// name returns the id of a recording, made from its first trigger. If the id is taken, it gets a number.
func name(t record.Trigger, taken func(string) bool) string {
	id := t.Time.UTC().Format("20060102T150405Z") + "-" + strings.Map(inName, cmp.Or(t.Device, "node"))
	for n, first := 2, id; taken(id); n++ {
		id = fmt.Sprintf("%s-%d", first, n)
	}
	return id
}

// inName replaces characters that are not safe in file names and on command lines.
func inName(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
		return r
	}
	return '-'
}
