package fioimport

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// Is reports whether a text is or contains the JSON of fio. A report of ssdprobe does not count: there, quotes
// within texts are escaped.
func Is(text []byte) bool {
	return regexp.MustCompile(`[{,]\s*"fio version"\s*:`).Match(text)
}

// IsForPeople reports whether a text is fio's human-readable output, which is not supported.
func IsForPeople(text []byte) bool {
	return regexp.MustCompile(`(?m)^\S.*: \((g=\d+\): rw=|groupid=\d+, jobs=\d+\): err=)`).Match(text)
}

// Parse converts an output of fio to a report. Errors name the field and the value.
func Parse(text []byte) (record.RunReport, error) {
	out, err := fio.ParseOutput(bytes.NewReader(text))
	if err != nil {
		return record.RunReport{}, err
	}
	for _, job := range out.Jobs {
		if job.Read == nil {
			return record.RunReport{}, fmt.Errorf("job %q: fio reports reads and writes as one (unified_rw_reporting=mixed), so they cannot be told apart: "+
				"run fio without that option", job.Name)
		}
	}
	r := record.RunReport{
		Version: record.RunReportVersion, Suite: record.ImportedSuite, Generator: out.Version.String(), Engine: out.Version.String(),
		Finished: out.Time, Started: out.Time.Add(-elapsed(out)), Conditions: record.Conditions{Engine: engine(out)},
		Warnings: []record.Warning{{Code: record.WarnConditionsUnknown, Text: unknown(out)}},
	}
	job := out.Job()
	targets := targets(out)
	options := fiorun.Options(out)
	for i, jobs := range fiorun.Groups(out) {
		r.Steps = append(r.Steps, step(jobs, options[i], len(targets) > 1))
	}
	distinct(r.Steps)
	for i, result := range out.Jobs {
		if fiorun.SeveralSections(result, job.Effective(i+1)) {
			targets = append(targets, "perhaps others")
			break
		}
	}
	r.Target = targetText(targets)
	r.TargetID = r.Target
	if knees := analysis.Knees(r.Steps); len(knees) > 0 {
		r.Analysis = &record.Analysis{Knees: knees}
	}
	return r, nil
}

// step returns the step for a group of jobs. several says that the output is on several targets.
func step(jobs []fio.JobResult, options []fio.Options, several bool) record.Step {
	s := fiorun.Reported(jobs)
	s.Plan, s.Workload = fiorun.Describe(jobs, options, several)
	if host := hostOf(jobs[0]); host != "" {
		s.Name += " on " + host
		s.Plan += " on " + host
		if s.Workload != nil {
			s.Workload.Targets = files(jobs[0], options[0])
		}
	}
	add := func(code, text string) {
		if text != "" {
			s.Warnings = append(s.Warnings, record.Warning{Code: code, Text: text})
		}
	}
	for i, job := range jobs {
		if fiorun.SeveralSections(job, options[i]) {
			add(record.WarnConditionsUnknown, fmt.Sprintf("fio added up several jobs as %s (group_reporting) and printed the options of one of them: "+
				"what the others did, and on which drives, is not known.", job.Name))
		}
	}
	own := slices.ContainsFunc(jobs, func(j fio.JobResult) bool {
		return unmerged(s.Read) && percentiles(j.Read) || unmerged(s.Write) && percentiles(j.Write)
	})
	if len(jobs) > 1 && own {
		add(record.WarnConditionsUnknown, fmt.Sprintf("The percentiles of %d jobs cannot be put together without their distributions: "+
			"run fio with --output-format=json+ or group_reporting.", len(jobs)))
	}
	add(record.WarnMethod, fiorun.TrimText(jobs))
	add(record.WarnMethod, fiorun.BufferedText(options))
	add(record.WarnCPUBound, fiorun.OneCPUText(jobs))
	for _, job := range jobs {
		if job.Errno == int(syscall.EINTR) || job.Errno == int(syscall.ECANCELED) {
			add(record.WarnShort, "Stopped before its end.")
		} else if job.Errno != 0 {
			add(record.WarnErrors, fmt.Sprintf("Job %s ended with the error %s: what failed is not in the figures.", job.Name, record.ErrorName(syscall.Errno(job.Errno))))
		}
	}
	add(record.WarnBrief, fiorun.BriefText(s))
	return s
}

// unmerged reports whether a distribution is unknown, as for several jobs that each have only percentiles.
func unmerged(r *record.Result) bool {
	return r != nil && r.IOs > 0 && r.Latency.Count() == 0 && len(r.Percentiles) == 0
}

// percentiles reports whether a job has percentiles: fio can be told not to compute them.
func percentiles(d *fio.Direction) bool {
	return d != nil && len(d.Completion.Percentiles)+len(d.Total.Percentiles) > 0
}

// distinct numbers steps with the same name, which fio allows.
func distinct(steps []record.Step) {
	seen := map[string]int{}
	for i := range steps {
		name := steps[i].Name
		seen[name]++
		if seen[name] > 1 {
			steps[i].Name = fmt.Sprintf("%s, %d", name, seen[name])
		}
	}
}

// unknown says what is unknown, and which latency fio measured.
func unknown(out fio.Output) string {
	text := "The conditions are unknown: fio's output does not say which drive and firmware it was, how the host was set up, or what else ran."
	var without []string
	groups := fiorun.Groups(out)
	for _, jobs := range groups {
		if !fiorun.CountsSubmission(jobs) {
			without = append(without, fiorun.Reported(jobs).Name)
		}
	}
	switch {
	case len(without) == 0:
	case len(without) == len(groups):
		text += " Latencies do not count the time of submission (clat), while those of ssdprobe do (lat)."
	default:
		text += fmt.Sprintf(" Latencies of %s do not count the time of submission (clat), while the others and those of ssdprobe do (lat).", strings.Join(without, ", "))
	}
	return text
}

func elapsed(out fio.Output) time.Duration {
	var most time.Duration
	for _, job := range out.Jobs {
		most = max(most, job.Elapsed)
	}
	return most
}

// engine returns the engine in the form of the conditions of ssdprobe's own runs: "fio-3.33 libaio".
func engine(out fio.Output) string {
	text := out.Version.String()
	job := out.Job()
	var engines []string
	for i := range out.Jobs {
		if name := cmp.Or(job.Effective(i+1).IOEngine, fiorun.DefaultEngine); !slices.Contains(engines, name) {
			engines = append(engines, name)
		}
	}
	return strings.Join(append([]string{text}, engines...), " ")
}

// targets returns the distinct targets that the jobs name.
func targets(out fio.Output) []string {
	var all []string
	job := out.Job()
	for i, result := range out.Jobs {
		for _, name := range files(result, job.Effective(i+1)) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// files returns the files of a job: those of another host as HOST:FILE, or only as HOST if they are not known.
func files(job fio.JobResult, o fio.Options) []string {
	names, host := fiorun.Files(o), hostOf(job)
	switch {
	case host == "":
		return names
	case len(names) == 0:
		return []string{host}
	}
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = host + ":" + name
	}
	return all
}

// hostOf returns the host that executed a job for fio --client, and "" if fio executed it itself. A port other than fio's
// own tells clients of one host from each other.
func hostOf(job fio.JobResult) string {
	const usual = 8765
	if job.Host == "" || job.Port == 0 || job.Port == usual {
		return job.Host
	}
	return net.JoinHostPort(job.Host, strconv.Itoa(job.Port))
}

func targetText(all []string) string {
	const most = 3
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", all[0], len(all)-1)
	}
	return cmp.Or(strings.Join(all, ", "), "an unknown target")
}
