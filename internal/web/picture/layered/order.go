package layered

import (
	"cmp"
	"slices"
)

// sweeps is how often the columns are put in order, there and back. The
// crossings hardly fall after a few.
func (p *part) sweeps() int { return 4 + 8*1500/(1500+len(p.points)) }

// order sorts every column so that few edges cross: each point goes to the
// mean place of its neighbours in the column before it, then in the one after
// it, and the best order seen wins.
func (p *part) order() {
	if len(p.columns) < 2 {
		return
	}
	best, kept := p.crossings(), p.copyColumns()
	for i, idle := 0, 0; i < p.sweeps() && best > 0 && idle < 4; i++ {
		p.sweep(i%2 == 0)
		if len(p.points) <= 600 {
			p.swapNeighbours()
		}
		if n := p.crossings(); n < best {
			best, kept, idle = n, p.copyColumns(), 0
		} else {
			idle++
		}
	}
	p.columns = kept
	p.settle()
}

func (p *part) copyColumns() [][]int {
	out := make([][]int, len(p.columns))
	for i, column := range p.columns {
		out[i] = slices.Clone(column)
	}
	return out
}

func (p *part) sweep(forth bool) {
	mean := make([]float64, len(p.points))
	for i := range p.columns {
		column := p.columns[i]
		if !forth {
			column = p.columns[len(p.columns)-1-i]
		}
		for at, v := range column {
			near := p.points[v].left
			if !forth {
				near = p.points[v].right
			}
			mean[v] = float64(at)
			if len(near) == 0 {
				continue
			}
			sum := 0
			for _, w := range near {
				sum += p.spot[w]
			}
			mean[v] = float64(sum) / float64(len(near))
		}
		slices.SortStableFunc(column, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
		for at, v := range column {
			p.spot[v] = at
		}
	}
}

// swapNeighbours exchanges two points of a column where that alone uncrosses
// edges, which means do not see.
func (p *part) swapNeighbours() {
	for _, column := range p.columns {
		for i := 0; i+1 < len(column); i++ {
			a, b := &p.points[column[i]], &p.points[column[i+1]]
			now := p.crossed(a.left, b.left) + p.crossed(a.right, b.right)
			if now == 0 {
				continue
			}
			if p.crossed(b.left, a.left)+p.crossed(b.right, a.right) < now {
				column[i], column[i+1] = column[i+1], column[i]
				p.spot[column[i]], p.spot[column[i+1]] = i, i+1
			}
		}
	}
}

// crossed counts the crossings of the edges of two points, the first above
// the second, given the neighbours of each.
func (p *part) crossed(above, below []int) int {
	n := 0
	for _, a := range above {
		for _, b := range below {
			if p.spot[a] > p.spot[b] {
				n++
			}
		}
	}
	return n
}

// crossings counts them all: the inversions among the far ends, read from top
// to bottom, with a tree of sums.
func (p *part) crossings() int {
	n := 0
	var far []int
	for i := 0; i+1 < len(p.columns); i++ {
		size := 1
		for size < len(p.columns[i+1]) {
			size *= 2
		}
		sums := make([]int, 2*size)
		for _, v := range p.columns[i] {
			far = far[:0]
			for _, w := range p.points[v].right {
				far = append(far, p.spot[w])
			}
			slices.Sort(far)
			for _, f := range far {
				// Every edge before this one that ends below f crosses it.
				for k := f + size; k > 1; k /= 2 {
					if k%2 == 0 {
						n += sums[k+1]
					}
				}
			}
			for _, f := range far {
				for k := f + size; k > 0; k /= 2 {
					sums[k]++
				}
			}
		}
	}
	return n
}
