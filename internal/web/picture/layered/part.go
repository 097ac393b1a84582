package layered

// maxBends bounds the way points of one part. Above it long edges cross boxes:
// nobody can follow tens of thousands of lines anyway, and the page must not wait.
const maxBends = 8_000

// point is a box of a part, or the place where a long edge crosses a column.
type point struct {
	box         int // -1: a bend
	layer       int
	left, right []int // neighbours in the columns beside it
	y, h        float64
}

func (p *point) bend() bool { return p.box < 0 }

// part is a connected part of the graph.
type part struct {
	sizes   []Size
	points  []point
	columns [][]int // points by column, top to bottom
	spot    []int   // index of a point in its column
	routes  []route

	columnX, columnW []float64 // left side and width of each column
	w, h             float64
	x, y             float64 // where pack puts it
}

// route is the points an edge of the graph passes.
type route struct {
	edge  int
	stops []int
}

func newPart(g *graph, members, layers []int) *part {
	p := &part{sizes: g.sizes}
	at := make(map[int]int, len(members))
	first, last := layers[members[0]], layers[members[0]]
	for _, v := range members {
		first, last = min(first, layers[v]), max(last, layers[v])
	}
	p.columns = make([][]int, last-first+1)
	for _, v := range members {
		at[v] = p.add(point{box: v, layer: layers[v] - first, h: g.sizes[v].H})
	}
	p.connect(g, members, at, layers)
	p.spot = make([]int, len(p.points))
	p.settle()
	return p
}

func (p *part) add(q point) int {
	p.points = append(p.points, q)
	p.columns[q.layer] = append(p.columns[q.layer], len(p.points)-1)
	return len(p.points) - 1
}

func (p *part) join(a, b int) {
	for _, w := range p.points[a].right {
		if w == b {
			return
		}
	}
	p.points[a].right = append(p.points[a].right, b)
	p.points[b].left = append(p.points[b].left, a)
}

// settle writes down the place of every point in its column.
func (p *part) settle() {
	for _, column := range p.columns {
		for i, v := range column {
			p.spot[v] = i
		}
	}
}

// connect lays the edges of the part through bends. Long edges that share an
// end share their bends: they run as one line and part where they must.
func (p *part) connect(g *graph, members []int, at map[int]int, layers []int) {
	type lane struct{ end, layer, way int }
	bends := map[lane]int{}
	longOut, longIn, need := map[int]int{}, map[int]int{}, 0
	for _, v := range members {
		for _, k := range g.out[v] {
			e := g.edges[k]
			if span := layers[e.to] - layers[e.from]; !e.back && span > 1 {
				longOut[e.from]++
				longIn[e.to]++
				need += span - 1
			}
		}
	}
	for _, v := range members {
		for _, k := range g.out[v] {
			e := g.edges[k]
			if e.back {
				continue
			}
			a, b := at[e.from], at[e.to]
			r := route{edge: k, stops: []int{a}}
			from, to := p.points[a].layer, p.points[b].layer
			if to-from > 1 && need > maxBends && len(bends)+to-from > maxBends {
				r.stops = append(r.stops, b)
				p.routes = append(p.routes, r)
				continue
			}
			key := lane{end: e.from, way: 1}
			if longIn[e.to] > longOut[e.from] {
				key = lane{end: e.to, way: -1}
			}
			was := a
			for l := from + 1; l < to; l++ {
				key.layer = l
				d, ok := bends[key]
				if !ok {
					d = p.add(point{box: -1, layer: l})
					bends[key] = d
				}
				p.join(was, d)
				r.stops = append(r.stops, d)
				was = d
			}
			p.join(was, b)
			r.stops = append(r.stops, b)
			p.routes = append(p.routes, r)
		}
	}
}
