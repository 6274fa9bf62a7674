package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError returns the error for a wrong flag.
func flagError(c *cobra.Command, err error) error { return usage(flagMistake(c, err)) }

// flagMistake describes what is wrong with a flag in ssdprobe's own words, because errors of the libraries name
// their functions.
func flagMistake(c *cobra.Command, err error) error {
	var (
		invalid *pflag.InvalidValueError
		missing *pflag.ValueRequiredError
		unknown *pflag.NotExistError
	)
	text := err.Error()
	switch {
	case errors.As(err, &invalid) && errors.Is(err, strconv.ErrRange):
		text = fmt.Sprintf("--%s: %q is too large", invalid.GetFlag().Name, invalid.GetValue())
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		text = fmt.Sprintf("--%s: %q: %v", f.Name, invalid.GetValue(), invalid.Unwrap())
		if want := wanted(f.Value.Type()); want != "" {
			text = fmt.Sprintf("--%s: %q is not %s", f.Name, invalid.GetValue(), want)
		}
	case errors.As(err, &missing):
		value, _ := pflag.UnquoteUsage(missing.GetFlag())
		text = fmt.Sprintf("--%s: its %s is missing", missing.GetFlag().Name, value)
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		text = fmt.Sprintf("unknown flag: -%s", unknown.GetSpecifiedShortnames())
	case errors.As(err, &unknown):
		text = "unknown flag: --" + unknown.GetSpecifiedName()
		if meant := meantFlag(c, unknown.GetSpecifiedName()); meant != "" {
			text += "; did you mean " + meant + "?"
		}
	}
	return fmt.Errorf("%s; see %s --help", text, c.CommandPath())
}

// meantFlag returns what the name of an unknown flag probably means; empty when nothing is similar. --json may be a
// format, and other programs have --version.
func meantFlag(c *cobra.Command, name string) string {
	switch {
	case name == "version":
		return c.Root().Name() + " version"
	case name == "output" && c.Flags().Lookup("json") != nil:
		return "--json"
	}
	for _, format := range []string{"output", "format"} {
		f := c.Flags().Lookup(format)
		if f != nil && slices.Contains(strings.FieldsFunc(f.Usage, func(r rune) bool { return r == ' ' || r == ',' }), name) {
			return "--" + format + " " + name
		}
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := nearest(name, names); near != "" {
		return "--" + near
	}
	return ""
}

// emptyFlag refuses a flag whose value is empty, as of a shell variable that is not set. The command would do what it
// does without the flag, which may be more.
func emptyFlag(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			empty = len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")
		}
		if empty && err == nil {
			value, _ := pflag.UnquoteUsage(f)
			err = c.FlagErrorFunc()(c, fmt.Errorf("--%s: its %s is empty", f.Name, value))
		}
	})
	return err
}

// wanted describes what a flag of a type accepts; empty for types whose own error says it.
func wanted(flagType string) string {
	switch flagType {
	case "int", "int64", "uint", "uint64":
		return "a whole number"
	case "bool":
		return "true or false"
	case "duration":
		return "a duration; want a number with its unit, e.g. 500ms, 30s, 1h30m"
	}
	return ""
}

// nearest returns the name that a mistyped word probably means; empty when none is similar.
func nearest(word string, names []string) string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	if near := all.SuggestionsFor(word); len(near) > 0 {
		return near[0]
	}
	return ""
}

// unknownWord returns the error for a word that is not one of names.
func unknownWord(what, word string, names []string) error {
	if near := nearest(word, names); near != "" {
		return fmt.Errorf("%s: %q is unknown; did you mean %s?", what, word, near)
	}
	return fmt.Errorf("%s: %q is unknown; want one of %s", what, word, strings.Join(names, ", "))
}

// looksLikePath reports whether a word is a path rather than a name that ssdprobe knows.
func looksLikePath(word string) bool {
	if strings.ContainsRune(word, os.PathSeparator) || strings.HasPrefix(word, ".") {
		return true
	}
	_, err := os.Lstat(word)
	return err == nil
}

// completeTree adds cobra's own commands and makes them refuse a mistyped word, instead of showing their help.
func completeTree(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		c.SuggestionsMinimumDistance = 2
		switch c.Name() {
		case "completion":
			c.Args = noSubcommand
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Args = arguments(cobra.NoArgs)
			}
		case "help":
			c.Run = nil
			c.RunE = func(c *cobra.Command, args []string) error {
				about, rest, err := c.Root().Find(args)
				switch {
				case err != nil:
					return noSubcommand(c.Root(), args)
				case len(rest) > 0:
					return noSubcommand(about, rest)
				}
				return about.Help()
			}
		}
	}
}
