package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// Exit codes.
const (
	exitFine     = 0
	exitFailed   = 1 // could not measure, or could not do what was asked
	exitUsage    = 2 // wrong flags, arguments or configuration
	exitSlower   = 3 // slower than the baseline
	exitCritical = 3 // of smart: the drive says that something is wrong
	exitRefused  = 4 // not safe, or busy
)

// exitError is an error that chooses the exit code. A nil err says nothing more:
// the output has told.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as one of the caller's.
func usage(err error) error { return &exitError{exitUsage, err} }

// The kernel hands a signal to the main thread when it can, and to no other when that thread waits for a filesystem that
// hangs. So only the main goroutine runs there, and calls that may hang are made by others.
func init() { runtime.LockOSThread() } //nolint:gochecknoinits // the main goroutine is on the main thread for certain only during init

// Main runs the command line and returns the exit code. SIGINT and SIGTERM end
// the command's context; a second one ends the process.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := untilSignal(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	var unwritten error
	root := newRoot(stdout, stderr)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { unwritten = help(c) })
	root.SetArgs(args)
	return exitCode(cmp.Or(ended(ctx, root.ExecuteContext(ctx)), unwritten), stderr)
}

// exitCode writes the error and says what it means to the shell.
func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return exitFine
	}
	code := exitFailed
	var e *exitError
	if errors.As(err, &e) {
		code = e.code
	}
	if text := err.Error(); text != "" {
		_, _ = fmt.Fprintf(stderr, "ssdprobe: %s\n", printable.Lines(text)) // nowhere left to say that it failed
	}
	return code
}

// tell writes text for people.
func tell(w io.Writer, format string, args ...any) error {
	_, err := io.WriteString(w, printable.Lines(fmt.Sprintf(format, args...)))
	return err
}

// app is what all commands share.
type app struct {
	stdout, stderr io.Writer
	configFile     string
	stateDir       string
	node           string
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	a := &app{stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:   "ssdprobe",
		Short: "Measure how fast drives are, and notice when one becomes slower",
		Long: `ssdprobe watches how fast drives are. Its daemon continuously probes every drive with
very light load and learns what is normal. It publishes latency, IOPS and drift as
Prometheus metrics. "ssdprobe run" measures now.

Exit codes: 0 fine, 1 could not measure, 2 wrong usage, 3 slower than the baseline,
4 refused because it is not safe or the device is busy, 130 after Ctrl-C. For smart, 3
means that the drive reports a problem. check has codes of its own.`,
		Example:                    "  ssdprobe daemon\n  ssdprobe devices\n  ssdprobe run --target /var/tmp",
		SilenceErrors:              true,
		SilenceUsage:               true,
		Args:                       noSubcommand,
		RunE:                       func(c *cobra.Command, _ []string) error { return c.Help() },
		SuggestionsMinimumDistance: 2,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(flagError)
	flags := root.PersistentFlags()
	flags.StringVar(&a.configFile, "config", os.Getenv(configVariable), "configuration `FILE`; overrides $"+configVariable+"; the defaults apply without one")
	flags.StringVar(&a.stateDir, "state-dir", "", "`DIRECTORY` of baselines and drift state; overrides state_dir of the configuration")
	flags.StringVar(&a.node, "node", "", "`NAME` of this machine; overrides $"+nodeVariable+" and node of the configuration")
	root.AddCommand(
		a.daemonCommand(), a.runCommand(), a.suitesCommand(), a.devicesCommand(), a.smartCommand(), a.driftCommand(), a.baselineCommand(), a.readyCommand(),
		a.topCommand(), a.checkCommand(), a.fleetCommand(), a.recordCommand(), a.reportCommand(), a.compareCommand(),
		a.kubernetesCommand(), a.configCommand(), a.versionCommand(),
		a.restoreSettingsCommand(),
	)
	completeTree(root)
	a.complete(root)
	return root
}

// Commands returns the tree of all commands for those who describe it, as the man pages
// do. To run one, call Main.
func Commands() *cobra.Command {
	root := newRoot(io.Discard, io.Discard)
	for _, c := range root.Commands() {
		if c.Name() == "help" { // which describes nothing of its own
			root.RemoveCommand(c)
		}
	}
	return root
}

// noSubcommand refuses words that are no command of c.
func noSubcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath())
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		text += fmt.Sprintf("; did you mean %s?", strings.Join(near, ", "))
	}
	return usage(fmt.Errorf("%s; see %s --help", text, c.CommandPath()))
}

// arguments makes a check of the number of arguments that counts as wrong usage, and
// says which one is missing or too many. No command asks for more than one.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check(c, args) == nil {
			return nil
		}
		if len(args) == 0 {
			name := strings.ToLower(strings.TrimSuffix(strings.Fields(c.Use)[1], "…"))
			example, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n")
			return usage(fmt.Errorf("a %s is missing, e.g. %s; see %s --help", name, example, c.CommandPath()))
		}
		allowed := len(args) - 1
		for check(c, args[:allowed]) != nil {
			allowed--
		}
		return usage(fmt.Errorf("unexpected argument %q; see %s --help", args[allowed], c.CommandPath()))
	}
}

// output is the form in which a command prints.
type output string

const (
	outputText output = "text"
	outputJSON output = "json"
	outputHTML output = "html" // of runs

	outputCSV      output = "csv"      // of runs
	outputMarkdown output = "markdown" // of runs
)

// outputFlag is the flag that sets an output to one of some forms.
type outputFlag struct {
	to    *output
	forms []string
}

func (f outputFlag) String() string {
	if f.to == nil { // as made by those who want to know the zero value
		return ""
	}
	return string(*f.to)
}

// Type is what help calls the value.
func (f outputFlag) Type() string { return strings.Join(f.forms, "|") }

// Set takes the value of a flag.
func (f outputFlag) Set(v string) error {
	if !slices.Contains(f.forms, v) {
		return fmt.Errorf("want %s", oneOf(f.forms))
	}
	*f.to = output(v)
	return nil
}

// addOutput adds the flag for text, JSON and further forms.
func addOutput(c *cobra.Command, o *output, more ...output) {
	*o = outputText
	forms := []string{string(outputText), string(outputJSON)}
	for _, form := range more {
		forms = append(forms, string(form))
	}
	c.Flags().VarP(outputFlag{o, forms}, "output", "o", "`FORMAT` of the output: "+oneOf(forms))
}

// show prints a value as JSON, or what text writes of it.
func (a *app) show(form output, v any, text func(io.Writer) error) error {
	if form == outputJSON {
		return report.JSON(a.stdout, v)
	}
	return text(a.stdout)
}

// readFrom has a function read a file, or standard input for "-".
func readFrom[T any](stdin io.Reader, path string, read func(io.Reader) (T, error)) (T, error) {
	in, err := openInput(stdin, path)
	if err != nil {
		return *new(T), err
	}
	defer in.Close()
	return read(in)
}

// openInput opens a file, or standard input for "-".
func openInput(stdin io.Reader, path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(path)
}

// oneOf lists two or more words to choose from.
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
