// Package suite holds the named suites. Each is a question about a drive, the plan of fio jobs that
// answers it, and the parameters of the plan. The package runs a suite or a user's own job file.
//
// It owns the order of the jobs, their CPUs and settings, and how the results become a run report
// with its analysis. It prepares nothing: the caller passes file targets that are already filled,
// and has already checked whether the device is busy. The package refuses to write to a raw device
// without its safety.Permission, and to a file that ssdprobe did not make. It also refuses to run a
// step that writes although its plan does not say so. Before each step, it checks again what speaks
// against writing.
//
//	s, err := suite.Find("quick")
//	if err != nil { … }
//	values, err := s.Set([]string{"time=30s"})
//	if err != nil { … }
//	report, err := suite.Execute(ctx, s, suite.Options{Fio: binary, Target: target, Values: values})
package suite
