package top

import (
	"slices"
	"strings"
)

// spark draws values as columns of blocks, the newest at the right edge. The highest value fills the height.
func spark(values []float64, width, height int) []string {
	const levels = "▁▂▃▄▅▆▇█"
	blocks := []rune(levels)
	values = values[max(0, len(values)-width):]
	highest := 0.0
	if len(values) > 0 {
		highest = slices.Max(values)
	}
	lines := make([]string, height)
	for i := range lines {
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", width-len(values)))
		floor := (height - 1 - i) * len(blocks) // what the lines below show
		for _, v := range values {
			level := 0
			if v > 0 {
				level = max(1, int(v/highest*float64(height*len(blocks))+0.5))
			}
			switch level -= floor; {
			case level <= 0:
				b.WriteByte(' ')
			default:
				b.WriteRune(blocks[min(level, len(blocks))-1])
			}
		}
		lines[i] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
