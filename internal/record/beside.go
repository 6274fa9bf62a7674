package record

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Beside says how one statistic of a drive compares with its peers: the drives of the same model and size on the
// node.
type Beside struct {
	// Source is the name of a probe, or SourceTraffic.
	Source    string    `json:"source"`
	Statistic Statistic `json:"statistic"`
	// Unjudged says why the drive cannot be compared now; empty when it can.
	Unjudged string `json:"unjudged,omitempty"`
	// Peers are the ids of the drives it is compared with. Place is the rank of the drive among them and itself; 1 is
	// the fastest.
	Peers []string `json:"peers,omitempty"`
	Place int      `json:"place,omitempty"`
	// Ratio is how many times slower than the median of Of peers the drive is. From Limit on it counts as far slower.
	Ratio float64 `json:"ratio,omitempty"`
	Limit float64 `json:"limit,omitempty"`
	Of    int     `json:"of,omitempty"`
	// Far is true when the drive has been far slower for hours, beginning at Since. OnlyHere lists the conditions
	// that none of its peers shares.
	Far      bool      `json:"far"`
	Since    time.Time `json:"since,omitzero"`
	OnlyHere []string  `json:"only_here,omitempty"`
	// Accepted is the ratio that an operator accepted as normal; 0 when nobody did. Note is the operator's reason.
	Accepted float64 `json:"accepted,omitempty"`
	Note     string  `json:"note,omitempty"`
}

// when says of which time Ratio is, if the drive is not known to be far slower now. It takes more than an hour of blocks to end Far.
// Below half of the limit, none of them is far slower.
func (b Beside) when() string {
	switch {
	case b.Unjudged != "":
		return " when last compared"
	case b.Ratio < max(1, b.Accepted)*math.Sqrt(b.Limit):
		return " now"
	}
	return ""
}

// SlowerThanPeers returns a warning for each source that is far slower than its peers. The list must have the
// statistics of a source next to each other.
func SlowerThanPeers(list []Beside) []Warning {
	var warnings []Warning
	told := ""
	for i, b := range list {
		if !b.Far || b.Source == told {
			continue
		}
		told = b.Source
		var far []string
		is := "was"
		for _, x := range list[i:] {
			if x.Source != b.Source || !x.Far {
				continue
			}
			far = append(far, fmt.Sprintf("%s %s%s", x.Statistic.Short(), Ratio{Ratio: x.Ratio}, x.when()))
			if x.when() == "" {
				is = "is"
			}
		}
		what, whose, with := "probe "+b.Source, fmt.Sprintf("that of the %d other drives", b.Of), ""
		if b.Of == 1 {
			whose = "that of the other drive"
		}
		if b.Source == SourceTraffic {
			what, with = "the drive's own traffic", " with similar work"
		}
		text := fmt.Sprintf("%s %s far slower than %s of this model%s on the node (%s)", what, is, whose, with, strings.Join(far, ", "))
		if len(b.OnlyHere) > 0 {
			text += "; only here: " + strings.Join(b.OnlyHere, ", ")
		}
		warnings = append(warnings, Warning{Code: WarnSlowerThanPeers, Text: text})
	}
	return warnings
}
