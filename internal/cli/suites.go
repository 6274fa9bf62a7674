package cli

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

func (a *app) suitesCommand() *cobra.Command {
	var form output
	c := &cobra.Command{
		Use:   "suites [SUITE]",
		Short: "List the fio suites: what each does, how long it takes, what it writes",
		Long: `Lists the suites of "ssdprobe run": the question that each answers, how long it takes by
default, and what it writes. With the name of a suite, also shows the command that people
type for one of its steps by hand, and lists its parameters. Set them with --set NAME=VALUE.`,
		Example: "  ssdprobe suites\n  ssdprobe suites saturate",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := suite.Describe()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if _, err := suite.Find(args[0]); err != nil {
					return usage(unknownWord("suite", args[0], suite.Names()))
				}
				all = slices.DeleteFunc(all, func(d suite.Description) bool { return d.Name != args[0] })
			}
			return a.show(form, all, func(w io.Writer) error { return listSuites(w, all) })
		},
	}
	addOutput(c, &form)
	return c
}

// listSuites prints one suite with its parameters, or several suites without.
func listSuites(w io.Writer, all []suite.Description) error {
	var blocks []document.Block
	for _, d := range all {
		about := "about " + units.Span(d.Expected.Round(time.Second))
		if d.Many {
			about += "; takes several targets"
		}
		if d.Writes != "" {
			about += "; writes " + d.Writes
		} else {
			about += "; only reads"
		}
		says := []document.Block{document.Sentence(d.Does), document.Sentence(about)}
		if len(all) == 1 {
			says = append(says, byHand(d)...)
		}
		blocks = append(blocks, document.Gap{}, document.Note{Label: d.Name + ": ", Text: d.Question}, document.Section{Blocks: says})
	}
	return text.Write(w, "suites", blocks...)
}

// byHand returns what people would type instead of a suite, and the parameters of the suite.
func byHand(d suite.Description) []document.Block {
	var parameters []document.Block
	for _, p := range d.Parameters {
		parameters = append(parameters, document.Sentence(p.Name+"="+p.Default), document.Section{Blocks: []document.Block{document.Sentence(p.Doc)}})
	}
	return []document.Block{
		document.Gap{},
		document.Section{Title: "by hand, one of its steps would be:", Blocks: []document.Block{document.Code(strings.ReplaceAll(d.Replaces, " && ", " &&\n"))}},
		document.Gap{},
		document.Section{Title: "parameters (--set NAME=VALUE):", Blocks: parameters},
	}
}
