package state

import (
	"errors"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// Answer is the daemon's answer to a request that was left for it.
type Answer struct {
	Time time.Time `json:"time"`
	// Refused says why nothing was changed; empty if the request was carried out.
	Refused string `json:"refused,omitempty"`
	// Accepted holds the levels that were accepted, keyed by probe or "traffic".
	Accepted map[string]drift.Note `json:"accepted,omitempty"`
}

var (
	// ErrNoAnswer says that the daemon took a request but left no answer.
	ErrNoAnswer = errors.New("the daemon took the request and could not leave its answer; its log says how that went")
	// ErrWithdrawn says that a request that only a daemon can carry out was withdrawn.
	ErrWithdrawn = errors.New("withdrawn: the daemon ended before it took the request")
)

// answerKept is how long an answer is kept for whoever asked.
const answerKept = 10 * time.Minute

// AnswerRequest stores the answer to a request and removes the request.
func (d Dir) AnswerRequest(name string, a Answer) error {
	// In this order: no request remains unanswered if the daemon ends between the two. TidyRequests then removes it.
	return errors.Join(d.Save(kindAnswers, name, a), d.Remove(kindRequests, name))
}

// TidyRequests removes requests that an earlier daemon has answered, so that they are not carried out twice, and answers
// that nobody has taken within answerKept. Damaged requests and answers are set aside; the
// error says so.
func (d Dir) TidyRequests(now time.Time) error {
	problems := []error{d.SetDamagedAside(kindRequests), d.SetDamagedAside(kindAnswers)}
	names, err := d.Names(kindAnswers)
	problems = append(problems, err)
	for _, name := range names {
		var old Answer
		found, err := d.Load(kindAnswers, name, &old)
		if err == nil && found {
			err = d.Remove(kindRequests, name)
		}
		if err == nil && found && now.Sub(old.Time) > answerKept {
			err = d.Remove(kindAnswers, name)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// TakeAnswer returns the answer to a request and removes it; found is false while there is none. If the daemon has
// ended without carrying out the request, TakeAnswer carries it out, so that no later daemon does. Errors: ErrNoAnswer,
// ErrWithdrawn, and those of carrying it out.
func (d Dir) TakeAnswer(name string) (a Answer, found bool, err error) {
	lock, err := d.takeLock()
	if errors.Is(err, store.ErrLocked) { // the daemon runs
		return d.leftAnswer(name)
	} else if err != nil {
		return a, false, err
	}
	a, found, err = d.leftAnswer(name)
	switch {
	case found: // the daemon may have ended before it removed the request
		err = errors.Join(err, d.Remove(kindRequests, name))
	case err == nil:
		a, err = d.takeBack(name)
		found = err == nil
	}
	return a, found, errors.Join(err, lock.Release())
}

// leftAnswer is TakeAnswer while the daemon runs.
func (d Dir) leftAnswer(name string) (a Answer, found bool, err error) {
	// In this order: the daemon stores the answer before it removes the request.
	waits, err := d.Load(kindRequests, name, new(Request))
	if err != nil {
		return a, false, err
	}
	found, err = d.Load(kindAnswers, name, &a)
	switch {
	case err != nil:
		return a, false, err
	case found:
		return a, true, d.Remove(kindAnswers, name)
	case !waits:
		return a, false, ErrNoAnswer
	}
	return a, false, nil
}

// takeBack carries out a request that was left for a daemon which has ended.
func (d Dir) takeBack(name string) (a Answer, err error) {
	r, err := d.Request(name)
	if err == nil {
		err = d.Remove(kindRequests, name)
	}
	switch {
	case err != nil:
		return a, err
	case r.Record != nil:
		return a, ErrWithdrawn
	}
	a.Time = time.Now().UTC()
	a.Accepted, err = d.applyAll(r)
	return a, err
}
