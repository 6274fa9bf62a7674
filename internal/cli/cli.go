package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
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
	exitCritical = 3 // of smart: the drive reports something critical
	exitRefused  = 4 // not safe, or busy
)

// exitError is an error that determines the exit code. If err is nil, nothing more is printed, because the
// output has already said it.
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

// usage marks an error as a mistake of the caller.
func usage(err error) error { return &exitError{exitUsage, err} }

// The kernel delivers a signal to the main thread if it can. If that thread waits for a filesystem that hangs,
// no other thread gets the signal. So only the main goroutine runs on the main thread, and calls that may hang
// are made by others.
func init() { runtime.LockOSThread() } //nolint:gochecknoinits // only during init is the main goroutine certain to be on the main thread

// Main runs the command line and returns the exit code. SIGINT and SIGTERM end
// the command's context; one that comes after sameSignal ends the process.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := untilSignal(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	var unwritten error
	root := newRoot(stdout, stderr)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { unwritten = help(c) })
	root.SetArgs(args)
	ran, err := root.ExecuteContextC(ctx)
	return exitCode(cmp.Or(ended(ctx, orAsk(ran, err)), unwritten), stderr)
}

// exitCode writes the error and returns its exit code.
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
		_, _ = fmt.Fprintf(stderr, "ssdprobe: %s\n", printable.Lines(text)) // there is nowhere left to report an error
	}
	return code
}

// tell writes text for people, with unprintable characters escaped.
func tell(w io.Writer, format string, args ...any) error {
	_, err := io.WriteString(w, printable.Lines(fmt.Sprintf(format, args...)))
	return err
}

// app holds what all commands share.
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

Exit codes: 0 fine, 1 could not measure, 2 wrong usage, or a bad configuration or other
file, 3 slower than the baseline, 4 refused because it is not safe or the device is busy,
130 after Ctrl-C, 143 after SIGTERM or "run --stop". For smart, 3 means that the drive
reports something critical. check has codes of its own.`,
		Example:                    "  ssdprobe daemon\n  ssdprobe devices\n  ssdprobe run --target /var/tmp",
		SilenceErrors:              true,
		SilenceUsage:               true,
		Args:                       noSubcommand,
		PersistentPreRunE:          func(c *cobra.Command, _ []string) error { return emptyFlag(c) },
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

// Commands returns the tree of all commands, for programs that describe it, such as the generator of the man
// pages. To run a command, call Main.
func Commands() *cobra.Command {
	root := newRoot(io.Discard, io.Discard)
	for _, c := range root.Commands() {
		if c.Name() == "help" { // it describes nothing of its own
			root.RemoveCommand(c)
		}
	}
	return root
}

// noSubcommand rejects arguments that are not a subcommand of c.
func noSubcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath())
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return usage(fmt.Errorf("%s; did you mean %s?", text, strings.Join(near, " or ")))
	}
	for _, sub := range c.Commands() { // the word may name what a subcommand shows
		if name := sub.Name(); (name == "show" || name == "explain") && sub.Use != name {
			return usage(fmt.Errorf("%s; did you mean %s %s?", text, sub.CommandPath(), args[0]))
		}
	}
	return usage(fmt.Errorf("%s; see %s --help", text, c.CommandPath()))
}

// arguments wraps a check of the number of arguments, so that a failure counts as wrong usage and says which
// argument is missing or unexpected. No command requires more than one.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check(c, args) == nil {
			return nil
		}
		if len(args) == 0 {
			name := strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(strings.Fields(c.Use)[1], "…")), "|", " or ")
			example, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n")
			return usage(fmt.Errorf("a %s is missing, e.g. %s; see %s --help", name, example, c.CommandPath()))
		}
		allowed := len(args) - 1
		for check(c, args[:allowed]) != nil {
			allowed--
		}
		unexpected := args[allowed]
		if c.Flags().Lookup("target") != nil && looksLikePath(unexpected) {
			return usage(fmt.Errorf("unexpected argument %q; did you mean --target %s?", unexpected, unexpected))
		}
		return usage(fmt.Errorf("unexpected argument %q; see %s --help", unexpected, c.CommandPath()))
	}
}

// output is the format in which a command prints.
type output string

const (
	outputText output = "text"
	outputJSON output = "json"
	// Only some commands have these.
	outputHTML     output = "html"
	outputCSV      output = "csv"
	outputMarkdown output = "markdown"
	outputJSONL    output = "jsonl"
)

// addOutput adds the flag for the output format: text, JSON or one of more.
func addOutput(c *cobra.Command, o *output, more ...output) {
	*o = outputText
	forms := append([]output{outputText, outputJSON}, more...)
	c.Flags().VarP(choice[output]{o, forms}, "output", "o", "`FORMAT` of the output: "+oneOf(forms))
}

// show prints a value as JSON, or calls text to print it.
func (a *app) show(form output, v any, text func(io.Writer) error) error {
	if form == outputJSON {
		return report.JSON(a.stdout, v)
	}
	return text(a.stdout)
}

// readFrom calls read with a file, or with standard input for "-".
func readFrom[T any](stdin io.Reader, path string, read func(io.Reader) (T, error)) (T, error) {
	in, err := openInput(stdin, path)
	if err != nil {
		return *new(T), err
	}
	defer in.Close()
	return read(in)
}

// openInput opens a file, or standard input for "-"; nil stands for a standard input that is not read.
func openInput(stdin io.Reader, path string) (io.ReadCloser, error) {
	if path == "-" && stdin == nil {
		return nil, errors.New("want a file, not standard input")
	}
	if path == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(path)
}
