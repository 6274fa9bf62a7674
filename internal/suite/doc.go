// Package suite holds the named suites: each a question about a drive, the plan
// of fio jobs that answers it, and the parameters of the plan; and runs them, or a
// user's own job file.
//
// It owns what is run in which order, on which CPUs and under which settings, and how
// the results become a run report with its analysis. It prepares nothing: a file
// target is given to it filled, and whether a device is busy has been asked before.
// It refuses to write to a raw device without its safety.Permission, to a file that is
// somebody's, and to run a step that writes when its plan does not say so. What
// speaks against writing is looked at again before each step.
//
//	s, err := suite.Find("quick")
//	if err != nil { … }
//	values, err := s.Set([]string{"time=30s"})
//	if err != nil { … }
//	report, err := suite.Execute(ctx, s, suite.Options{Fio: binary, Target: target, Values: values})
package suite
