package picture

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/locale"
)

const (
	chartWidth  = 560
	chartHeight = 150
	chartCells  = 240 // more stretches than this are joined
	chartTop    = 26.0
	chartBottom = 20.0
)

// layer is one kind of value of a chart.
type layer struct {
	name   string
	class  string
	now    string // the value its legend shows
	dashed bool
}

// chart draws values over time: areas on one another, or lines.
type chart struct {
	title    string
	say      string
	step     time.Duration
	from, to time.Time
	w, h     float64
	stacked  bool
	layers   []layer
	write    func(float64) string
	nice     func(float64) float64

	points []point
	cells  []cell
	c      canvas
	s      span
	top    float64 // the highest value of the axis
}

type point struct {
	at     time.Time
	values []float64
}

// cell is one stretch of the axis. It has no values where nothing was counted.
type cell struct {
	at     time.Time
	values []float64
}

func newChart(title, instead string, step time.Duration, from, to time.Time, w, h int) *chart {
	if step <= 0 {
		step = time.Minute
	}
	c := &chart{title: orTitle(title, instead), step: step, from: from, to: to, w: float64(w), h: float64(h), nice: niceNumber}
	if w < 160 {
		c.w = chartWidth
	}
	if h < 80 {
		c.h = chartHeight
	}
	return c
}

func (c *chart) add(at time.Time, values ...float64) {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			values[i] = 0
		}
	}
	c.points = append(c.points, point{at, values})
}

// fill sorts the points into cells. Where several fall into one, areas add up
// and lines keep the highest.
func (c *chart) fill() bool {
	if len(c.points) == 0 {
		return false
	}
	first, last := c.points[0].at, c.points[0].at
	for _, p := range c.points {
		if p.at.Before(first) {
			first = p.at
		}
		if p.at.After(last) {
			last = p.at
		}
	}
	if c.from.IsZero() {
		c.from = first
	}
	if c.to.IsZero() {
		c.to = last.Add(c.step)
	}
	// Centuries are a fault of the caller, but no reason to overflow.
	length := min(max(c.to.Sub(c.from), c.step), 100*364*day)
	if per := math.Ceil(float64(length) / float64(c.step) / chartCells); per > 1 {
		c.step *= time.Duration(per)
	}
	n := int(math.Ceil(float64(length) / float64(c.step)))
	c.to = c.from.Add(time.Duration(n) * c.step)
	c.cells = make([]cell, n)
	for i := range c.cells {
		c.cells[i].at = c.from.Add(time.Duration(i) * c.step)
	}
	any := false
	for _, p := range c.points {
		if p.at.Before(c.from) || !p.at.Before(c.to) {
			continue
		}
		any = true
		cell := &c.cells[p.at.Sub(c.from)/c.step]
		if cell.values == nil {
			cell.values = make([]float64, len(c.layers))
		}
		for i, v := range p.values {
			if c.stacked {
				cell.values[i] += v
			} else {
				cell.values[i] = max(cell.values[i], v)
			}
		}
	}
	return any
}

func (c *chart) draw(lang *locale.Words, nothing string) SVG {
	if !c.fill() {
		return empty(nothing)
	}
	for _, cell := range c.cells {
		sum, high := 0.0, 0.0
		for _, v := range cell.values {
			sum += v
			high = max(high, v)
		}
		if c.stacked {
			high = sum
		}
		c.top = max(c.top, high)
	}
	highest := c.top
	c.top = c.nice(c.top)
	left := max(textWidth(c.write(c.top), sizeSmall), textWidth(c.write(c.top/2), sizeSmall), textWidth("UTC", sizeSmall)) + 10
	c.s = newSpan(c.from, c.to, left, c.w-left-6)
	c.drawScale(lang)
	if c.stacked {
		c.drawAreas()
	} else {
		c.drawLines()
	}
	c.drawLegend()
	c.drawHits(lang)
	desc := lang.Say("drawn.chart", c.say, stamp(c.from), stamp(c.to), c.write(highest))
	return c.c.seal(frame{class: "pic-chart", w: c.w, h: c.h, title: c.title, desc: strings.TrimSpace(desc), grow: true})
}

func (c *chart) floor() float64 { return c.h - chartBottom }

func (c *chart) y(v float64) float64 {
	return c.floor() - (c.floor()-chartTop)*bound(v/c.top, 0, 1)
}

func (c *chart) x(i int) float64 { return c.s.x + c.s.w*float64(i)/float64(len(c.cells)) }

func (c *chart) drawScale(lang *locale.Words) {
	for _, v := range []float64{0, c.top / 2, c.top} {
		y := math.Round(c.y(v)) + 0.5
		c.c.leaf("path", "class", "pic-grid", "d", fmt.Sprintf("M%s %sH%s", num(c.s.x), num(y), num(c.s.x+c.s.w)))
		c.c.text(c.s.x-6, y+3.5, "pic-small pic-muted pic-tabular", "end", c.write(v))
	}
	c.c.text(c.s.x-6, c.h-5, "pic-small pic-muted", "end", "UTC")
	edge := c.s.x - 2
	for _, t := range c.s.ticks(lang) {
		half := textWidth(t.label, sizeSmall) / 2
		x := bound(c.s.at(t.at), c.s.x+half, c.s.x+c.s.w-half)
		if x-half < edge {
			continue
		}
		c.c.text(x, c.h-5, "pic-small pic-muted pic-tabular", "middle", t.label)
		edge = x + half + 8
	}
}

// runs calls f for every unbroken row of cells with values.
func (c *chart) runs(f func(from, to int)) {
	for i := 0; i < len(c.cells); {
		if c.cells[i].values == nil {
			i++
			continue
		}
		k := i
		for k < len(c.cells) && c.cells[k].values != nil {
			k++
		}
		f(i, k)
		i = k
	}
}

func (c *chart) drawAreas() {
	for l := range c.layers {
		var d path
		c.runs(func(from, to int) {
			below, above := make([]float64, to-from), make([]float64, to-from)
			for i := from; i < to; i++ {
				for k, v := range c.cells[i].values[:l+1] {
					if k < l {
						below[i-from] += v
					}
					above[i-from] += v
				}
			}
			d.move(c.x(from), c.y(below[0]))
			for i, v := range above {
				y := c.y(v)
				// A single failure among thousands must not vanish.
				if v > below[i] {
					y = min(y, c.y(below[i])-1.5)
				}
				d.plumb(y).level(c.x(from + i + 1))
			}
			for i := len(below) - 1; i >= 0; i-- {
				d.plumb(c.y(below[i])).level(c.x(from + i))
			}
			d.raw("z")
		})
		c.c.leaf("path", "class", "pic-area "+c.layers[l].class, "d", d.String())
	}
}

func (c *chart) drawLines() {
	for l, layer := range c.layers {
		var line, area, dots path
		c.runs(func(from, to int) {
			mid := func(i int) float64 { return (c.x(i) + c.x(i+1)) / 2 }
			if to == from+1 {
				dots.move(mid(from), c.y(c.cells[from].values[l])).raw("h0")
				return
			}
			area.move(mid(from), c.floor())
			for i := from; i < to; i++ {
				x, y := mid(i), c.y(c.cells[i].values[l])
				if i == from {
					line.move(x, y)
				} else {
					line.line(x, y)
				}
				area.line(x, y)
			}
			area.line(mid(to-1), c.floor()).raw("z")
		})
		class := "pic-line " + layer.class
		if layer.dashed {
			class += " pic-dashed"
		}
		if !area.empty() {
			c.c.leaf("path", "class", "pic-under "+layer.class, "d", area.String())
			c.c.leaf("path", "class", class, "d", line.String())
		}
		if !dots.empty() {
			c.c.leaf("path", "class", "pic-dots "+layer.class, "d", dots.String())
		}
	}
}

// drawLegend names the layers with a value each, from the right.
func (c *chart) drawLegend() {
	x := c.w - 6
	for i := len(c.layers) - 1; i >= 0; i-- {
		l := c.layers[i]
		word := strings.TrimSpace(l.name + " " + l.now)
		c.c.text(x, 13, "pic-small pic-tabular", "end", word)
		x -= textWidth(word, sizeSmall) + 16
		if c.stacked {
			c.c.leaf("rect", "class", "pic-fill "+l.class, "x", x, "y", 5, "width", 10, "height", 8, "rx", 2)
		} else {
			class := "pic-line " + l.class
			if l.dashed {
				class += " pic-dashed"
			}
			c.c.leaf("path", "class", class, "d", fmt.Sprintf("M%s 9.5h12", num(x-2)))
		}
		x -= 14
	}
}

// drawHits lays an invisible column over every cell, whose tooltip says its values.
func (c *chart) drawHits(lang *locale.Words) {
	for i, cell := range c.cells {
		say := lang.Say("drawn.minute", dayOf(lang, cell.at), cell.at.UTC().Format("15:04"))
		if c.step < time.Minute {
			say = stamp(cell.at)
		}
		if cell.values == nil {
			say += "\n" + lang.Say("drawn.uncounted")
		}
		for k, v := range cell.values {
			say += "\n" + c.layers[k].name + " " + c.write(v)
		}
		c.c.open("rect", "class", "pic-hit pic-column", "x", c.x(i), "y", chartTop, "width", c.x(i+1)-c.x(i), "height", c.floor()-chartTop)
		c.c.title(say)
		c.c.close("rect")
	}
}
