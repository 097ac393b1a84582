package picture

import (
	"fmt"
	"math"
)

// Spark is a row of values without an axis, for a line of text or a tile.
type Spark struct {
	Title  string
	Values []float64 // from old to new; NaN: a gap
	Tone   State     // whose colour it has; "": neutral
	Unit   string    // "tasks a minute"
}

// Sparkline draws a Spark. It has no text of its own and takes the size of its
// place.
func Sparkline(in Spark) SVG {
	const w, h = 120.0, 28.0
	low, high, last := math.Inf(1), 0.0, math.NaN()
	for _, v := range in.Values {
		if usable(v) {
			low, high, last = min(low, v), max(high, v), v
		}
	}
	title := orTitle(in.Title, "Trend")
	if math.IsNaN(last) {
		return empty("No data yet.")
	}
	top := high
	if top <= 0 {
		top = 1
	}
	var c canvas
	step := w / float64(max(len(in.Values)-1, 1))
	y := func(v float64) float64 { return h - 2 - (h-4)*bound(v/top, 0, 1) }
	var line, area path
	open := false
	for i, v := range in.Values {
		x := step * float64(i)
		if !usable(v) {
			if open {
				area.plumb(h).raw("z")
			}
			open = false
			continue
		}
		if !open {
			// A value between two gaps is a short level line, not nothing.
			line.move(x, y(v)).raw("h1")
			area.move(x, h).plumb(y(v))
			open = true
			continue
		}
		line.line(x, y(v))
		area.line(x, y(v))
	}
	if open {
		area.plumb(h).raw("z")
	}
	class := "pic-free"
	if in.Tone != "" {
		class = in.Tone.look().class
	}
	c.leaf("path", "class", "pic-under "+class, "d", area.String())
	c.leaf("path", "class", "pic-line "+class, "d", line.String(), "vector-effect", "non-scaling-stroke")
	unit := ""
	if in.Unit != "" {
		unit = " " + in.Unit
	}
	desc := fmt.Sprintf("Last %s%s, lowest %s, highest %s.", short(last), unit, short(low), short(high))
	return c.seal(frame{class: "pic-spark", w: w, h: h, title: title + ". " + desc, grow: true, stretch: true})
}

func usable(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
