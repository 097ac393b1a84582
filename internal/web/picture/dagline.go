package picture

import (
	"strings"

	"github.com/weirhq/weir/internal/web/picture/layered"
)

const (
	backReach = 34.0 // how far an edge that runs back swings out
	backStep  = 12.0 // between two of them below the graph
)

// drawLinks draws the edges, one path for all of a kind: two thousand elements
// would cost the browser more than the boxes. The kinds lie over one another
// in the order of what matters.
func (d *dag) drawLinks() {
	kinds := []struct {
		class string
		has   func(link) bool
	}{
		{"", func(l link) bool { return !l.open && !l.cause }},
		{"pic-edge-open", func(l link) bool { return l.open && !l.cause }},
		{"pic-edge-cause", func(l link) bool { return l.cause }},
	}
	for _, k := range kinds {
		var lines, heads path
		headed := map[layered.Point]bool{}
		for i, e := range d.at.Edges {
			if !k.has(d.links[i]) {
				continue
			}
			d.line(&lines, e)
			end := e.Points[len(e.Points)-1]
			if !headed[end] {
				headed[end] = true
				heads.move(end.X, end.Y).raw("l-7 -3.5v7z")
			}
		}
		if !lines.empty() {
			d.c.leaf("path", "class", strings.TrimSpace("pic-edge "+k.class), "d", lines.String())
			d.c.leaf("path", "class", strings.TrimSpace("pic-head "+k.class), "d", heads.String())
		}
	}
}

// line adds one edge: curves between columns, level lines across.
func (d *dag) line(to *path, e layered.Edge) {
	p := e.Points
	to.move(p[0].X, p[0].Y)
	if e.Back {
		d.backs++
		low := dagMargin + d.at.H + backStep*float64(d.backs)
		out, in := p[0].X+backReach, p[1].X-backReach
		to.curve(out, p[0].Y, out, low, p[0].X, low).level(p[1].X).curve(in, low, in, p[1].Y, p[1].X, p[1].Y)
		return
	}
	for i := 0; i+1 < len(p); i += 2 {
		a, b := p[i], p[i+1]
		if i > 0 {
			to.level(a.X)
		}
		if a.Y == b.Y {
			to.level(b.X)
			continue
		}
		mid := (a.X + b.X) / 2
		to.curve(mid, a.Y, mid, b.Y, b.X, b.Y)
	}
}
