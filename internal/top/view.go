package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// View is what the user sees: the last sample, the past of each device, and what was selected with keys. It is
// independent of a terminal. Create one with NewView.
type View struct {
	Every time.Duration // the interval
	// All says that devices that are not whole disks are wanted, too.
	All bool

	sample  Sample
	pasts   map[pastKey]*past
	order   Order
	reverse bool
	filter  string
	typing  bool   // whether the filter is being typed
	chosen  string // device under the cursor; the first row if no row has this name
	open    bool   // whether one device is shown in detail
	top     int    // index of the first row shown
}

// pastKey identifies a device: another drive may get its name, and two paths to one drive have the same id.
type pastKey struct{ device, id string }

func pastOf(r Row) pastKey { return pastKey{r.Device, r.ID} }

// NewView returns a View without a sample.
func NewView(every time.Duration, by Order, all bool) *View {
	return &View{Every: every, All: all, order: by, pasts: map[pastKey]*past{}}
}

// Add adds the next sample. A device that is not in it has no past any more.
func (v *View) Add(s Sample) {
	v.sample = s
	pasts := make(map[pastKey]*past, len(s.Devices))
	for _, r := range s.Devices {
		key := pastOf(r)
		pasts[key] = cmp.Or(v.pasts[key], &past{})
		pasts[key].add(r)
	}
	v.pasts = pasts
}

// Effect is what a key asks the caller of Press to do.
type Effect int

// The effects of keys.
const (
	Nothing   Effect = iota
	Quit             // end normally
	Interrupt        // end as if by a signal
	Suspend          // give back the terminal for a while
	Redraw           // redraw, because something else wrote to the terminal
)

// Press handles a key.
func (v *View) Press(k Key) Effect {
	switch {
	case k == KeyInterrupt:
		return Interrupt
	case k == KeySuspend:
		return Suspend
	case k == KeyRedraw:
		return Redraw
	case v.typing:
		v.typed(k)
	case k == "q":
		return Quit
	case v.open:
		v.leave(k)
	default:
		v.pressed(k)
	}
	return Nothing
}

// typed edits the filter.
func (v *View) typed(k Key) {
	switch {
	case k == KeyEnter:
		v.typing = false
	case k == KeyEscape:
		v.typing, v.filter = false, ""
	case k == KeyBackspace:
		if runes := []rune(v.filter); len(runes) > 0 {
			v.filter = string(runes[:len(runes)-1])
		}
	case len([]rune(k)) == 1:
		v.filter += string(k)
	}
}

// leave closes the device shown in detail, or goes to another one.
func (v *View) leave(k Key) {
	switch k {
	case KeyUp, "k":
		v.move(-1)
	case KeyDown, "j":
		v.move(1)
	case KeyEscape, KeyEnter, KeyBackspace:
		v.open = false
	default:
	}
}

func (v *View) pressed(k Key) {
	orders := Orders()
	at := slices.Index(orders, v.order)
	switch k {
	case "s":
		v.order = orders[(at+1)%len(orders)]
	case "S":
		v.order = orders[(at+len(orders)-1)%len(orders)]
	case "r":
		v.reverse = !v.reverse
	case "a":
		v.All = !v.All
	case "/":
		v.typing = true
	case KeyEscape:
		v.filter = ""
	case KeyUp, "k":
		v.move(-1)
	case KeyDown, "j":
		v.move(1)
	case KeyEnter:
		v.open = len(v.rows()) > 0
		v.move(0)
	default:
	}
}

// move moves the cursor.
func (v *View) move(by int) {
	if rows := v.rows(); len(rows) > 0 {
		v.chosen = rows[min(max(0, v.cursor(rows)+by), len(rows)-1)].Device
	}
}

// cursor returns the index of the row under the cursor.
func (v *View) cursor(rows []Row) int {
	return max(0, slices.IndexFunc(rows, func(r Row) bool { return r.Device == v.chosen }))
}

// rows returns the rows that match the filter, sorted.
func (v *View) rows() []Row {
	wanted := strings.ToLower(v.filter)
	rows := slices.DeleteFunc(slices.Clone(v.sample.Devices), func(r Row) bool {
		return !strings.Contains(strings.ToLower(strings.Join([]string{r.Device, r.Model, string(r.State)}, "\n")), wanted)
	})
	Sort(rows, v.order, v.reverse)
	return rows
}

// Lines returns the lines to show on a terminal of that size.
func (v *View) Lines(width, height int) []Line {
	if v.sample.Time.IsZero() {
		return []Line{line(Plain, fmt.Sprintf("Counting for the first %s …", units.Span(v.Every))).clip(width)}
	}
	rows := v.rows()
	lines := append([]Line{nil}, Notes(v.sample)...)
	about := "ssdprobe's I/O too"
	if i := v.cursor(rows); v.open && len(rows) > 0 {
		r := rows[i]
		lines = append(lines, detail(r, v.pasts[pastOf(r)], v.sample.Time, v.Every, width, height-len(lines)-1)...)
	} else {
		table := v.table(rows, width, height-len(lines)-1)
		if n := len(table) - 1; n < len(rows) {
			about = fmt.Sprintf("%d–%d of %d shown", v.top+1, v.top+n, len(rows))
		} else if n == 0 && len(v.sample.Devices) > 0 {
			table = append(table, line(Plain, "No device has that in its name, model or verdict."))
		}
		lines = append(lines, table...)
	}
	lines[0] = v.title(rows, width)
	for len(lines) < height-1 {
		lines = append(lines, nil)
	}
	lines = append(lines[:max(0, min(len(lines), height-1))], v.prompt(width, about))
	for i := range lines {
		lines[i] = lines[i].clip(width)
	}
	return lines
}

// leastNode is the smallest width of the machine's name.
const leastNode = 8

// title returns the first line. If there is little room, it cuts a long machine name rather than what is wrong
// on the machine.
func (v *View) title(rows []Row, width int) Line {
	s := v.sample
	text := fmt.Sprintf("  %s  every %s  %s", s.Time.Local().Format(time.TimeOnly), units.Span(v.Every), Summary(rows))
	l := append(line(Plain, text), Span{"  by " + string(v.order), Faint})
	if v.reverse {
		l = append(l, Span{", reversed", Faint})
	}
	if v.filter != "" && !v.typing {
		l = append(l, line(Warn, "  only "+v.filter)...)
	}
	return append(line(Plain, s.Node).clip(max(leastNode, width-len([]rune(l.Text())))), l...)
}

// Summary counts the devices with problems: "12 devices, 1 severe, 2 stalled".
func Summary(rows []Row) string {
	states, stalled := make([]finding.State, len(rows)), 0
	for i, r := range rows {
		states[i] = r.State
		if r.Stall != nil {
			stalled++
		}
	}
	text := units.Plural(len(rows), "device") + finding.CountStates(states, finding.Bad)
	if stalled > 0 {
		text += fmt.Sprintf(", %d stalled", stalled)
	}
	return text
}

// Notes returns a line for each thing that is missing.
func Notes(s Sample) []Line {
	var notes []Line
	if s.Daemon.Problem != "" {
		notes = append(notes, line(Warn, "No verdicts: "+s.Daemon.Problem))
	}
	for _, p := range s.Problems {
		notes = append(notes, line(Warn, p))
	}
	if len(s.Devices)+len(s.Problems) == 0 {
		notes = append(notes, line(Plain, "There is no whole disk here; --all or the key a shows all devices."))
	}
	return notes
}

// table returns the part of the table around the cursor that fits.
func (v *View) table(rows []Row, width, height int) []Line {
	head, lines := Table(rows, width)
	room := max(1, height-1)
	cursor := v.cursor(rows)
	v.top = max(0, min(v.top, cursor, len(rows)-room), cursor-room+1)
	if len(lines) > 0 {
		lines[cursor] = Line{{pad(lines[cursor].Text(), width, true), Selected}}
	}
	return append([]Line{head}, lines[v.top:min(len(lines), v.top+room)]...)
}

// lastOf returns the end of a text, where the user types.
func lastOf(text string, columns int) string {
	runes := []rune(text)
	if columns = max(1, columns); len(runes) <= columns {
		return text
	}
	return "…" + string(runes[len(runes)-columns+1:])
}

// prompt returns the last line: what the keys do and a note about the table, or the filter while it is typed.
func (v *View) prompt(width int, about string) Line {
	switch {
	case v.typing:
		return line(Strong, "only devices with: "+lastOf(v.filter, width-20)+"_")
	case v.open:
		return line(Faint, "q quit  Esc back  ↑↓ other device   All I/O is counted, ssdprobe's own too.")
	}
	return line(Faint, "q quit  s sort  r reverse  / filter  ↑↓ Enter open  a all   "+about)
}
