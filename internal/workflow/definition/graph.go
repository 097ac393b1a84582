package definition

import (
	"fmt"
	"strconv"
	"strings"
)

// graph contains the steps by number and the needs of each.
type graph struct {
	number map[string]int
	needs  [][]int
	// before has a bit for each step that ends before this one starts: its needs, their
	// needs, and so on. It is nil while there is a cycle.
	before []bits
}

type bits []uint64

func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// graphOf leaves out needs that do not exist; Lint reports them.
func graphOf(d *Definition) *graph {
	g := &graph{number: make(map[string]int, len(d.Steps)), needs: make([][]int, len(d.Steps))}
	for i := range d.Steps {
		g.number[d.Steps[i].Key] = i
	}
	for i := range d.Steps {
		for _, need := range d.waitsFor(&d.Steps[i]) {
			n, ok := g.number[need]
			if early := ok && d.Steps[n].Finally && !d.Steps[i].Finally; ok && n != i && !early {
				g.needs[i] = append(g.needs[i], n)
			}
		}
	}
	if sorted := g.order(); len(sorted) == len(d.Steps) {
		words := (len(d.Steps) + 63) / 64
		g.before = make([]bits, len(d.Steps))
		for _, i := range sorted {
			g.before[i] = make(bits, words)
			for _, n := range g.needs[i] {
				for w := range g.before[i] {
					g.before[i][w] |= g.before[n][w]
				}
				g.before[i].set(n)
			}
		}
	}
	return g
}

// order returns each step after its needs. Steps of a cycle, and their dependents, are
// missing.
func (g *graph) order() []int {
	waits, dependents := make([]int, len(g.needs)), make([][]int, len(g.needs))
	for i, needs := range g.needs {
		waits[i] = len(needs)
		for _, n := range needs {
			dependents[n] = append(dependents[n], i)
		}
	}
	var sorted []int
	for i := range waits {
		if waits[i] == 0 {
			sorted = append(sorted, i)
		}
	}
	for at := 0; at < len(sorted); at++ {
		for _, i := range dependents[sorted[at]] {
			if waits[i]--; waits[i] == 0 {
				sorted = append(sorted, i)
			}
		}
	}
	return sorted
}

// ring returns one cycle of steps, each of which needs the one before it, or nil.
func (g *graph) ring() []int {
	sorted := g.order()
	if len(sorted) == len(g.needs) {
		return nil
	}
	free := make([]bool, len(g.needs))
	for _, i := range sorted {
		free[i] = true
	}
	at := 0
	for free[at] {
		at++
	}
	seen, path := map[int]int{}, []int{}
	for {
		if from, ok := seen[at]; ok {
			return path[from:]
		}
		seen[at] = len(path)
		path = append(path, at)
		for _, n := range g.needs[at] { // at least one of them is not free either
			if !free[n] {
				at = n
				break
			}
		}
	}
}

// precedes reports whether one step has ended before another starts.
func (g *graph) precedes(first, then int) bool {
	return g.before != nil && g.before[then].has(first)
}

// Reads returns the steps whose outcome a step reads when it is resolved: [Facts].Needs
// must contain them.
func (d *Definition) Reads(key string) ([]string, error) {
	s := d.Step(key)
	if s == nil {
		return nil, fmt.Errorf("read step %q: %s has no such step", key, d.Name)
	}
	c, faults := d.compile(s)
	if len(faults) > 0 {
		return nil, faults
	}
	keys, all := needed(c.refs())
	if all {
		keys = nil
		g := graphOf(d)
		for i := range d.Steps {
			if g.precedes(i, g.number[s.Key]) {
				keys = append(keys, d.Steps[i].Key)
			}
		}
	}
	if s.Sticky != nil && !contains(keys, s.Sticky.To) {
		keys = append(keys, s.Sticky.To)
	}
	return keys, nil
}

// ItemKey returns the key of an item of a map: render[3].
func ItemKey(step string, index int) string { return step + "[" + strconv.Itoa(index) + "]" }

// splitItem returns the step of an item: of render[3] and render[arm64,linux], render.
func splitItem(key string) string {
	step, rest, found := strings.Cut(key, "[")
	if !found || !strings.HasSuffix(rest, "]") {
		return key
	}
	return step
}
