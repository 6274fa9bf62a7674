package plot

// legendRows distributes the names of the series over as many rows as they need.
func (p Plot) legendRows(width float64) [][]Series {
	var rows [][]Series
	used := width
	for _, s := range p.Series {
		if s.Name == "" {
			continue
		}
		s.Name = cut(s.Name, width-60)
		need := 44 + textWidth(s.Name)
		if used+need > width-20 {
			rows = append(rows, nil)
			used = 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], s)
		used += need
	}
	return rows
}

func drawLegend(svg *node, rows [][]Series) {
	for i, row := range rows {
		x, y := 14.0, 12+rowHeight*float64(i)
		for _, s := range row {
			colour := colourClass(s.Colour)
			switch s.Shape {
			case Steps:
				svg.rect(x, y-5, 22, 10, "area "+colour)
				svg.line(x, y-5, x+22, y-5, "line "+colour)
			case LinePoints, Line, Points:
				class := "line " + colour
				if s.Dashed {
					class += " dashed"
				}
				if s.Shape != Points {
					svg.line(x, y, x+22, y, class)
				}
				if s.Shape != Line {
					svg.add("path", "class", "key "+colour, "d", marker(s.Colour, x+11, y))
				}
			}
			svg.label(x+28, y+4, "start", "legend", s.Name)
			x += 44 + textWidth(s.Name)
		}
	}
}
