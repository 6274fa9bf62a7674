package fio

import (
	"maps"
	"slices"
)

// Job is the job that fio reports on, as far as the report tells: a section for the
// global options, and one for each of Jobs, in their order, with its options as fio
// understood them. Sections whose figures group_reporting put together have only the
// options of the first, and switches that are on by being there may be missing.
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
