package nodestatus

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssdprobe/ssdprobe/internal/check"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// The reasons of events about the end of a verdict. Those of its beginning are those of the condition.
const (
	DriveRecovered = "DriveRecovered"
	DriveGone      = "DriveGone"
)

// host is the key of the host among what was told; drives are told by the id of their target.
const host = ""

// subject is a drive, or the host, and what is said of it now.
type subject struct {
	name    string
	verdict record.Judgement
}

// subjects are those of a snapshot, by what they are told under.
func subjects(s record.Snapshot) map[string]subject {
	all := map[string]subject{}
	for _, d := range check.Of(s, nil).Drives {
		all[d.TargetID] = subject{d.Name(), d.Verdict}
	}
	if s.Host != nil {
		all[host] = subject{"the host", *s.Host}
	}
	return all
}

// news is an event that is still to be told, and what has been told after it.
type news struct {
	id    string
	after *record.ToldVerdict // nil when the verdict has ended
	event event
}

// newsOf is what has changed since the last event about each drive. A drive that is not judged is neither slow nor
// healthy: nothing is said of it.
func newsOf(told map[string]record.ToldVerdict, s record.Snapshot) []news {
	var all []news
	now := subjects(s)
	for _, id := range slices.Sorted(maps.Keys(now)) {
		before, is := told[id], now[id]
		switch v := is.verdict; {
		case v.Verdict.Blames() && v.Verdict != before.Verdict:
			reason := DriveDegraded
			if v.Verdict == record.Severe {
				reason = DriveSevere
			}
			after := &record.ToldVerdict{Name: is.name, Verdict: v.Verdict, Since: v.Since, Eased: before.Eased}
			if before.Verdict == record.Severe {
				after.Eased++
			}
			all = append(all, news{id, after, event{Type: "Warning", Reason: reason, Note: is.name + " is " + report.DriveVerdict(v)}})
		case before.Verdict.Blames() && (v.Verdict == record.Healthy || v.Verdict == record.Watch):
			all = append(all, news{id, nil, event{Type: "Normal", Reason: DriveRecovered, Note: is.name + " is " + string(v.Verdict) + " again" + was(before)}})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(told)) {
		if _, here := now[id]; !here && id != host {
			all = append(all, news{id, nil, event{Type: "Normal", Reason: DriveGone, Note: told[id].Name + " is no longer watched" + was(told[id])}})
		}
	}
	return all
}

// was says what a verdict was that has ended.
func was(t record.ToldVerdict) string {
	return fmt.Sprintf("; it was %s since %s", t.Verdict, units.Time(t.Since))
}

// longestNote is how many bytes the API server takes.
const longestNote = 1024

// tell creates the event. One that is there already is one whose answer was lost.
func (r *Reporter) tell(ctx context.Context, on node, n news) error {
	e := n.event
	e.APIVersion, e.Kind = "events.k8s.io/v1", "Event"
	// Events about what is in no namespace are in this one.
	e.Metadata.Name, e.Metadata.Namespace = r.eventName(n), "default"
	e.EventTime, e.ReportingController, e.ReportingInstance, e.Action = metav1.NewMicroTime(time.Now()), "ssdprobe", r.options.Node, "Judge"
	e.Regarding = reference{APIVersion: "v1", Kind: "Node", Name: on.Metadata.Name, UID: on.Metadata.UID}
	e.Note = cut(e.Note)
	if err := r.cluster.createEvent(ctx, e); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create an event about the node: %w", err)
	}
	return nil
}

// eventName is the same whenever the same is told. A verdict may come back in one episode: it is told again after it
// has eased.
func (r *Reporter) eventName(n news) string {
	of := r.told[n.id]
	if n.after != nil {
		of = *n.after
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%q %s %s %d %d", n.id, n.event.Reason, of.Verdict, of.Since.Unix(), of.Eased) // a hash takes everything
	return fmt.Sprintf("%s.%016x", r.options.Node, h.Sum64())
}

// cut shortens a note to what the API server takes.
func cut(text string) string {
	if len(text) <= longestNote {
		return text
	}
	return strings.ToValidUTF8(text[:longestNote-len("…")], "") + "…"
}

// tellNews creates the events that are due. What was told is kept, so that a restart repeats none.
func (r *Reporter) tellNews(ctx context.Context, on node, all []news) error {
	var problems []error
	told := maps.Clone(r.told)
	for _, n := range all {
		if err := r.tell(ctx, on, n); err != nil {
			problems = append(problems, err)
			break // the others would fail alike
		}
		if n.after == nil {
			delete(told, n.id)
		} else {
			told[n.id] = *n.after
		}
	}
	if !maps.Equal(told, r.told) {
		r.told = told
		r.options.Keep(maps.Clone(told))
	}
	return errors.Join(problems...)
}
