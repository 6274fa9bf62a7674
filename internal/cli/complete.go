package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/run"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/top"
)

// Shell completion. It runs at each press of a key, so nothing here asks a daemon or a drive, and what cannot
// be read is left out.

// completer completes an argument or the value of a flag.
type completer = cobra.CompletionFunc

const (
	noFiles = cobra.ShellCompDirectiveNoFileComp
	files   = cobra.ShellCompDirectiveDefault
)

// complete adds completion to all commands and flags below c. Their usage says what kind of value to complete.
func (a *app) complete(c *cobra.Command) {
	if _, arguments, ok := strings.Cut(c.Use, " "); ok && c.ValidArgsFunction == nil {
		c.ValidArgsFunction = a.argument(c, strings.Fields(arguments)[0])
	} else if !ok && !c.HasSubCommands() {
		c.ValidArgsFunction = words()
	}
	register := func(f *pflag.Flag) {
		if _, done := c.GetFlagCompletionFunc(f.Name); done || f.NoOptDefVal != "" {
			return
		}
		if err := c.RegisterFlagCompletionFunc(f.Name, a.value(c, f)); err != nil {
			panic(err) // cannot happen: the flag exists
		}
	}
	c.PersistentFlags().VisitAll(register)
	c.Flags().VisitAll(register)
	for _, child := range c.Commands() {
		if name := child.Name(); name != "completion" && name != "help" {
			a.complete(child)
		}
	}
}

// argument returns the completer of a command's argument. usage is the argument's name in the usage of the
// command.
func (a *app) argument(c *cobra.Command, usage string) completer {
	name := strings.Trim(usage, "[]{}…")
	switch {
	case name == "TARGET" && c.Name() == "top":
		return a.drives
	case name == "TARGET" && strings.Contains(usage, "…"):
		return a.storedTargets
	case strings.HasPrefix(name, "FILE"):
		return nil // files, the default of shells
	}
	switch name {
	case "TARGET":
		return once(a.storedTargets)
	case "DEVICE":
		return once(a.drives)
	case "SUITE":
		return once(describedSuites())
	case "RECORDING":
		return once(a.recordingIDs)
	}
	return words()
}

// value returns the completer of a flag's value.
func (a *app) value(c *cobra.Command, f *pflag.Flag) completer {
	called, _ := pflag.UnquoteUsage(f)
	switch kind := f.Value.Type(); {
	case strings.Contains(kind, "|"): // such as text|json
		return words(strings.Split(kind, "|")...)
	case f.Name == "probe" && c.Name() == "explain":
		return a.probeNames(judge.Traffic)
	case f.Name == "probe":
		return a.probeNames()
	case f.Name == "target" && c.Name() == "run":
		return a.runTargets
	case f.Name == "target":
		return a.storedTargets
	case f.Name == "run":
		return describedSuites(run.ProbeSuite)
	case f.Name == "set":
		return parameters
	case f.Name == "change":
		return words(record.ConditionNames()...)
	case f.Name == "log.level":
		return words("debug", "info", "warn", "error")
	case f.Name == "log.format":
		return words("text", "json")
	case f.Name == "sort":
		return words(texts(top.Orders())...)
	case called == "FILE":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return nil, files }
	case called == "DIRECTORY":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	}
	return words()
}

// words completes fixed words.
func words(all ...string) completer { return cobra.FixedCompletions(all, noFiles) }

// once restricts a completer to the first argument.
func once(complete completer) completer {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, noFiles
		}
		return complete(c, args, typed)
	}
}

// storedTargets completes the targets in the state directory, by device name or path, and by id.
func (a *app) storedTargets(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var all []string
	for _, t := range a.stateTargets() {
		if name := t.Device.Name; name != "" && !t.File {
			all = append(all, cobra.CompletionWithDesc(name, t.Path))
		} else {
			all = append(all, t.Path)
		}
		all = append(all, cobra.CompletionWithDesc(t.ID, "id of "+t.Path))
	}
	return all, noFiles
}

func (a *app) stateTargets() []state.Target {
	dir, err := a.openState()
	if err != nil {
		return nil
	}
	targets, _ := dir.Targets() // an error only means that some are missing
	return targets
}

// deviceNames returns the names of the devices of this machine, each with a prefix.
func (a *app) deviceNames(prefix string) []string {
	c, err := a.settings()
	if err != nil {
		c = config.Default()
	}
	picks, _ := device.Choose(sysfs.New(c.HostRoot), nil, nil) // an error only means that some are missing
	var names []string
	for _, p := range picks {
		if !p.Device.Empty() {
			names = append(names, cobra.CompletionWithDesc(prefix+p.Device.Name, strings.TrimSpace(p.Device.Model+" "+p.Device.Serial)))
		}
	}
	return names
}

// drives completes the names of devices.
func (a *app) drives(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return a.deviceNames(""), noFiles
}

// runTargets completes device nodes, files and directories.
func (a *app) runTargets(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	const nodes = "/dev/"
	if common := min(len(typed), len(nodes)); typed[:common] != nodes[:common] {
		return nil, files
	}
	return a.deviceNames(nodes), files
}

// probeNames completes the names of the configured probes, and more names.
func (a *app) probeNames(more ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		c, err := a.settings()
		if err != nil {
			c = config.Default()
		}
		all := slices.Clone(more)
		for _, p := range c.Probes {
			all = append(all, p.Name)
		}
		return all, noFiles
	}
}

// parameters completes the parameters of the suite on the command line: their names, then their possible
// values.
func parameters(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, noFiles
	}
	s, err := suite.Find(args[0])
	if err != nil {
		return nil, noFiles
	}
	name, _, given := strings.Cut(typed, "=")
	var all []string
	for _, p := range s.Parameters {
		switch {
		case !given:
			all = append(all, cobra.CompletionWithDesc(p.Name+"=", p.Doc+", default "+p.Default))
		case p.Name == name:
			for _, choice := range p.Choices {
				all = append(all, name+"="+choice)
			}
			if len(p.Choices) == 0 {
				all = append(all, cobra.CompletionWithDesc(name+"="+p.Default, "default"))
			}
		}
	}
	return all, noFiles | cobra.ShellCompDirectiveNoSpace
}

// describedSuites completes the names of suites, described by the question that each answers.
func describedSuites(more ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		all := slices.Clone(more)
		for _, s := range suite.All() {
			all = append(all, cobra.CompletionWithDesc(s.Name, s.Question))
		}
		return all, noFiles
	}
}

// recordingIDs completes the recordings of the state directory.
func (a *app) recordingIDs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	dir, err := a.openState()
	if err != nil {
		return nil, files
	}
	stored, _ := dir.Recordings() // an error only means that some are missing
	var all []string
	for _, r := range stored {
		all = append(all, r.ID)
	}
	return all, files
}
