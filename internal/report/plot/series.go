package plot

import "strconv"

const (
	// mostPoints is the largest number of points of a line that are drawn one by one.
	mostPoints = 150
	// mostShown is the largest number of values drawn of a series: two for each pixel.
	mostShown = 2 * int(width)
)

// shown leaves out the points that the axes cannot show. Of very many points it keeps the
// lowest and the highest of each group, so that no outlier is lost.
func (s Series) shown(x, y Scale) Series {
	var points []Point
	for _, p := range s.Points {
		_, okX := x.on(p.X)
		_, okY := y.on(p.Y)
		if okX && okY {
			points = append(points, p)
		}
	}
	s.Points = points
	if len(points) <= mostShown {
		return s
	}
	groups := mostShown / 2
	s.Points = nil
	for g := range groups {
		from, to := g*len(points)/groups, (g+1)*len(points)/groups
		low, high := from, from
		for i := from; i < to; i++ {
			if points[i].Y < points[low].Y {
				low = i
			}
			if points[i].Y > points[high].Y {
				high = i
			}
		}
		s.Points = append(s.Points, points[min(low, high)])
		if low != high {
			s.Points = append(s.Points, points[max(low, high)])
		}
	}
	return s
}

func colourClass(colour int) string { return "c" + strconv.Itoa((max(1, colour)-1)%Colours+1) }

// marker returns the outline of a point. Each colour has its own shape.
func marker(colour int, x, y float64) string {
	at := func(dx, dy float64) string { return px(x+dx) + " " + px(y+dy) }
	switch (max(1, colour) - 1) % Colours {
	case 1: // square
		return "M" + at(-3, -3) + "H" + px(x+3) + "V" + px(y+3) + "H" + px(x-3) + "Z"
	case 2: // triangle
		return "M" + at(0, -4) + "L" + at(3.8, 3) + "L" + at(-3.8, 3) + "Z"
	case 3: // diamond
		return "M" + at(0, -4.4) + "L" + at(4.4, 0) + "L" + at(0, 4.4) + "L" + at(-4.4, 0) + "Z"
	case 4: // triangle downwards
		return "M" + at(0, 4) + "L" + at(3.8, -3) + "L" + at(-3.8, -3) + "Z"
	case 5: // bar
		return "M" + at(-1.6, -4.6) + "H" + px(x+1.6) + "V" + px(y+4.6) + "H" + px(x-1.6) + "Z"
	default: // circle
		return "M" + at(-3.4, 0) + "a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0Z"
	}
}
