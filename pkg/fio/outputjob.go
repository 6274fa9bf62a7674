package fio

import (
	"maps"
	"slices"
)

// Job returns the job that fio reports on, as far as the report describes it: a section
// for the global options, then one for each of Jobs in order, with its options as fio
// understood them. Sections that group_reporting merged have only the options of the
// first. Switches that are set by their presence may be missing.
func (o Output) Job() Job {
	job := Job{Sections: []Section{{Name: Global, Options: optionsOf(o.GlobalOptions)}}}
	for _, result := range o.Jobs {
		job.Sections = append(job.Sections, Section{Name: result.Name, Options: optionsOf(result.Options)})
	}
	return job
}

func optionsOf(texts map[string]string) Options {
	var o Options
	_, plain := texts["kb_base"]
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		o.set(Option{Key: key, Value: texts[key], Bare: texts[key] == ""}, units{plain: plain})
	}
	return o
}
