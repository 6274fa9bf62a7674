package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// checkRuns returns what is wrong with the runs of a configuration, which only the suites know.
func checkRuns(c config.Config) config.Problems {
	wrong, _ := lookAtRuns(c)
	return wrong
}

// warnings returns what is probably not intended in a valid configuration.
func warnings(c config.Config) []string {
	all := c.Warnings()
	_, doubtful := lookAtRuns(c)
	for _, p := range doubtful {
		all = append(all, p.Error())
	}
	return all
}

// lookAtRuns returns what can never work, and what works only in part.
func lookAtRuns(c config.Config) (wrong, doubtful config.Problems) {
	for i, r := range c.Runs {
		field := fmt.Sprintf("runs[%d].", i)
		s, err := suite.Find(r.Suite)
		if err != nil {
			wrong = append(wrong, config.Problem{
				Field: field + "suite", Value: r.Suite, Wrong: "is not a suite", Want: "one of " + strings.Join(suite.Names(), ", "),
			})
			continue
		}
		values, err := s.Set(r.Set)
		if err != nil {
			wrong = append(wrong, config.Problem{Field: field + "set", Wrong: err.Error()})
			continue
		}
		p := config.Problem{Field: field + "suite", Value: r.Suite, Want: "a suite that only reads, or targets that are directories under files"}
		if slices.ContainsFunc(s.Parameters, func(p suite.Parameter) bool { return p.Name == "writes" }) {
			p.Want = "set: [writes=no], " + p.Want
		}
		works, refused := whereItRuns(c, r, s, values)
		if why := strings.Join(refused, "; "); why != "" && len(works) == 0 {
			p.Wrong = "never runs: " + why
			wrong = append(wrong, p)
		} else if why != "" {
			p.Wrong = "is refused on some of its targets: " + why
			doubtful = append(doubtful, p)
		}
		if least := shortest(s, values, works); least > r.Window {
			doubtful = append(doubtful, config.Problem{
				Field: field + "window", Value: config.FormatDuration(r.Window),
				Wrong: fmt.Sprintf("is shorter than %s takes on one target, about %s: each run ends before it is complete", r.Suite, units.Span(least)),
				Want:  config.FormatDuration((least + time.Minute - 1).Truncate(time.Minute)) + " or more, or less to do in set",
			})
		}
	}
	return wrong, doubtful
}

// whereItRuns returns targets that stand for those on which the daemon would execute a suite, and why it would refuse it on
// others that the run may be meant for.
func whereItRuns(c config.Config, r config.Run, s suite.Suite, v suite.Values) (works []suite.Target, refused []string) {
	device, file := suite.Nominal(true), suite.Nominal(false)
	writes, noDevice := s.WritesTo(v, device)
	writesFile, noFile := s.WritesTo(v, file)
	if noDevice != nil && noFile != nil { // it may fit targets of another size
		return nil, nil
	}
	onDevices, onFiles := c.RunsOn(r)
	switch {
	case !onDevices:
	case writes, noDevice != nil && writesFile:
		refused = append(refused, "it writes, and the daemon never writes to a device")
	default:
		works = append(works, device)
	}
	switch {
	case !onFiles:
	case noFile != nil:
		refused = append(refused, noFile.Error())
	default:
		works = append(works, file)
	}
	return works, refused
}

// shortest returns how long a suite takes at least, on that of the targets where it takes the least; 0 if that is not known.
func shortest(s suite.Suite, v suite.Values, targets []suite.Target) time.Duration {
	var least time.Duration
	for _, t := range targets {
		if takes, err := s.Shortest(v, t); err == nil && (least == 0 || takes < least) {
			least = takes
		}
	}
	return least
}
