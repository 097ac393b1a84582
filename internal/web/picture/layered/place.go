package layered

import (
	"cmp"
	"math"
	"slices"
)

// passes is how often the heights are balanced, there and back: often enough
// to come to rest while that is cheap.
func (p *part) passes() int { return 6 + 34*500/(500+len(p.points)) }

// place gives every point its height and every column its x.
func (p *part) place(gap Gap) {
	for _, column := range p.columns {
		y := 0.0
		for i, v := range column {
			if i > 0 {
				y += p.apart(column[i-1], v, gap)
			}
			p.points[v].y = y
		}
	}
	for i := range p.passes() {
		p.balance(i%2 == 0, gap)
	}
	p.trim()
	p.spread(gap)
}

// apart is the least distance between the middles of two points that follow
// one another in a column.
func (p *part) apart(a, b int, gap Gap) float64 {
	d := p.points[a].h/2 + p.points[b].h/2
	if p.points[a].bend() || p.points[b].bend() {
		return d + gap.Line
	}
	return d + gap.Row
}

// balance pulls each point to the heights of its neighbours on one side.
func (p *part) balance(forth bool, gap Gap) {
	for i := range p.columns {
		column := p.columns[i]
		if !forth {
			column = p.columns[len(p.columns)-1-i]
		}
		want, weight := make([]float64, len(column)), make([]float64, len(column))
		for k, v := range column {
			near := p.points[v].left
			if !forth {
				near = p.points[v].right
			}
			want[k], weight[k] = p.pull(v, near)
		}
		p.fitColumn(column, want, weight, gap)
	}
}

// pull is the height a point's neighbours want it at, and how strongly: their
// weighted median, so that a point lines up with one of them instead of
// standing a little beside all. A long edge pulls hard, so that it runs
// straight. A point without neighbours on that side stays where it is.
func (p *part) pull(v int, near []int) (y, weight float64) {
	if len(near) == 0 {
		return p.points[v].y, 0.01
	}
	by := make([]wish, len(near))
	for i, w := range near {
		k := 2.0
		switch {
		case p.points[v].bend() && p.points[w].bend():
			k = 8
		case p.points[v].bend() || p.points[w].bend():
			k = 1
		}
		by[i] = wish{p.points[w].y, k}
		weight += k
	}
	return median(by, weight), weight
}

type wish struct{ y, weight float64 }

// median is the height with half the weight above and half below; between two
// such heights it is the middle.
func median(by []wish, sum float64) float64 {
	slices.SortFunc(by, func(a, b wish) int { return cmp.Compare(a.y, b.y) })
	above := 0.0
	for i, w := range by {
		above += w.weight
		switch {
		case above > sum/2:
			return w.y
		case above == sum/2:
			return (w.y + by[i+1].y) / 2
		}
	}
	return by[len(by)-1].y
}

// fitColumn gives a column the heights nearest to those wanted, by the
// weighted sum of squares, that keep its order and its distances. Points that
// want to be in each other's place become a block that moves as one
// (pool adjacent violators).
func (p *part) fitColumn(column []int, want, weight []float64, gap Gap) {
	type block struct {
		sum, weight float64 // sum of weight × wanted height of its first point
		n           int
	}
	offset := make([]float64, len(column)) // of a point below the first of the column
	var blocks []block
	for k, v := range column {
		if k > 0 {
			offset[k] = offset[k-1] + p.apart(column[k-1], v, gap)
		}
		b := block{weight[k] * (want[k] - offset[k]), weight[k], 1}
		for len(blocks) > 0 {
			above := blocks[len(blocks)-1]
			if above.sum/above.weight < b.sum/b.weight {
				break
			}
			b = block{b.sum + above.sum, b.weight + above.weight, b.n + above.n}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	k := 0
	for _, b := range blocks {
		y := b.sum / b.weight
		for range b.n {
			p.points[column[k]].y = y + offset[k]
			k++
		}
	}
}

// trim moves the part to the top and puts boxes on whole units, which browsers
// draw sharp. A distance may lose one unit by it, which a gap can spare.
func (p *part) trim() {
	top, bottom := math.Inf(1), math.Inf(-1)
	for i := range p.points {
		q := &p.points[i]
		top = min(top, q.y-q.h/2)
	}
	for i := range p.points {
		q := &p.points[i]
		q.y = math.Round(q.y - top)
		bottom = max(bottom, q.y+q.h/2)
	}
	p.h = bottom
}

// spread gives the columns their x. A gap that many edges cross is wider, so
// that their curves can be told apart.
func (p *part) spread(gap Gap) {
	p.columnX, p.columnW = make([]float64, len(p.columns)), make([]float64, len(p.columns))
	x := 0.0
	for i, column := range p.columns {
		p.columnX[i] = x
		edges, steep := 0, 0.0
		for _, v := range column {
			q := &p.points[v]
			if !q.bend() {
				p.columnW[i] = max(p.columnW[i], p.sizes[q.box].W)
			}
			edges += len(q.right)
			for _, w := range q.right {
				steep = max(steep, math.Abs(p.points[w].y-q.y))
			}
		}
		x += p.columnW[i]
		p.w = x
		x += gap.Column + math.Round(min(math.Sqrt(float64(edges))*2+steep/20, 1.5*gap.Column))
	}
}

// write copies the part into the layout.
func (p *part) write(out *Layout) {
	for i := range p.points {
		q := &p.points[i]
		if !q.bend() {
			out.Boxes[q.box] = Box{p.x + p.columnX[q.layer], p.y + q.y - q.h/2, p.columnW[q.layer], q.h}
		}
	}
	for _, r := range p.routes {
		points := make([]Point, 0, 2*len(r.stops)-2)
		for i, v := range r.stops {
			q := &p.points[v]
			left, y := p.x+p.columnX[q.layer], p.y+q.y
			if i > 0 {
				points = append(points, Point{left, y})
			}
			if i+1 < len(r.stops) {
				points = append(points, Point{left + p.columnW[q.layer], y})
			}
		}
		out.Edges[r.edge].Points = points
	}
}

// pack puts the parts under one another, and side by side while there is
// room: first what is connected, then the boxes that stand alone.
func pack(parts []*part, gap Gap) {
	room := gap.Width
	for _, p := range parts {
		room = max(room, p.w)
	}
	x, y, high := 0.0, 0.0, 0.0
	line := func(p *part, apart float64) {
		if x > 0 && x+p.w > room {
			x, y, high = 0, y+high+apart, 0
		}
		p.x, p.y = x, y
		x += p.w + gap.Part
		high = max(high, p.h)
	}
	var alone []*part
	for _, p := range parts {
		if len(p.points) == 1 {
			alone = append(alone, p)
			continue
		}
		line(p, gap.Part)
	}
	if len(alone) == 0 {
		return
	}
	if x > 0 {
		x, y, high = 0, y+high+gap.Part, 0
	}
	wide := 0.0
	for _, p := range alone {
		wide = max(wide, p.w)
	}
	for _, p := range alone {
		p.w, p.columnW[0] = wide, wide
		line(p, gap.Row)
	}
}
