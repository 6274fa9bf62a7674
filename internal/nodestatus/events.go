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

// The reasons of events about the end of a verdict. Events about its beginning have the reasons of the
// condition.
const (
	DriveRecovered = "DriveRecovered"
	DriveGone      = "DriveGone"
)

// host is the key of the host in Reporter.told. The key of a drive is the id of its target.
const host = ""

// subject is a drive or the host, and the current verdict on it.
type subject struct {
	name    string
	verdict record.Judgement
}

// subjects returns the subjects of a snapshot, by their keys in Reporter.told.
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

// news is an event to create, and what is recorded as told afterwards.
type news struct {
	id    string
	after *record.ToldVerdict // nil when the verdict has ended
	event event
}

// newsOf returns what has changed since the last event about each drive. Nothing is reported about a drive that
// is not judged, which is neither slow nor healthy.
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
			all = append(all, news{id, after, event{Type: "Warning", Reason: reason, Note: is.name + " is " + report.DriveVerdict(v, units.UTC)}})
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

// was describes a verdict that has ended.
func was(t record.ToldVerdict) string {
	return fmt.Sprintf("; it was %s since %s", t.Verdict, units.UTC(t.Since))
}

// longestNote is the most bytes that the API server accepts in a note.
const longestNote = 1024

// tell creates the event. If it already exists, the answer to an earlier attempt was lost.
func (r *Reporter) tell(ctx context.Context, on node, n news) error {
	e := n.event
	e.APIVersion, e.Kind = "events.k8s.io/v1", "Event"
	// Events about objects without a namespace belong to this namespace.
	e.Metadata.Name, e.Metadata.Namespace = r.eventName(n), "default"
	e.EventTime, e.ReportingController, e.ReportingInstance, e.Action = metav1.NewMicroTime(time.Now()), "ssdprobe", r.options.Node, "Judge"
	e.Regarding = reference{APIVersion: "v1", Kind: "Node", Name: on.Metadata.Name, UID: on.Metadata.UID}
	e.Note = cut(e.Note)
	if err := r.cluster.createEvent(ctx, e); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create an event about the node: %w", err)
	}
	return nil
}

// eventName returns the same name whenever the same news is told. A verdict that returns in one episode is told
// again after it has eased; Eased then makes the name differ.
func (r *Reporter) eventName(n news) string {
	of := r.told[n.id]
	if n.after != nil {
		of = *n.after
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%q %s %s %d %d", n.id, n.event.Reason, of.Verdict, of.Since.Unix(), of.Eased) // hashing cannot fail
	return fmt.Sprintf("%s.%016x", r.options.Node, h.Sum64())
}

// cut shortens a note to the length that the API server accepts.
func cut(text string) string {
	if len(text) <= longestNote {
		return text
	}
	return strings.ToValidUTF8(text[:longestNote-len("…")], "") + "…"
}

// tellNews creates the events that are due. It keeps what was told, so that none is repeated after a restart.
func (r *Reporter) tellNews(ctx context.Context, on node, all []news) error {
	var problems []error
	told := maps.Clone(r.told)
	for _, n := range all {
		if err := r.tell(ctx, on, n); err != nil {
			problems = append(problems, err)
			break // the others would fail, too
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
