package state

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// Request asks for a change of what is stored about a target. A running daemon has the state in memory, so requests are
// left in the state directory for it; otherwise they are applied at once. A request without Import, Accept, Pin and
// Record asks to forget all baselines and to learn them anew.
type Request struct {
	Target string `json:"target,omitempty"` // id
	// Host asks to accept the common level of the node's drives, instead of a target's level.
	Host bool `json:"host,omitempty"`
	// Probe is the probe to change; empty means all probes of the target.
	Probe string `json:"probe,omitempty"`
	// Gone says that the filesystem or the directory of a probe file is gone for good. Where they were is then forgotten with
	// the baselines, so that the file may be made in their place. Without it, a filesystem that is only not mounted would
	// have its file on the one below.
	Gone bool `json:"gone,omitempty"`
	// Import is a baseline to use.
	Import *record.Baseline `json:"import,omitempty"`
	// Accept asks to accept the current level as normal; it is the note that says why.
	Accept string `json:"accept,omitempty"`
	// Condition asks to accept only what changes of this condition made slower.
	Condition string `json:"condition,omitempty"`
	// Pin pins the current baselines (true) or unpins them (false).
	Pin *bool `json:"pin,omitempty"`
	// Record asks for a recording of the target, or of the node if Target is empty. The request then asks for nothing
	// else.
	Record *RecordRequest `json:"record,omitempty"`
	// Asked is when the request was left; zero in requests of earlier versions.
	Asked time.Time `json:"asked,omitzero"`
}

// requestKept is how long after a request a daemon may carry it out: later, nobody expects it to happen.
const requestKept = 10 * time.Minute

// ErrTooLate says that a request is too old to be carried out.
var ErrTooLate = fmt.Errorf("it was asked for more than %.0f minutes ago; ask again", requestKept.Minutes())

// InTime returns ErrTooLate for a request that was left more than requestKept ago.
func (r Request) InTime(now time.Time) error {
	if !r.Asked.IsZero() && now.Sub(r.Asked) > requestKept {
		return ErrTooLate
	}
	return nil
}

// ErrUnknownTarget says that nothing is stored about a target or its probe.
var ErrUnknownTarget = errors.New("nothing is known about this target")

// Refused reports whether an error says that a request makes no sense now. Other errors say that something failed.
func Refused(err error) bool {
	return slices.ContainsFunc([]error{
		ErrTooLate, ErrUnknownTarget, drift.ErrNothingToAccept, drift.ErrMoving, drift.ErrPinned, drift.ErrNotLearned,
	}, func(refusal error) bool { return errors.Is(err, refusal) })
}

// String describes the request, for the log.
func (r Request) String() string {
	switch {
	case r.Record != nil:
		return "record"
	case r.Import != nil:
		return "import a baseline"
	case r.Host:
		return "accept the current level of the host"
	case r.Condition != "":
		return "accept the change of " + record.ConditionTitle(r.Condition)
	case r.Accept != "":
		return "accept the current level"
	case r.Pin != nil && *r.Pin:
		return "pin baselines"
	case r.Pin != nil:
		return "unpin baselines"
	}
	return "forget baselines"
}

// Submit carries out a request, or leaves it for the daemon that runs on the directory. If it was left, name is its
// name for TakeAnswer. If it was carried out, name is empty and accepted holds the accepted levels, keyed by probe or
// "traffic".
func (d Dir) Submit(r Request) (name string, accepted map[string]drift.Note, err error) {
	lock, err := d.takeLock()
	if errors.Is(err, store.ErrLocked) {
		name, err = d.Leave(r)
		return name, nil, err
	} else if err != nil {
		return "", nil, err
	}
	accepted, err = d.applyAll(r)
	return "", accepted, errors.Join(err, lock.Release())
}

// Leave leaves a request for the daemon, and returns its name; none if it could not be left.
func (d Dir) Leave(r Request) (name string, err error) {
	r.Asked = time.Now().UTC()
	name = fmt.Sprintf("%d", r.Asked.UnixNano())
	if err := d.Save(kindRequests, name, r); err != nil {
		return "", err
	}
	return name, nil
}

// applyAll is Apply, plus the changes that the request makes to the stored node.
func (d Dir) applyAll(r Request) (accepted map[string]drift.Note, err error) {
	accepted, err = d.Apply(r)
	return r.WithNode(accepted, err, func() (map[string]drift.Note, error) {
		n, err := d.RememberedNode()
		if err != nil {
			return nil, err
		}
		beside, err := r.ChangeNode(n, time.Now())
		if err != nil {
			return nil, err
		}
		return beside, d.SaveNode(n.State(time.Now()))
	})
}

// RecordRequest asks for a recording.
type RecordRequest struct {
	Asked time.Time `json:"asked"`
}

// ErrNotRunning says that no daemon runs on the state directory.
var ErrNotRunning = errors.New("no ssdprobe daemon runs on this state directory")

// AskToRecord leaves a request to record a target, or the node if target is empty, for the daemon that runs on the
// directory. It returns the name of the request, for TakeAnswer. Errors: ErrNotRunning, and those of the filesystem.
func (d Dir) AskToRecord(target string, now time.Time) (name string, err error) {
	lock, err := d.takeLock()
	switch {
	case errors.Is(err, store.ErrLocked):
		return d.Leave(Request{Target: target, Record: &RecordRequest{now.UTC()}})
	case err != nil:
		return "", err
	}
	return "", errors.Join(ErrNotRunning, lock.Release())
}

// Requests returns the names of the requests that were left, oldest first. The error joins what could not be read.
func (d Dir) Requests() ([]string, error) { return d.Names(kindRequests) }

// Request returns a request that was left.
func (d Dir) Request(name string) (r Request, err error) {
	_, err = d.Load(kindRequests, name, &r)
	return r, err
}

// Apply carries out a request on the stored state of its target. It returns the accepted levels, keyed by probe or
// "traffic".
func (d Dir) Apply(r Request) (accepted map[string]drift.Note, err error) {
	if r.Host { // it concerns no target
		return nil, nil
	}
	t, found, err := d.Target(r.Target)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Import != nil && r.Probe == "":
		return nil, fmt.Errorf("import a baseline for %s: no probe named", r.Target)
	case !found && r.Import == nil:
		return nil, fmt.Errorf("%s of %s: %w", r, r.Target, ErrUnknownTarget)
	case !found:
		t = Target{ID: r.Target}
	}
	now := time.Now()
	if err := r.Change(&t, now); err != nil {
		return nil, err
	}
	return t.Accepted(now), d.SaveTarget(t)
}

// WithNode carries out the part of an accept request that concerns the node, by calling change; a change of conditions does
// not concern it. onTarget and refused are the result of the same request for its target. The request succeeds if the
// target or the node has a level to accept. If the target refused it for another reason, change is not called. WithNode
// returns the accepted levels, keyed by probe or "traffic". If a source has two, it returns the one relative to the
// source's own past and not the one relative to its peers.
func (r Request) WithNode(
	onTarget map[string]drift.Note, refused error, change func() (map[string]drift.Note, error),
) (accepted map[string]drift.Note, err error) {
	if r.Accept == "" || r.Condition != "" || refused != nil && !errors.Is(refused, drift.ErrNothingToAccept) {
		return onTarget, refused
	}
	accepted, err = change()
	if !r.Host && (errors.Is(err, drift.ErrNothingToAccept) || errors.Is(err, drift.ErrMoving) && refused == nil) {
		return onTarget, refused // what the target accepted is stored already
	}
	if err != nil {
		return nil, err
	}
	maps.Copy(accepted, onTarget)
	return accepted, nil
}

// ChangeNode accepts the level of the request's target relative to its peers, or that of the host. It returns what was
// accepted, keyed by probe or "traffic". Errors: drift.ErrNothingToAccept and drift.ErrMoving.
func (r Request) ChangeNode(n *judge.Node, now time.Time) (map[string]drift.Note, error) {
	if r.Host {
		return n.AcceptHost(r.Accept, now)
	}
	return n.AcceptLevels(r.Target, r.Probe, r.Accept, now)
}

// Change carries out a request on t. If the request is refused, t is unchanged.
func (r Request) Change(t *Target, now time.Time) error {
	changed := map[string]drift.State{}
	maps.Copy(changed, t.Probes)
	names := t.ProbeNames()
	ofTraffic := t.Traffic != nil && r.Import == nil && r.Pin == nil
	if ofTraffic {
		changed[judge.Traffic] = *t.Traffic
		names = append(names, judge.Traffic)
	}
	if r.Probe != "" {
		if r.Import == nil && !slices.Contains(names, r.Probe) {
			return fmt.Errorf("%s of %s, probe %s: %w", r, r.Target, r.Probe, ErrUnknownTarget)
		}
		names = []string{r.Probe}
	}
	if len(names) == 0 && (r.Pin != nil || r.Accept != "") {
		return fmt.Errorf("%s of %s: %w", r, r.Target, ErrUnknownTarget)
	}
	var done int
	var refused refusals
	for _, name := range names {
		state, keep, err := r.changed(changed[name], now)
		switch {
		case err == nil && keep:
			changed[name] = state
		case err == nil:
			delete(changed, name)
		case name == judge.Traffic:
			refused.add(name, err)
			continue
		default:
			refused.add("probe "+name, err)
			continue
		}
		done++
	}
	traffic := t.Traffic
	if ofTraffic {
		traffic = nil
		if state, kept := changed[judge.Traffic]; kept {
			traffic = &state
		}
		delete(changed, judge.Traffic)
	}
	// In a request for all probes, those with nothing to accept or to pin do not matter, unless there are no others.
	minor := func(r refusal) bool {
		return errors.Is(r.cause, drift.ErrNothingToAccept) || errors.Is(r.cause, drift.ErrNotLearned)
	}
	if major := slices.DeleteFunc(slices.Clone(refused), minor); len(major) > 0 || done > 0 {
		refused = major
	}
	if len(refused) > 0 {
		return fmt.Errorf("%s of %s: %w", r, r.Target, refused.join())
	}
	t.Probes, t.Traffic, t.Idle = changed, traffic, r.idle(t.Idle, now)
	if r.Gone {
		t.MountPoint, t.Directory, t.Foreign = "", false, false
	}
	return nil
}

// idle returns the states of the probes that do not run now after the request. To forget or to unpin a target concerns them, too.
func (r Request) idle(states map[string]drift.State, now time.Time) map[string]drift.State {
	if r.Probe != "" || r.Accept != "" || r.Pin != nil && *r.Pin {
		return states
	}
	after := map[string]drift.State{}
	for name, state := range states {
		if s, keep, err := r.changed(state, now); keep || err != nil {
			after[name] = s
		}
	}
	return after
}

// changed returns the state of one probe after the request, and whether to keep it.
func (r Request) changed(state drift.State, now time.Time) (after drift.State, keep bool, err error) {
	if r.Import != nil {
		b := *r.Import
		b.Conditions = probe.Inherit(b.Conditions)
		r.Import = &b
	}
	switch {
	case r.Import != nil && state.Pinned(&r.Import.Conditions):
		return state, true, drift.ErrPinned
	case r.Import != nil:
		after, err = state.WithBaseline(*r.Import, now)
	case r.Condition != "":
		after, err = state.AcceptChange(now, r.Condition, r.Accept)
	case r.Accept != "":
		after, err = state.Accept(now, r.Accept)
	case r.Pin != nil && *r.Pin:
		after, err = state.Pin()
	case r.Pin != nil:
		after = state.Unpin()
	case state.Pinned(nil):
		return state, true, drift.ErrPinned
	default:
		return drift.State{}, false, nil
	}
	return after, true, err
}

// refusals are the reasons for which parts of a request were refused, each with the names of those parts.
type refusals []refusal

type refusal struct {
	cause error
	names []string
}

func (all *refusals) add(name string, cause error) {
	if i := slices.IndexFunc(*all, func(r refusal) bool { return r.cause.Error() == cause.Error() }); i >= 0 {
		(*all)[i].names = append((*all)[i].names, name)
		return
	}
	*all = append(*all, refusal{cause, []string{name}})
}

// join returns one error that names each cause once.
func (all refusals) join() error {
	var problems []error
	for _, r := range all {
		problems = append(problems, fmt.Errorf("%w (%s)", r.cause, strings.Join(r.names, ", ")))
	}
	return errors.Join(problems...)
}
