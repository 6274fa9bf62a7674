package record

import (
	"fmt"
	"strings"
	"time"
)

// Beside is where a source of a drive stands among the drives of its model and size on the node.
type Beside struct {
	// Source is a probe, or "traffic".
	Source    string    `json:"source"`
	Statistic Statistic `json:"statistic"`
	// Unjudged says why the drive is not compared now; empty when it is.
	Unjudged string `json:"unjudged,omitempty"`
	// Peers are the ids of the drives that it is compared with. Place is its place among them and
	// itself, of which 1 is the fastest.
	Peers []string `json:"peers,omitempty"`
	Place int      `json:"place,omitempty"`
	// Ratio is how many times slower than the median of Of peers it is, and Limit from where on that is far.
	Ratio float64 `json:"ratio,omitempty"`
	Limit float64 `json:"limit,omitempty"`
	Of    int     `json:"of,omitempty"`
	// Far says that it has been far slower for hours, Since when. OnlyHere are the conditions that none
	// of its peers has.
	Far      bool      `json:"far"`
	Since    time.Time `json:"since,omitzero"`
	OnlyHere []string  `json:"only_here,omitempty"`
	// Accepted is the ratio that an operator took as normal; 0 when nobody did. Note says why.
	Accepted float64 `json:"accepted,omitempty"`
	Note     string  `json:"note,omitempty"`
}

// SlowerThanPeers are the warnings about sources that are far slower than their peers, one for each source. The
// statistics of a source stand together.
func SlowerThanPeers(list []Beside) []Warning {
	var warnings []Warning
	told := ""
	for i, b := range list {
		if !b.Far || b.Source == told {
			continue
		}
		told = b.Source
		var far []string
		for _, x := range list[i:] {
			if x.Source == b.Source && x.Far {
				far = append(far, fmt.Sprintf("%s %s", x.Statistic.Short(), Ratio{Ratio: x.Ratio}))
			}
		}
		what, whose, with := "probe "+b.Source, fmt.Sprintf("that of the %d other drives", b.Of), ""
		if b.Of == 1 {
			whose = "that of the other drive"
		}
		if b.Source == "traffic" {
			what, with = "the drive's own traffic", " with like work"
		}
		text := fmt.Sprintf("%s is far slower than %s of this model%s on the node (%s)", what, whose, with, strings.Join(far, ", "))
		if len(b.OnlyHere) > 0 {
			text += "; only here: " + strings.Join(b.OnlyHere, ", ")
		}
		warnings = append(warnings, Warning{Code: WarnSlowerThanPeers, Text: text})
	}
	return warnings
}
