package layered

type edge struct {
	from, to int
	back     bool
}

type graph struct {
	sizes []Size
	edges []edge
	out   [][]int // edges that leave a box
	in    [][]int
}

func newGraph(sizes []Size, edges [][2]int) *graph {
	n := len(sizes)
	g := &graph{sizes: sizes, out: make([][]int, n), in: make([][]int, n)}
	seen := make(map[[2]int]bool, len(edges))
	for _, e := range edges {
		if e[0] == e[1] || e[0] < 0 || e[1] < 0 || e[0] >= n || e[1] >= n || seen[e] {
			continue
		}
		seen[e] = true
		g.out[e[0]] = append(g.out[e[0]], len(g.edges))
		g.in[e[1]] = append(g.in[e[1]], len(g.edges))
		g.edges = append(g.edges, edge{from: e[0], to: e[1]})
	}
	g.breakCycles()
	return g
}

// breakCycles marks the edges that lead back to a box on the way to it. The
// others form no cycle. It keeps its own stack: a chain may be as long as the
// graph.
func (g *graph) breakCycles() {
	const (
		white = iota
		grey
		black
	)
	colour := make([]int, len(g.sizes))
	next := make([]int, len(g.sizes))
	var stack []int
	visit := func(root int) {
		if colour[root] != white {
			return
		}
		colour[root] = grey
		stack = append(stack[:0], root)
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			if next[v] == len(g.out[v]) {
				colour[v] = black
				stack = stack[:len(stack)-1]
				continue
			}
			e := &g.edges[g.out[v][next[v]]]
			next[v]++
			switch colour[e.to] {
			case grey:
				e.back = true
			case white:
				colour[e.to] = grey
				stack = append(stack, e.to)
			}
		}
	}
	// Boxes that need nothing first, so that a cycle is cut where it is entered.
	for v := range g.sizes {
		if len(g.in[v]) == 0 {
			visit(v)
		}
	}
	for v := range g.sizes {
		visit(v)
	}
}

// layers gives each box its column: one more than the last of its needs.
func (g *graph) layers() []int {
	layer := make([]int, len(g.sizes))
	wait := make([]int, len(g.sizes))
	for _, e := range g.edges {
		if !e.back {
			wait[e.to]++
		}
	}
	var queue []int
	for v, n := range wait {
		if n == 0 {
			queue = append(queue, v)
		}
	}
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		for _, k := range g.out[v] {
			e := g.edges[k]
			if e.back {
				continue
			}
			layer[e.to] = max(layer[e.to], layer[v]+1)
			if wait[e.to]--; wait[e.to] == 0 {
				queue = append(queue, e.to)
			}
		}
	}
	return layer
}

// parts lists the boxes of each connected part, ordered by their first box.
func (g *graph) parts() [][]int {
	part := make([]int, len(g.sizes))
	for v := range part {
		part[v] = -1
	}
	var out [][]int
	for root := range g.sizes {
		if part[root] >= 0 {
			continue
		}
		n := len(out)
		part[root] = n
		queue := []int{root}
		for i := 0; i < len(queue); i++ {
			v := queue[i]
			for _, k := range g.out[v] {
				if w := g.edges[k].to; part[w] < 0 {
					part[w] = n
					queue = append(queue, w)
				}
			}
			for _, k := range g.in[v] {
				if w := g.edges[k].from; part[w] < 0 {
					part[w] = n
					queue = append(queue, w)
				}
			}
		}
		out = append(out, nil)
	}
	for v, n := range part {
		out[n] = append(out[n], v)
	}
	return out
}
