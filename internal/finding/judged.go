package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// sameEvent is the longest time between onsets that still belong to one event, as different probes
// and the traffic report them.
const sameEvent = time.Hour

// ofTogether lists what drives of the node did together: one finding for each event, however many
// sources saw it.
func ofTogether(all []record.Together, targets []record.TargetStatus) []Finding {
	var list []Finding
	for events := slices.Clone(all); len(events) > 0; {
		first := slices.MinFunc(events, func(a, b record.Together) int { return a.Since.Compare(b.Since) })
		other := func(t record.Together) bool {
			return t.Since.Sub(first.Since) > sameEvent || twoBatches(first, t, targets)
		}
		list = append(list, ofEvent(slices.DeleteFunc(slices.Clone(events), other), targets))
		events = slices.DeleteFunc(events, func(t record.Together) bool { return !other(t) })
	}
	return list
}

// twoBatches reports whether two batches have no drive in common, so that one finding would name the drives of one only.
func twoBatches(a, b record.Together, targets []record.TargetStatus) bool {
	of, with := devicesOf(a.Drives, targets), devicesOf(b.Drives, targets)
	return a.Scope == record.ScopeBatch && b.Scope == record.ScopeBatch && len(of) > 0 && len(with) > 0 &&
		!slices.ContainsFunc(of, func(id string) bool { return slices.Contains(with, id) })
}

// devicesOf returns the ids of the devices of targets: of files, those that they are on.
func devicesOf(ids []string, targets []record.TargetStatus) []string {
	devices := slices.Clone(ids)
	for i, id := range ids {
		for _, t := range targets {
			if t.ID == id {
				devices[i] = cmp.Or(t.Device.ID, id)
			}
		}
	}
	return devices
}

// ofEvent returns one finding for what several statistics report of one event.
func ofEvent(seen []record.Together, targets []record.TargetStatus) Finding {
	most, code, text := seen[0], BatchSlower, "several drives got slower together"
	for _, t := range seen {
		if t.Scope == record.ScopeHost {
			code, text = HostSlower, "the host is slower: its drives got slower together"
		}
		if len(t.Drives) > len(most.Drives) {
			most = t
		}
	}
	drives := fmt.Sprintf("%d of %d drives", len(most.Drives), most.Of)
	if most.Of == 0 { // no drive has been measured lately
		drives = "its drives were not measured lately"
	}
	if code == BatchSlower {
		drives += ": " + strings.Join(namesOf(most.Drives, targets), ", ")
	}
	f := found(code, text, drives)
	if of := inCommon(most.Drives, targets); of != "" && code == BatchSlower {
		f.Evidence = append(f.Evidence, OneLine(of))
	}
	told := map[string]bool{}
	var changes []record.Change
	for _, t := range seen { // the first statistic of a source is the most telling one
		if !told[t.Source] {
			told[t.Source] = true
			ratio := units.RatioWithin(t.Ratio.Ratio, t.Ratio.Lower, t.Ratio.Upper)
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s %s %s%s", t.Source, t.Statistic.Short(), ratio, t.LastCompared()))
		}
		changes = addChanges(changes, t.Attribution)
		if f.Since.IsZero() || t.Since.Before(f.Since) {
			f.Since = t.Since
		}
	}
	f.Evidence = append(f.Evidence, changedWith(changes)...)
	return f
}

// inCommon names the model of drives if they have one, and their firmware if that is one, too, and no other drive of the model has it.
func inCommon(ids []string, targets []record.TargetStatus) string {
	var first record.Device
	seen, sameModel, sameFirmware, others, elsewhere := false, true, true, false, false
	for _, t := range targets {
		if d := t.Device; slices.Contains(ids, t.ID) {
			if !seen {
				seen, first = true, d
			}
			sameModel, sameFirmware = sameModel && d.Model == first.Model, sameFirmware && d.Firmware == first.Firmware
		}
	}
	if first.Model == "" || !sameModel {
		return ""
	}
	for _, t := range targets {
		if d := t.Device; d.Model == first.Model && !slices.Contains(ids, t.ID) {
			others, elsewhere = true, elsewhere || d.Firmware == first.Firmware
		}
	}
	text := "all are " + first.Model
	if sameFirmware && first.Firmware != "" && others && !elsewhere {
		text += " with firmware " + first.Firmware
	}
	return text
}

// namesOf returns the names of targets, in the order of their ids.
func namesOf(ids []string, targets []record.TargetStatus) []string {
	var names []string
	for _, id := range slices.Sorted(slices.Values(ids)) {
		name := id
		for _, t := range targets {
			if t.ID == id {
				name = nameOf(t)
			}
		}
		names = append(names, name)
	}
	return names
}

// nameOf returns the name of a device, or of a file, which may be on a device that is a target, too.
func nameOf(t record.TargetStatus) string {
	if t.File {
		return record.FileOn(t.Path, t.Device.Name)
	}
	return cmp.Or(t.Device.Name, t.ID)
}

// ofVerdict lists the findings that follow from the verdict on a drive and not from the states of
// its probes.
func ofVerdict(t record.TargetStatus, now time.Time) []Finding {
	v := t.Verdict
	if v != nil && v.Verdict == record.Unjudged && len(t.Probes) == 0 && tellUnjudged(v.Unjudged, now) {
		return []Finding{found(NotJudged, "the drive was not judged for a day", v.Unjudged.String()).from(v.Unjudged.Since)}
	}
	if v == nil || !v.Verdict.Blames() {
		return nil
	}
	if v.Held {
		text, evidence := "it is better now, but", []string{"verdict " + string(v.Verdict)}
		if v.Unjudged != nil {
			text, evidence = "it is not judged now, and", append(evidence, v.Unjudged.String())
		}
		f := found(Held, "slow or failing at times: "+text+" the trouble came back within a week", evidence...)
		return []Finding{f.from(v.Since)}
	}
	if !slices.Contains(v.ThanBefore, record.WitnessTraffic) {
		return nil
	}
	text, evidence := "the drive's own traffic is slower than before", []string(nil)
	switch {
	case v.Source != record.SourceTraffic: // the ratio is of a probe
	case v.Ratio.Ratio == 0:
		text = "slow times of the drive's own traffic have become common; the others are as before"
	default:
		evidence = append(evidence, units.RatioWithin(v.Ratio.Ratio, v.Ratio.Lower, v.Ratio.Upper))
	}
	if v.Unjudged != nil && v.Source == record.SourceTraffic { // else it says why a probe is not compared
		text, evidence = "the drive's own traffic was slower than before when it was last compared", append(evidence, v.Unjudged.String())
	}
	if v.Source == record.SourceTraffic { // else the finding of the probe has it
		evidence = append(evidence, changedWith(v.Attribution)...)
	}
	return []Finding{found(TrafficSlower, text, evidence...).from(v.Onset(record.WitnessTraffic))}
}
