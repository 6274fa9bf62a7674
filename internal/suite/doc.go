// Package suite holds the named suites: each a question about a drive, the plan
// of fio jobs that answers it, and the parameters of the plan.
//
// It owns what is run in which order and how the results become a run report. It
// prepares nothing: a file target is given to it filled, and whether a device may
// be touched has been decided before. It refuses to write to a raw device, and to
// run a step that writes when its plan does not say so.
//
//	s, err := suite.Find("quick")
//	if err != nil { … }
//	values, err := s.Set([]string{"time=30s"})
//	if err != nil { … }
//	report, err := suite.Execute(ctx, s, suite.Options{Fio: binary, Target: target, Values: values})
package suite
