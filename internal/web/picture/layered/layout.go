package layered

// Size is how large a box wants to be. Its width grows to that of its column.
type Size struct{ W, H float64 }

// Gap is the room between things.
type Gap struct {
	Column float64 // between two columns, at least
	Row    float64 // between two boxes of a column
	Line   float64 // between an edge that crosses a column and its neighbours
	Part   float64 // between parts of the graph that nothing connects
	Width  float64 // parts stand side by side up to this width
}

// Box is a placed box.
type Box struct{ X, Y, W, H float64 }

// Point is a corner of an edge.
type Point struct{ X, Y float64 }

// Edge is a placed edge. Its points come in pairs: from the first of a pair
// to the second it crosses a gap between columns, from there to the next pair
// it crosses a column, level.
type Edge struct {
	From, To int
	Points   []Point
	// Back marks an edge that closes a cycle: it runs against the direction.
	Back bool
}

// Layout is where everything is, from 0, 0 to W, H.
type Layout struct {
	Boxes []Box
	Edges []Edge // in the order given; no loops, no repeats, no unknown ends
	W, H  float64
}

// Place lays out a graph. Edges that start and end at one box, that repeat
// another or that name no box are left out.
func Place(sizes []Size, edges [][2]int, gap Gap) Layout {
	g := newGraph(sizes, edges)
	layers := g.layers()
	out := Layout{Boxes: make([]Box, len(sizes)), Edges: make([]Edge, len(g.edges))}
	for i, e := range g.edges {
		out.Edges[i] = Edge{From: e.from, To: e.to, Back: e.back}
	}
	var parts []*part
	for _, members := range g.parts() {
		p := newPart(g, members, layers)
		p.order()
		p.place(gap)
		parts = append(parts, p)
	}
	pack(parts, gap)
	for _, p := range parts {
		p.write(&out)
	}
	for _, b := range out.Boxes {
		out.W, out.H = max(out.W, b.X+b.W), max(out.H, b.Y+b.H)
	}
	for i := range out.Edges {
		e := &out.Edges[i]
		if e.Back {
			a, b := out.Boxes[e.From], out.Boxes[e.To]
			e.Points = []Point{{a.X + a.W, a.Y + a.H/2}, {b.X, b.Y + b.H/2}}
		}
		for _, p := range e.Points {
			out.H = max(out.H, p.Y)
		}
	}
	return out
}
