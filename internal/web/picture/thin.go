package picture

import (
	"cmp"
	"slices"
)

const (
	thinFrom = 3000 // more links than this and those that follow from others go
	maxLinks = 6000 // more than this are not drawn at all: nobody could follow one
)

// thin leaves out links that follow from others: where a leads to b and b to
// c, a line from a to c says nothing new. If too many are left all the same,
// it drops the last ones and says how many. A link that tells the cause of a
// skip always stays.
func thin(links []link, boxes int) (kept []link, dropped int) {
	if len(links) <= thinFrom {
		return links, 0
	}
	implied := follows(links, boxes)
	for i, l := range links {
		if l.cause || !implied[i] {
			kept = append(kept, l)
		}
	}
	if len(kept) <= maxLinks {
		return kept, 0
	}
	slices.SortStableFunc(kept, func(a, b link) int { return cmp.Compare(weigh(b), weigh(a)) })
	return kept[:maxLinks], len(kept) - maxLinks
}

func weigh(l link) int {
	if l.cause {
		return 1
	}
	return 0
}

// follows marks the links that others imply. Boxes on a cycle are left alone.
func follows(links []link, boxes int) []bool {
	out := make([][]int, boxes)
	wait := make([]int, boxes)
	for i, l := range links {
		out[l.from] = append(out[l.from], i)
		wait[l.to]++
	}
	var order []int
	place := make([]int, boxes)
	for b, n := range wait {
		place[b] = boxes
		if n == 0 {
			order = append(order, b)
		}
	}
	for i := 0; i < len(order); i++ {
		place[order[i]] = i
		for _, k := range out[order[i]] {
			if wait[links[k].to]--; wait[links[k].to] == 0 {
				order = append(order, links[k].to)
			}
		}
	}
	implied := make([]bool, len(links))
	reach := make([][]uint64, boxes) // the boxes that one leads to, as bits
	for _, b := range slices.Backward(order) {
		mine := make([]uint64, (boxes+63)/64)
		// The nearest first: what they lead to, a farther one need not be told.
		slices.SortFunc(out[b], func(x, y int) int { return cmp.Compare(place[links[x].to], place[links[y].to]) })
		for _, k := range out[b] {
			to := links[k].to
			if mine[to/64]&(1<<(to%64)) != 0 {
				implied[k] = true
				continue
			}
			mine[to/64] |= 1 << (to % 64)
			for i, w := range reach[to] {
				mine[i] |= w
			}
		}
		reach[b] = mine
	}
	return implied
}
