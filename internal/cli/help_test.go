package cli_test

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/cli"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// onTerminal runs the command line in this process, on a terminal with that many columns, and returns what is
// shown there.
func onTerminal(t *testing.T, columns uint16, args ...string) string {
	t.Helper()
	person, terminal := testenv.Terminal(t, columns)
	defer person.Close()
	seen := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(person) // the error means that nobody has the terminal open any more
		seen <- string(text)
	}()
	code := cli.Main(args, terminal, io.Discard)
	require.NoError(t, terminal.Close())
	require.Equal(t, 0, code, "%v", args)
	return strings.ReplaceAll(<-seen, "\r\n", "\n")
}

// fits asserts that no line is too wide.
func fits(t *testing.T, widest int, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), widest, line)
		assert.NotContains(t, line, "\t", "as wide as a terminal makes it")
	}
}

// tree calls f with the arguments that name each command.
func tree(c *cobra.Command, f func(path []string)) {
	f(strings.Fields(c.CommandPath())[1:])
	for _, child := range c.Commands() {
		tree(child, f)
	}
}

// No help text is cut, and the terminal never has to wrap a line.
func TestHelpFitsTheTerminal(t *testing.T) {
	all := 0
	tree(cli.Commands(), func(path []string) {
		all++
		args := append(path, "--help")
		words := strings.Fields(in(args...).stdout)
		for columns, widest := range map[uint16]int{80: 80, 200: 118} {
			help := onTerminal(t, columns, args...)
			fits(t, widest, help)
			assert.Equal(t, words, strings.Fields(help), "%v", path)
		}
	})
	assert.Greater(t, all, 30)
	assert.Equal(t, onTerminal(t, 80, "run", "--help"), onTerminal(t, 80, "help", "run"))
	fits(t, 80, onTerminal(t, 80, "kubernetes"))
}

func TestListsFitTheTerminal(t *testing.T) {
	fits(t, 80, onTerminal(t, 80, "suites"))
	one := onTerminal(t, 80, "suites", "saturate")
	byHand := regexp.MustCompile(`(?m)^    fio .*\n`)
	assert.Regexp(t, byHand, one, "what is copied stays in a line")
	fits(t, 80, byHand.ReplaceAllString(one, ""))

	config := file(t, "c.yaml", "listen: ['127.0.0.1:10040', '[::1]:10040', 'storage-1.example:10040', 'storage-1.other.example:10040']\n")
	check := []string{"config", "check", config}
	seen := onTerminal(t, 80, check...)
	fits(t, 80, strings.TrimPrefix(seen, config)) // a path is never wrapped
	assert.Equal(t, strings.Fields(in(check...).stdout), strings.Fields(seen))
}

func TestHelpThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	for _, args := range [][]string{{"--help"}, {"help", "run"}, {}} {
		var stderr bytes.Buffer
		assert.Equal(t, 1, cli.Main(args, full, &stderr), args)
		assert.Equal(t, "ssdprobe: write help: write /dev/full: no space left on device\n", stderr.String())
	}
}
