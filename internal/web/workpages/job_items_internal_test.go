package workpages

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/picture"
)

// mapped is scan → encode with so many items → join, as the engine has it: items
// came last and are parts of their step.
func mapped(items int) view.Graph {
	g := view.Graph{Edges: [][2]int{{0, 1}, {1, 2}}}
	add := func(key string, state weir.State) {
		g.Nodes = append(g.Nodes, view.GraphTask{ID: weir.ID{15: byte(len(g.Nodes) + 1)}, Key: key, State: state})
	}
	add("scan", "done")
	add("encode", "pending")
	add("join", "pending")
	for i := range items {
		add(fmt.Sprintf("encode[%d]", i), []weir.State{"done", "running"}[i%2])
		g.Edges = append(g.Edges, [2]int{3 + i, 1})
	}
	return g
}

func keys(g view.Graph) (nodes, edges []string) {
	for _, n := range g.Nodes {
		nodes = append(nodes, n.Key)
	}
	for _, e := range g.Edges {
		edges = append(edges, g.Nodes[e[0]].Key+">"+g.Nodes[e[1]].Key)
	}
	slices.Sort(edges)
	return nodes, edges
}

// The items of a map are drawn between what their step needs and the step; many of
// them are the step itself.
func TestArranged(t *testing.T) {
	few, folded := arranged(mapped(2), itemsDrawn)
	nodes, edges := keys(few)
	if want := []string{"scan", "encode", "encode[0]", "encode[1]", "join"}; !slices.Equal(nodes, want) || len(folded) != 0 {
		t.Errorf("nodes %v", nodes)
	}
	if want := []string{"encode>join", "encode[0]>encode", "encode[1]>encode", "scan>encode[0]", "scan>encode[1]"}; !slices.Equal(edges, want) {
		t.Errorf("edges %v", edges)
	}
	many, folded := arranged(mapped(40), itemsDrawn)
	nodes, edges = keys(many)
	if !slices.Equal(nodes, []string{"scan", "encode", "join"}) || !slices.Equal(edges, []string{"encode>join", "scan>encode"}) {
		t.Errorf("nodes %v, edges %v", nodes, edges)
	}
	f := folded[many.Nodes[1].ID]
	if f == nil || f.n != 40 || f.ended() != 20 {
		t.Fatalf("folded %+v", f)
	}
	drawn := drawn(t.Context(), jobView{}, many, folded).Tasks[1]
	if drawn.Key != "encode ×40" || drawn.State != "running" || drawn.Percent != 50 || drawn.Note != "20 running, 20 done" {
		t.Errorf("drawn %+v", drawn)
	}
	same := view.Graph{Nodes: []view.GraphTask{{ID: weir.ID{1}, Key: "a"}, {ID: weir.ID{2}, Key: "b[0]"}}, Edges: [][2]int{{0, 1}}}
	if got, _ := arranged(same, itemsDrawn); len(got.Nodes) != 2 || len(got.Edges) != 1 {
		t.Errorf("what is no map changed: %+v", got)
	}
}

// The row of a map lasts from the first of its items to the last.
func TestSpanMaps(t *testing.T) {
	g, _ := arranged(mapped(2), 100)
	at := time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC)
	rows := make([]picture.Row, len(g.Nodes))
	rows[2].Bars = []picture.Bar{{From: at.Add(time.Second), To: at.Add(2 * time.Second)}}
	rows[3].Bars = []picture.Bar{{From: at, To: at.Add(time.Second)}}
	spanMaps(g, rows)
	if b := rows[1].Bars; len(b) != 1 || !b[0].From.Equal(at) || !b[0].To.Equal(at.Add(2*time.Second)) {
		t.Errorf("bars %+v", b)
	}
	rows[1].Bars, rows[3].Bars[0].To = nil, time.Time{}
	spanMaps(g, rows)
	if b := rows[1].Bars; len(b) != 1 || !b[0].To.IsZero() {
		t.Errorf("one goes on: %+v", b)
	}
}
