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
	// around is what is kept before a trigger and after it.
	around = time.Minute
	// longest is what further triggers may lengthen a recording to.
	longest = 5 * time.Minute
	// again is after what time a device begins another recording by the same kind of trigger. A drive that stalls
	// all the time would push out all others; what it does meanwhile is in those that they begin.
	again = time.Hour
	// mostTriggers is how many triggers a recording lists.
	mostTriggers = 32
	// retry is how long a recording that could not be written waits.
	retry = 30 * time.Second
)

// incident is what a recording is to be made of.
type incident struct {
	id          string
	from, until time.Duration // of the steady clock
	triggers    []record.Trigger
	more        int
	retry       time.Duration // not to be written before
}

// has is the place of the same trigger, told again; -1 when there is none.
func (i *incident) has(t record.Trigger) int {
	return slices.IndexFunc(i.triggers, func(before record.Trigger) bool { return same(before, t) })
}

// same reports whether two triggers are one stall, of which more is known by now.
func same(a, b record.Trigger) bool {
	return a.Kind == record.TriggerStall && b.Kind == a.Kind && a.TargetID == b.TargetID && a.DeviceID == b.DeviceID && a.Time.Equal(b.Time)
}

// add takes a further trigger. at is when that was, on the steady clock, and now when it is told.
func (i *incident) add(t record.Trigger, at, now time.Duration) {
	began := at
	switch before := i.has(t); {
	case before >= 0:
		i.triggers[before] = t
		at = now // as its end does
	case len(i.triggers) == mostTriggers:
		i.more++
	default:
		i.triggers = append(i.triggers, t)
	}
	i.from = min(i.from, began-around)
	i.until = max(i.until, min(at+around, i.from+longest))
}

// wanted are the devices that triggered it, by id.
func (i *incident) wanted() (ids []string) {
	for _, t := range i.triggers {
		ids = append(ids, t.DeviceID)
	}
	return ids
}

// name is what a recording is called: its first trigger. Further ones of the same second get a number.
func name(t record.Trigger, taken func(string) bool) string {
	id := t.Time.UTC().Format("20060102T150405Z") + "-" + strings.Map(inName, cmp.Or(t.Device, "node"))
	for n, first := 2, id; taken(id); n++ {
		id = fmt.Sprintf("%s-%d", first, n)
	}
	return id
}

// inName leaves what may stand in the name of a file and on a command line everywhere.
func inName(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
		return r
	}
	return '-'
}
