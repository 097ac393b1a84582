package workpages

import (
	"slices"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/picture"
)

// itemsDrawn is how many items of a map the graph of a job draws one by one.
const itemsDrawn = 12

// arranged puts the items of a map where a reader looks for them: behind what the
// step needs and before what needs it, and in a list below the step. The engine has
// them as parts of the step, which came to be later. More than most of them are left
// to their step; folded counts those, by the step.
func arranged(g view.Graph, most int) (out view.Graph, folded map[weir.ID]*fold) {
	items := itemsBySteps(g)
	out, folded = view.Graph{Truncated: g.Truncated}, map[weir.ID]*fold{}
	stepOf, at := map[int]int{}, map[int]int{}
	for step, parts := range items {
		for _, i := range parts {
			stepOf[i] = step
		}
	}
	keep := func(i int) {
		at[i] = len(out.Nodes)
		out.Nodes = append(out.Nodes, g.Nodes[i])
	}
	for i := range g.Nodes {
		if _, part := stepOf[i]; part {
			continue
		}
		keep(i)
		parts := items[i]
		if len(parts) > most {
			f := &fold{key: g.Nodes[i].Key, n: len(parts), states: map[string]int{}}
			for _, p := range parts {
				f.states[string(g.Nodes[p].State)]++
			}
			folded[g.Nodes[i].ID] = f
			continue
		}
		for _, p := range parts {
			keep(p)
		}
	}
	link := func(from, to int) {
		a, ok := at[from]
		b, also := at[to]
		if ok && also {
			out.Edges = append(out.Edges, [2]int{a, b})
		}
	}
	for _, e := range g.Edges {
		parts := items[e[1]]
		if len(parts) == 0 || folded[g.Nodes[e[1]].ID] != nil || slices.Contains(parts, e[0]) {
			link(e[0], e[1])
			continue
		}
		for _, p := range parts { // what the step needs, its items need
			link(e[0], p)
		}
	}
	return out, folded
}

// itemsBySteps finds the items of maps, by the index of their step.
func itemsBySteps(g view.Graph) map[int][]int {
	steps := map[string]int{}
	for i, n := range g.Nodes {
		if n.Key != "" && stem(n.Key) == n.Key {
			steps[n.Key] = i
		}
	}
	items := map[int][]int{}
	for i, n := range g.Nodes {
		if step, ok := steps[stem(n.Key)]; ok && stem(n.Key) != n.Key {
			items[step] = append(items[step], i)
		}
	}
	return items
}

// spanMaps gives the row of a step with a map a bar from the first of its items to
// the last: it did nothing itself.
func spanMaps(g view.Graph, rows []picture.Row) {
	for step, parts := range itemsBySteps(g) {
		whole, open := picture.Bar{Attempt: 1, Outcome: rows[step].State}, false
		for _, p := range parts {
			for _, b := range rows[p].Bars {
				if whole.From.IsZero() || b.From.Before(whole.From) {
					whole.From = b.From
				}
				if b.To.After(whole.To) {
					whole.To = b.To
				}
				open = open || b.To.IsZero()
			}
		}
		if open {
			whole.To, whole.Outcome = time.Time{}, ""
		}
		if !whole.From.IsZero() && len(rows[step].Bars) == 0 {
			rows[step].Bars = []picture.Bar{whole}
		}
	}
}
