package config

import "errors"

// word is the value that leaves the choice to ssdprobe.
const word = "auto"

// auto returns a field that may also have the value auto, which is stored as nil.
func auto[T comparable](dst **T, of scalar[T]) scalar[*T] {
	s := scalar[*T]{dst: dst, noun: of.noun + " or auto", shape: of.shape}
	s.parse = func(text string) (*T, error) {
		if text == word {
			return nil, nil //nolint:nilnil // nil means auto
		}
		v, err := of.parse(text)
		if p := new(Problem); errors.As(err, p) {
			return nil, orWord(*p)
		}
		return &v, err
	}
	s.format = func(v *T) string {
		if v == nil {
			return word
		}
		return of.format(*v)
	}
	for _, r := range of.rules {
		s.rules = append(s.rules, rule[*T]{
			holds:   func(v *T) bool { return v == nil || r.holds(*v) },
			problem: func(v *T) Problem { return orWord(r.problem(*v)) },
			says:    r.says + ", or " + word,
			tighten: r.tighten,
		})
	}
	s.rules = append(s.rules, rule[*T]{holds: func(*T) bool { return true }, tighten: orAuto})
	return s
}

func orWord(p Problem) Problem {
	p.Want += ", or " + word
	return p
}

// orAuto makes a schema accept the word as well.
func orAuto(s *schema) {
	if s.Pattern == "" {
		s.Type, s.Pattern = append(s.Type, "string"), "^"+word+"$"
		return
	}
	s.Pattern = "^" + word + "$|" + s.Pattern
}
