package state

import (
	"errors"
	"time"
)

// Answer is what the daemon says to a request that was left.
type Answer struct {
	Time time.Time `json:"time"`
	// Refused says why nothing was changed; empty when the request was carried out.
	Refused string `json:"refused,omitempty"`
}

// answerKept is how long an answer waits for who asked; after that nobody does.
const answerKept = 10 * time.Minute

// AnswerRequest removes a request and leaves the answer to it: err is why it was refused, or nil. Answers that nobody
// has taken are removed.
func (d Dir) AnswerRequest(name string, err error) error {
	a := Answer{Time: time.Now().UTC()}
	if err != nil {
		a.Refused = err.Error()
	}
	// In this order: a daemon that ends in between carries the request out once more, and none is left without an answer.
	problems := []error{d.Save(kindAnswers, name, a), d.Remove(kindRequests, name)}
	names, err := d.Names(kindAnswers)
	problems = append(problems, err)
	for _, name := range names {
		var old Answer
		if found, err := d.Load(kindAnswers, name, &old); err == nil && found && a.Time.Sub(old.Time) > answerKept {
			problems = append(problems, d.Remove(kindAnswers, name))
		}
	}
	return errors.Join(problems...)
}

// TakeAnswer returns the answer to a request and removes it; false when there is none yet.
func (d Dir) TakeAnswer(name string) (a Answer, found bool, err error) {
	found, err = d.Load(kindAnswers, name, &a)
	if !found || err != nil {
		return a, false, err
	}
	return a, true, d.Remove(kindAnswers, name)
}
