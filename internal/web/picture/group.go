package picture

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/locale"
)

const (
	groupFrom = 24  // a graph of so many tasks shows each by itself
	groupMin  = 4   // fewer equal siblings stay apart
	shapeFrom = 120 // above so many boxes, tasks of equal shape share one too
)

// box is what is drawn as one: a task, or several that are alike.
type box struct {
	tasks []int
	count map[State]int
}

// link is an edge between two boxes.
type link struct {
	from, to int
	open     bool // the need is done
	cause    bool // the need is why the other was skipped
}

// graph is a Graph made sound: edges with two known ends, none twice.
type graph struct {
	Graph
	needs, dependents [][]int
	edges             [][2]int
}

func newGraph(in Graph) *graph {
	n := len(in.Tasks)
	g := &graph{Graph: in, needs: make([][]int, n), dependents: make([][]int, n)}
	seen := make(map[[2]int]bool, len(in.Edges))
	for _, e := range in.Edges {
		if e[0] == e[1] || min(e[0], e[1]) < 0 || max(e[0], e[1]) >= n || seen[e] {
			continue
		}
		seen[e] = true
		g.edges = append(g.edges, e)
		g.dependents[e[0]] = append(g.dependents[e[0]], e[1])
		g.needs[e[1]] = append(g.needs[e[1]], e[0])
	}
	return g
}

// boxes groups the tasks. A large graph draws equal siblings (same service,
// same needs, same dependents) as one box. Where that leaves too many, tasks
// of equal shape follow: four hundred chains of fetch → render → store become
// one chain of three boxes.
func (g *graph) boxes() ([]box, []link) {
	of := make([]uint64, len(g.Tasks))
	for i := range of {
		of[i] = uint64(i)
	}
	if len(g.Tasks) > groupFrom {
		of = g.keepLarge(g.siblings())
	}
	if distinct(of) > shapeFrom {
		of = g.keepLarge(g.shapes())
	}
	return g.collect(of)
}

// siblings names tasks so that equal siblings have equal names.
func (g *graph) siblings() []uint64 {
	name := make([]uint64, len(g.Tasks))
	for i, t := range g.Tasks {
		h := hashText(t.Service)
		for _, n := range g.needs[i] {
			h += mix(uint64(n)*2 + 1) // #nosec G115 -- an index, and only its bits count
		}
		for _, d := range g.dependents[i] {
			h += mix(mix(uint64(d)*2 + 2)) // #nosec G115 -- an index, and only its bits count
		}
		name[i] = h
	}
	return name
}

// shapes names tasks so that tasks with equal surroundings have equal names:
// a name is mixed with the names of its neighbours until no more names appear.
func (g *graph) shapes() []uint64 {
	name := make([]uint64, len(g.Tasks))
	for i, depth := range g.depths() {
		name[i] = mix(hashText(g.Tasks[i].Service) + mix(uint64(depth))) // #nosec G115 -- an index, and only its bits count
	}
	for was, round := 0, 0; round < 64; round++ {
		if n := distinct(name); n == was {
			break
		} else {
			was = n
		}
		next := make([]uint64, len(name))
		for i := range name {
			h := mix(name[i])
			for _, n := range g.needs[i] {
				h += mix(name[n] + 1)
			}
			for _, d := range g.dependents[i] {
				h += mix(mix(name[d] + 2))
			}
			next[i] = mix(h)
		}
		name = next
	}
	return name
}

// depths is the longest way to each task from one that needs nothing. Tasks
// on a cycle stay at 0.
func (g *graph) depths() []int {
	depth, wait := make([]int, len(g.Tasks)), make([]int, len(g.Tasks))
	var queue []int
	for i := range g.Tasks {
		if wait[i] = len(g.needs[i]); wait[i] == 0 {
			queue = append(queue, i)
		}
	}
	for k := 0; k < len(queue); k++ {
		for _, d := range g.dependents[queue[k]] {
			depth[d] = max(depth[d], depth[queue[k]]+1)
			if wait[d]--; wait[d] == 0 {
				queue = append(queue, d)
			}
		}
	}
	return depth
}

// keepLarge gives the tasks of small groups names of their own.
func (g *graph) keepLarge(name []uint64) []uint64 {
	size := map[uint64]int{}
	for _, n := range name {
		size[n]++
	}
	out := make([]uint64, len(name))
	for i, n := range name {
		if out[i] = n; size[n] < groupMin {
			out[i] = mix(uint64(i) + 1<<40)
		}
	}
	return out
}

// collect makes the boxes, in the order of their first task, and the links
// between them.
func (g *graph) collect(name []uint64) ([]box, []link) {
	at := map[uint64]int{}
	of := make([]int, len(name))
	var boxes []box
	for i, n := range name {
		k, ok := at[n]
		if !ok {
			k = len(boxes)
			at[n] = k
			boxes = append(boxes, box{count: map[State]int{}})
		}
		of[i] = k
		boxes[k].tasks = append(boxes[k].tasks, i)
		boxes[k].count[g.Tasks[i].State]++
	}
	var links []link
	index := map[[2]int]int{}
	for _, e := range g.edges {
		key := [2]int{of[e[0]], of[e[1]]}
		if key[0] == key[1] {
			continue
		}
		k, ok := index[key]
		if !ok {
			k = len(links)
			index[key] = k
			links = append(links, link{from: key[0], to: key[1], open: true})
		}
		from, to := g.Tasks[e[0]].State, g.Tasks[e[1]].State
		links[k].open = links[k].open && from == Done
		links[k].cause = links[k].cause || to == Skipped && (from == Failed || from == Canceled || from == Skipped)
	}
	return boxes, links
}

// name is what the box is called.
func (b box) name(lang *locale.Words, g *graph) string {
	first := g.Tasks[b.tasks[0]]
	if len(b.tasks) == 1 {
		if first.Key != "" {
			return first.Key
		}
		return first.Service
	}
	name := first.Service
	if name == "" {
		name = strings.TrimRight(commonPrefix(g, b.tasks), "-_./:#0123456789")
	}
	if name == "" {
		name = lang.Say("drawn.group")
	}
	return name
}

func commonPrefix(g *graph, tasks []int) string {
	prefix := g.Tasks[tasks[0]].Key
	for _, t := range tasks {
		key := g.Tasks[t].Key
		n := 0
		for n < min(len(prefix), len(key)) && prefix[n] == key[n] {
			n++
		}
		prefix = prefix[:n]
	}
	return strings.ToValidUTF8(prefix, "")
}

// state is what the box shows first: the state of its tasks that most needs a person.
func (b box) state() State {
	return sorted(b.count)[0]
}

func distinct(name []uint64) int {
	s := slices.Clone(name)
	slices.Sort(s)
	return len(slices.Compact(s))
}

// mix spreads the bits of a number (splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func hashText(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h)
}
