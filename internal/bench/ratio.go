package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
)

// ratio is one line of the result: how the two sides compare, pair by pair.
type ratio struct {
	What    string  `json:"what"`
	Against string  `json:"against"`
	Wanted  string  `json:"wanted"`
	Median  float64 `json:"median"`
	// Low and High are the quartiles over the pairs.
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Pairs int     `json:"pairs"`
	Holds bool    `json:"holds"`
}

// newRatio sums up the ratios of pairs; holds judges their median.
func newRatio(what, against, wanted string, pairs []float64, holds func(median float64) bool) ratio {
	slices.Sort(pairs)
	at := func(q float64) float64 { return pairs[int(math.Round(q*float64(len(pairs)-1)))] }
	r := ratio{What: what, Against: against, Wanted: wanted, Median: at(0.5), Low: at(0.25), High: at(0.75), Pairs: len(pairs)}
	r.Holds = holds(r.Median)
	return r
}

// within tells whether a ratio is 1, give or take share.
func within(share float64) func(float64) bool {
	return func(median float64) bool { return math.Abs(median-1) <= share }
}

func printTable(w io.Writer, results []ratio) {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"what", "against", "ratio", "quartiles", "pairs", "wanted", "holds"})
	for _, r := range results {
		holds := "yes"
		if !r.Holds {
			holds = "NO"
		}
		t.AppendRow(table.Row{
			r.What, r.Against, fmt.Sprintf("%.4f", r.Median), fmt.Sprintf("%.4f to %.4f", r.Low, r.High), r.Pairs, r.Wanted, holds,
		})
	}
	fmt.Fprintln(w, t.Render())
}

func writeJSON(path string, results []ratio) error {
	text, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
