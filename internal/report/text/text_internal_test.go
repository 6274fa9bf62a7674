package text

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func drives() document.Table {
	t := document.Table{Names: []string{"node", "drive", "verdict", "model", "firmware"}, Align: "lllll"}
	t.Add("stor-07", "nvme0n1", "severe", "SAMSUNG MZQL23T8HCLS-00A07", "GDC5602Q")
	t.Add("stor-07", "nvme10n1", "healthy", "SAMSUNG MZQL23T8HCLS-00A07", "GDC5602Q")
	return t
}

// On a narrow terminal a row continues on the next line, and nothing of it is cut.
func TestNarrowTerminal(t *testing.T) {
	p := page{screen: screen{width: 60, narrow: true}}
	p.blocks(0, []document.Block{drives(), document.Sentence(strings.Repeat("words ", 30))})
	assert.Equal(t, `node     drive     verdict  model
    firmware
stor-07  nvme0n1   severe   SAMSUNG MZQL23T8HCLS-00A07
    GDC5602Q
stor-07  nvme10n1  healthy  SAMSUNG MZQL23T8HCLS-00A07
    GDC5602Q
`, p.b.String()[:strings.Index(p.b.String(), "words")])
	for line := range strings.Lines(p.b.String()) {
		assert.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), 60)
	}
}

// Spare columns are left out only if the rest then fits in one line, and no more than necessary.
func TestSpareColumns(t *testing.T) {
	for width, want := range map[int]string{
		60: "node     drive     verdict  model\n",
		50: "node     drive     verdict  firmware\n",
		45: "node     drive     verdict  firmware\n",
		30: "node     drive     verdict\n",
	} {
		table := drives()
		if table.Spare = []string{"model", "firmware"}; width == 60 {
			table.Spare = []string{"firmware"}
		}
		p := page{screen: screen{width: width, narrow: true}}
		p.blocks(0, []document.Block{table})
		assert.Equal(t, want, p.b.String()[:len(want)], "%d columns", width)
		assert.Equal(t, 3, strings.Count(p.b.String(), "\n"))
	}
	p := page{screen: screen{width: 20, narrow: true}}
	table := drives()
	table.Spare = []string{"firmware"}
	p.blocks(0, []document.Block{table})
	assert.Contains(t, p.b.String(), "GDC5602Q", "all of it, when even the rest does not fit")

	p = page{screen: screen{width: 20, narrow: true}}
	unnamed := document.Table{Names: []string{"", "A", "B"}, Align: "lll"}
	unnamed.Add("p50 of the reads", "80 µs", "90 µs")
	p.blocks(0, []document.Block{unnamed})
	assert.Contains(t, p.b.String(), "p50 of the reads", "a column without a name is not spare")
}

// On a terminal narrower than the least width, text is folded at the least width, and not at that of a wide terminal.
func TestVeryNarrowTerminal(t *testing.T) {
	for columns, want := range map[uint16]screen{
		0:   {width: width, terminal: true},
		1:   {width: 40, terminal: true, narrow: true},
		39:  {width: 40, terminal: true, narrow: true},
		60:  {width: 60, terminal: true, narrow: true},
		200: {width: width, terminal: true},
	} {
		got := screenOf(terminal(t, columns))
		got.colour = false
		assert.Equal(t, want, got, "%d columns", columns)
	}
}

func terminal(t *testing.T, columns uint16) *os.File {
	t.Helper()
	person, terminal := testenv.Terminal(t, columns)
	t.Cleanup(func() {
		assert.NoError(t, terminal.Close())
		assert.NoError(t, person.Close())
	})
	return terminal
}

// There are no colours when the user does not want them or the terminal has none: https://no-color.org.
func TestNoColours(t *testing.T) {
	for _, c := range []struct {
		noColor, term string
		colour        bool
	}{
		{"", "xterm", true},
		{"1", "xterm", false},
		{"", "dumb", false},
		{"", "", true},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		assert.Equal(t, c.colour, screenOf(terminal(t, 80)).colour, "%+v", c)
	}
}

const help = `Prose that the source folds
at its own width. "-" is input.

- An item, which is long
  and goes on.
- Another one.

A table follows:
  ssdprobe a-command that is to be copied as it is, however wide
and prose after it.

	source <(after a tab)

Flags:
  -h, --help               what this is
                           and does
      --folder DIRECTORY   keep everything in this new DIRECTORY (default "here")
`

// Prose and lists are folded. Commands are not, because they are copied.
func TestHelp(t *testing.T) {
	for columns, want := range map[int]string{
		52: `Prose that the source folds at its own width. "-" is
input.

- An item, which is long and goes on.
- Another one.

A table follows:
  ssdprobe a-command that is to be copied as it is, however wide
and prose after it.

  source <(after a tab)

Flags:
  -h, --help               what this is and does
      --folder DIRECTORY   keep everything in this
                           new DIRECTORY (default
                           "here")
`,
		40: `Prose that the source folds at its own
width. "-" is input.

- An item, which is long and goes on.
- Another one.

A table follows:
  ssdprobe a-command that is to be copied as it is, however wide
and prose after it.

  source <(after a tab)

Flags:
  -h, --help
          what this is and does
      --folder DIRECTORY
          keep everything in this new
          DIRECTORY (default "here")
`,
	} {
		p := page{screen: screen{width: columns, terminal: true}}
		assert.Equal(t, want, p.help(help), "%d columns", columns)
	}
	var piped bytes.Buffer
	require.NoError(t, Help(&piped, help))
	assert.Equal(t, help, piped.String(), "programs look for a flag, and find all about it in its line")
}

// States have colours on a terminal that shows them, and the columns stay aligned.
func TestColours(t *testing.T) {
	p := page{screen: screen{width: width, colour: true}}
	p.blocks(0, []document.Block{drives(), document.Note{Label: "critical: ", Text: "it hangs"}})
	assert.Contains(t, p.b.String(), "\x1b[31msevere\x1b[0m   SAMSUNG")
	assert.Contains(t, p.b.String(), "\x1b[32mhealthy\x1b[0m  SAMSUNG")
	assert.Contains(t, p.b.String(), "\x1b[31mcritical\x1b[0m: it hangs\n")

	plain := screenOf(&bytes.Buffer{})
	assert.Equal(t, screen{width: width}, plain, "what goes to no terminal is plain")
}
