package layered

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

var gap = Gap{Column: 40, Row: 12, Line: 8, Part: 30, Width: 800}

// drawn is any graph: with cycles, loops, repeats and edges to nowhere.
func drawn(t *rapid.T) ([]Size, [][2]int) {
	n := rapid.IntRange(1, 40).Draw(t, "boxes")
	sizes := make([]Size, n)
	for i := range sizes {
		sizes[i] = Size{W: rapid.Float64Range(20, 200).Draw(t, "w"), H: rapid.Float64Range(10, 60).Draw(t, "h")}
	}
	edges := make([][2]int, rapid.IntRange(0, 90).Draw(t, "edges"))
	for i := range edges {
		edges[i] = [2]int{rapid.IntRange(-1, n).Draw(t, "from"), rapid.IntRange(-1, n).Draw(t, "to")}
	}
	return sizes, edges
}

// wanted is the edges that a layout has to draw.
func wanted(n int, edges [][2]int) [][2]int {
	var out [][2]int
	seen := map[[2]int]bool{}
	for _, e := range edges {
		if e[0] != e[1] && min(e[0], e[1]) >= 0 && max(e[0], e[1]) < n && !seen[e] {
			seen[e] = true
			out = append(out, e)
		}
	}
	return out
}

func TestAnyGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes, edges := drawn(t)
		l := Place(sizes, edges, gap)
		checkBoxes(t, sizes, l)
		checkEdges(t, wanted(len(sizes), edges), l)
		if again := Place(sizes, edges, gap); !reflect.DeepEqual(l, again) {
			t.Fatal("the same graph is laid out in two ways")
		}
	})
}

func checkBoxes(t *rapid.T, sizes []Size, l Layout) {
	for i, a := range l.Boxes {
		for _, v := range []float64{a.X, a.Y, a.W, a.H} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("box %d is nowhere: %+v", i, a)
			}
		}
		if a.X < 0 || a.Y < -0.5 || a.X+a.W > l.W+0.01 || a.Y+a.H > l.H+0.01 {
			t.Fatalf("box %d lies outside: %+v of %g × %g", i, a, l.W, l.H)
		}
		if a.W < sizes[i].W || a.H != sizes[i].H {
			t.Fatalf("box %d is %+v, wanted %+v", i, a, sizes[i])
		}
		for k, b := range l.Boxes[:i] {
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Fatalf("boxes %d and %d overlap: %+v %+v", k, i, b, a)
			}
		}
	}
}

func checkEdges(t *rapid.T, want [][2]int, l Layout) {
	if len(l.Edges) != len(want) {
		t.Fatalf("%d edges drawn of %d", len(l.Edges), len(want))
	}
	for i, e := range l.Edges {
		if e.From != want[i][0] || e.To != want[i][1] {
			t.Fatalf("edge %d joins %d and %d, wanted %v", i, e.From, e.To, want[i])
		}
		a, b := l.Boxes[e.From], l.Boxes[e.To]
		first, last := e.Points[0], e.Points[len(e.Points)-1]
		if far(first, Point{a.X + a.W, a.Y + a.H/2}) || far(last, Point{b.X, b.Y + b.H/2}) {
			t.Fatalf("edge %d does not go from right side to left side: %v, boxes %+v %+v", i, e.Points, a, b)
		}
		if e.Back {
			continue
		}
		checkWay(t, i, e, l)
	}
}

func far(a, b Point) bool { return math.Abs(a.X-b.X) > 1e-6 || math.Abs(a.Y-b.Y) > 1e-6 }

// checkWay: an edge only moves to the right, and where it is level it crosses
// no box.
func checkWay(t *rapid.T, i int, e Edge, l Layout) {
	if len(e.Points)%2 != 0 {
		t.Fatalf("edge %d has a gap without an end: %v", i, e.Points)
	}
	for k := 1; k < len(e.Points); k++ {
		if e.Points[k].X < e.Points[k-1].X {
			t.Fatalf("edge %d turns back: %v", i, e.Points)
		}
	}
	for k := 2; k < len(e.Points); k += 2 {
		p, q := e.Points[k-1], e.Points[k]
		if p.Y != q.Y {
			t.Fatalf("edge %d is not level across a column: %v", i, e.Points)
		}
		for n, b := range l.Boxes {
			if p.Y > b.Y && p.Y < b.Y+b.H && p.X < b.X+b.W && b.X < q.X {
				t.Fatalf("edge %d crosses box %d: %v %+v", i, n, e.Points, b)
			}
		}
	}
}

func TestAcyclicEdgesAllRunForward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes, edges := drawn(t)
		for i, e := range edges {
			edges[i] = [2]int{min(e[0], e[1]), max(e[0], e[1])}
		}
		for i, e := range Place(sizes, edges, gap).Edges {
			if e.Back {
				t.Fatalf("edge %d of a graph without cycles runs back", i)
			}
		}
	})
}

func TestCrossingsAreCountedRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes, edges := drawn(t)
		g := newGraph(sizes, edges)
		layers := g.layers()
		for _, members := range g.parts() {
			p := newPart(g, members, layers)
			slow := 0
			for _, column := range p.columns {
				for i := range column {
					for k := i + 1; k < len(column); k++ {
						slow += p.crossed(p.points[column[i]].right, p.points[column[k]].right)
					}
				}
			}
			if fast := p.crossings(); fast != slow {
				t.Fatalf("counted %d crossings, there are %d", fast, slow)
			}
			before := p.crossings()
			if p.order(); p.crossings() > before {
				t.Fatalf("ordering made %d crossings of %d", p.crossings(), before)
			}
		}
	})
}

func TestTreeHasNoCrossings(t *testing.T) {
	// Children are given in an order that crosses.
	edges := [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 6}, {2, 5}, {3, 4}, {1, 9}, {3, 7}, {2, 8}}
	g := newGraph(make([]Size, 10), edges)
	p := newPart(g, g.parts()[0], g.layers())
	if p.crossings() == 0 {
		t.Fatal("the order given must cross, or this proves nothing")
	}
	if p.order(); p.crossings() != 0 {
		t.Errorf("a tree is left with %d crossings", p.crossings())
	}
}

func TestChainIsStraight(t *testing.T) {
	l := Place([]Size{{50, 20}, {80, 40}, {60, 30}}, [][2]int{{0, 1}, {1, 2}}, gap)
	for i, b := range l.Boxes {
		if b.Y+b.H/2 != l.Boxes[0].Y+l.Boxes[0].H/2 {
			t.Errorf("box %d of a chain is off its line: %+v", i, l.Boxes)
		}
	}
}
