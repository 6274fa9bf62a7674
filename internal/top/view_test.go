package top_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/top"
)

// text returns the text on a screen.
func text(lines []top.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text() + "\n")
	}
	return b.String()
}

// seen returns a view that has seen a node for five minutes: a wave, and a stall at the end.
func seen() *top.View {
	v := top.NewView(time.Second, top.ByTrouble, true)
	for i := range 300 {
		s := node()
		s.Time = s.Time.Add(time.Duration(i-299) * time.Second)
		for j := range s.Devices {
			w := &s.Devices[j].Traffic.Work
			w.Reads *= 1 + math.Sin(float64(i)/20)/2
			s.Devices[j].InFlight = uint64(float64(s.Devices[j].InFlight) * (1 + math.Sin(float64(i)/7)/2))
		}
		v.Add(s)
	}
	v.Add(node())
	return v
}

func press(v *top.View, keys ...top.Key) *top.View {
	for _, k := range keys {
		v.Press(k)
	}
	return v
}

func TestScreens(t *testing.T) {
	alone := func() *top.View {
		v := top.NewView(10*time.Second, top.ByName, false)
		s := node()
		s.Daemon = top.Answer{Address: "http://localhost:10040", Problem: "no daemon answers at http://localhost:10040"}
		s.Problems = []string{"not all devices can be shown: find device sdq: file does not exist; here are: nvme0n1, nvme1n1, nvme2n1, nvme10n1, sda"}
		for i := range s.Devices {
			s.Devices[i].State, s.Devices[i].Verdict, s.Devices[i].Ratio, s.Devices[i].P99 = "", nil, 0, nil
		}
		v.Add(s)
		return v
	}
	many := func() *top.View { // on a machine with a long name
		v := top.NewView(time.Second, top.ByName, false)
		s := node()
		s.Node = "ip-10-0-12-34.eu-central-1.compute.internal"
		for i := range 24 {
			d := s.Devices[1]
			d.Device = fmt.Sprintf("nvme%dn1", i+11)
			s.Devices = append(s.Devices, d)
		}
		v.Add(s)
		return v
	}
	for name, c := range map[string]struct {
		view          *top.View
		width, height int
	}{
		"many":     {press(many(), slices.Repeat([]top.Key{top.KeyDown}, 25)...), 80, 12},
		"none":     {press(seen(), "/", "x", "y", top.KeyEnter), 80, 10},
		"long":     {press(seen(), append([]top.Key{"/"}, slices.Repeat([]top.Key{"a", "b", "c"}, 30)...)...), 80, 10},
		"80":       {seen(), 80, 24},
		"140":      {seen(), 140, 16},
		"short":    {press(seen(), top.KeyDown, top.KeyDown, top.KeyDown, top.KeyDown), 80, 6},
		"latency":  {press(seen(), "s", "s", "s", "r"), 80, 12},
		"filter":   {press(seen(), "/", "n", "v", "x", top.KeyBackspace, "m", "e", "1", top.KeyEnter), 80, 10},
		"typing":   {press(seen(), "/", "s", "e", "v"), 80, 10},
		"device":   {press(seen(), top.KeyEnter), 80, 24},
		"wide":     {press(seen(), top.KeyEnter, top.KeyDown), 140, 40},
		"volume":   {press(seen(), "/", "d", "m", top.KeyEnter, top.KeyEnter), 80, 24},
		"alone":    {alone(), 80, 12},
		"no_p99":   {alone(), 140, 12},
		"170":      {seen(), 170, 10},
		"unjudged": {press(alone(), top.KeyEnter), 80, 24},
		"nothing":  {top.NewView(10*time.Second, top.ByTrouble, false), 80, 24},
	} {
		t.Run(name, func(t *testing.T) {
			lines := c.view.Lines(c.width, c.height)
			golden(t, "screen_"+name+".txt", text(lines))
			assert.LessOrEqual(t, len(lines), c.height)
		})
	}
}

// No line or screen exceeds the terminal, whatever its size.
func TestScreensKeepToTheTerminal(t *testing.T) {
	for _, keys := range [][]top.Key{nil, {top.KeyEnter}, {"/", "n"}} {
		v := press(seen(), keys...)
		for width := 1; width < 260; width++ {
			for _, height := range []int{1, 2, 5, 24, 70} {
				lines := v.Lines(width, height)
				require.LessOrEqual(t, len(lines), height)
				for _, l := range lines {
					require.LessOrEqual(t, len([]rune(l.Text())), width, "%dx%d: %q", width, height, l.Text())
				}
			}
		}
	}
	head, _ := top.Table(nil, 80)
	for _, name := range []string{"device", "IOPS", "MB/s", "read", "write", "flush", "disc.", "inflt", "stall", "ratio", "verdict"} {
		assert.Contains(t, head.Text(), name, "80 characters have all that is promised")
	}
}

func TestKeysOfTheView(t *testing.T) {
	v := seen()
	for key, effect := range map[top.Key]top.Effect{
		top.KeyInterrupt: top.Interrupt, top.KeySuspend: top.Suspend, top.KeyRedraw: top.Redraw, "x": top.Nothing,
	} {
		assert.Equal(t, effect, v.Press(key), key)
	}
	v.Press("/")
	assert.Equal(t, top.Nothing, v.Press("q"), "it is part of the filter")
	assert.Equal(t, top.Interrupt, v.Press(top.KeyInterrupt), "that is none")
	v.Press(top.KeyEscape)
	assert.Contains(t, text(v.Lines(80, 24)), "nvme10n1", "Escape ends the filter")
	v.Press("a")
	assert.False(t, v.All)
	v.Press(top.KeyEnter)
	assert.Equal(t, top.Quit, v.Press("q"))
	v.Press("S")
	assert.Contains(t, text(v.Lines(80, 24)), "by trouble", "a device that is open is not sorted")
	press(v, top.KeyEscape, "S")
	assert.Contains(t, text(v.Lines(80, 24)), "by name")
	assert.Contains(t, text(press(v, "s").Lines(80, 24)), "by trouble")
}

// The cursor stays on its device when rows move. A device that is shown in detail may vanish.
func TestTheCursorFollowsItsDevice(t *testing.T) {
	v := press(seen(), top.KeyDown) // the stalled one
	under := func() string {
		for _, l := range v.Lines(80, 24) {
			if len(l) == 1 && l[0].Tone == top.Selected {
				return strings.Fields(l.Text())[0]
			}
		}
		return ""
	}
	require.Equal(t, "nvme2n1", under())
	require.Equal(t, "nvme2n1", func() string { press(v, "s"); return under() }())
	v.Press(top.KeyEnter)
	gone := node()
	gone.Devices = gone.Devices[:2]
	v.Add(gone)
	assert.NotContains(t, text(v.Lines(80, 24)), "nvme2n1")
	none := node()
	none.Devices = nil
	v.Add(none)
	assert.Contains(t, text(v.Lines(80, 24)), "There is no whole disk here")
	v.Add(node())
	assert.Contains(t, text(v.Lines(80, 24)), "nvme2n1")
}

// A drive that took the name of another one has done nothing yet.
func TestTheNextDriveOfANameHasItsOwnPast(t *testing.T) {
	v := press(seen(), top.KeyEnter)
	replaced := node()
	i := slices.IndexFunc(replaced.Devices, func(r top.Row) bool { return r.Device == "nvme1n1" })
	replaced.Devices[i].ID, replaced.Devices[i].Traffic.Work = "eui.new", record.Work{Reads: 7}
	v.Add(replaced)
	shown := text(v.Lines(80, 24))
	require.Contains(t, shown, "nvme1n1  disk")
	assert.Contains(t, shown, "IOPS: now 7.00, at most 7.00 in the last 1 s")
}
