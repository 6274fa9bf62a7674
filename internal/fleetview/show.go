package fleetview

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/text"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// SilentNodes precedes the names of Fleet.Silent.
const SilentNodes = "no answer now, but a daemon ran within the last day: "

// Text writes the fleet as text. Healthy drives and hosts are only counted, unless all is set.
func (f Fleet) Text(w io.Writer, all bool) error {
	blocks := []document.Block{document.Sentence(f.headline())}
	if len(f.Silent) > 0 {
		blocks = append(blocks, document.List(SilentNodes, f.Silent...))
	}
	if len(f.Empty) > 0 {
		blocks = append(blocks, document.List("a daemon runs, but watches no drive: ", f.Empty...))
	}
	for _, p := range f.Problems {
		blocks = append(blocks, document.Note{Label: "the answer may be incomplete: ", Text: p})
	}
	if len(f.Drives) == 0 && f.some {
		blocks = append(blocks, document.Sentence("No drive matches: without --model and --since, all drives are listed."))
	}
	if f.Compared == 0 {
		blocks = append(blocks, document.Sentence("No drive is compared with those of other nodes: that needs the recording rules of ssdprobe, and four drives of a model."))
	}
	blocks = append(blocks, f.driveBlocks(all)...)
	blocks = append(blocks, f.hostBlocks(all)...)
	blocks = append(blocks, f.modelBlocks()...)
	return text.Write(w, "fleet", blocks...)
}

func (f Fleet) headline() string {
	nodes, counts := map[Node]bool{}, map[record.DriveVerdict]int{}
	for _, d := range f.Drives {
		nodes[d.Node] = true
		counts[d.Verdict]++
	}
	return fmt.Sprintf("%s on %s at %s: %s", units.Plural(len(f.Drives), "drive"), units.Plural(len(nodes), "node"), units.Time(f.Time), countText(counts))
}

// countText returns the counts in words, "1 severe, 2 degraded, 97 healthy", or "none".
func countText(counts map[record.DriveVerdict]int) string {
	var parts []string
	for _, v := range slices.Backward(record.DriveVerdicts()) { // the worst first
		if n := counts[v]; n > 0 {
			parts = append(parts, units.Count(n)+" "+string(v))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func (f Fleet) driveBlocks(all bool) []document.Block {
	t := document.Table{Names: []string{"node", "drive", "verdict", "slower", "since", "by", "model", "firmware", "powered on"}, Align: "llllllllr"}
	for _, d := range f.Drives {
		if !all && d.Verdict == record.Healthy {
			continue
		}
		by := strings.Join(d.By, ", ")
		if d.Batch {
			by += ", together with others"
		}
		row := t.Add(d.Place(), d.name(), string(d.Verdict), d.slower(), f.sinceText(d.Since), by, d.Model, d.Firmware, ageText(d.PowerOn))
		if changed := record.ChangedWith(d.Attribution); changed != "" {
			row.Notes = []document.Block{document.Sentence(changed)}
		}
	}
	return titled(t)
}

// name returns the device, or a probe file and the device that it is on.
func (d Drive) name() string {
	if path, file := strings.CutPrefix(d.ID, "file:"); file {
		return record.FileOn(path, d.Device)
	}
	return d.Device
}

func (f Fleet) hostBlocks(all bool) []document.Block {
	t := document.Table{Names: []string{"host", "drives", "verdict", "slower", "since"}, Align: "lrlll"}
	for _, h := range f.Hosts {
		if all || h.Verdict.Suspects() {
			t.Add(h.Place(), units.Count(h.Drives), string(h.Verdict), h.slower(), f.sinceText(h.Since))
		}
	}
	return titled(t)
}

func (f Fleet) modelBlocks() []document.Block {
	t := document.Table{Names: []string{"model", "firmware", "drives", "verdicts", "against the fastest firmware"}, Align: "llrlr"}
	for _, m := range f.Models {
		vs := Slower{Ratio: m.VsFastest}.slower()
		if m.Slower {
			vs += " slower"
		}
		t.Add(m.Model, m.Firmware, units.Count(m.Drives), countText(m.Verdicts), vs)
	}
	return titled(t)
}

func titled(t document.Table) []document.Block {
	if len(t.Rows) == 0 {
		return nil
	}
	return []document.Block{document.Gap{}, t}
}

func (s Slower) slower() string { return units.RatioWithin(s.Ratio, s.Lower, s.Upper) }

func (f Fleet) sinceText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return units.Ago(t, f.Time)
}

func ageText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return units.Span(d)
}

// CSV writes a header and a line for each drive, the worst first. Times are RFC 3339; unknown values are empty.
func (f Fleet) CSV(w io.Writer) error {
	lines := [][]string{{"node", "device", "id", "kind", "model", "firmware", "verdict", "ratio", "ratio_lower", "ratio_upper", "since", "by", "batch", "vs_peers", "limit", "probe", "statistic", "power_on_seconds", "cluster", "attribution"}}
	number := func(v float64) string {
		if v == 0 {
			return ""
		}
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	for _, d := range f.Drives {
		since := ""
		if !d.Since.IsZero() {
			since = d.Since.UTC().Format(time.RFC3339)
		}
		lines = append(lines, []string{
			d.Name, d.Device, d.ID, d.Kind, d.Model, d.Firmware, string(d.Verdict), number(d.Ratio), number(d.Lower), number(d.Upper), since,
			strings.Join(d.By, " "), strconv.FormatBool(d.Batch), number(d.VsPeers), number(d.Limit), d.Probe, string(d.Statistic), number(d.PowerOn.Seconds()), d.Cluster,
			strings.Join(record.ChangeTexts(d.Attribution), "; "),
		})
	}
	return report.WriteCSV(w, lines)
}
