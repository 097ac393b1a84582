package archtest

import (
	"strconv"
	"strings"
)

// layer is one level of the map. A package may import the levels below its own.
type layer struct {
	name string
	pkgs []string
	why  string
}

// owner says which packages may import a library.
type owner struct {
	lib  string
	pkgs []string
	why  string
}

// only says that a package imports nothing but the standard library and these.
type only struct {
	pkg  string
	libs []string
	why  string
}

type importRules struct {
	module string
	layers []layer
	// free packages are outside the product and may import any of it.
	free   allowed
	owners []owner
	only   []only
}

// checkImports checks the direction of imports. Test files may import anything.
func checkImports(t *tree, r importRules) []finding {
	var out []finding
	for _, f := range t.goes {
		if f.test || f.nested {
			continue
		}
		for _, spec := range f.syntax.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue // impossible, because the parser has accepted it
			}
			for _, text := range r.judge(f.dir, name) {
				out = append(out, finding{f.path, t.line(spec.Pos()), text})
			}
		}
	}
	return out
}

// judge returns what is wrong with dir importing name.
func (r importRules) judge(dir, name string) []string {
	var out []string
	add := func(s ...string) { out = append(out, strings.Join(s, "")) }
	for _, o := range r.owners {
		if within(name, o.lib) && !anyWithin(dir, o.pkgs) {
			add("imports ", name, " but is not among its owners: ", o.why)
		}
	}
	for _, o := range r.only {
		if dir == o.pkg && !std(name) && !anyWithin(name, o.libs) {
			add("imports ", name, ": ", o.why)
		}
	}
	target, ours := r.relative(name)
	if !ours || anyWithin(dir, keys(r.free)) {
		return out
	}
	from, to := r.rank(dir), r.rank(target)
	switch {
	case from < 0:
		add("imports ", target, " but ", dir, " has no place in the map: give it a layer in rules.go")
	case to < 0:
		add("imports ", target, ", which has no layer: the product does not import it")
	case to < from:
		add("imports ", target, " upward, from ", r.layers[from].name, " to ", r.layers[to].name, ": ", r.layers[from].why)
	case to == from && r.member(from, dir) != r.member(to, target):
		add("imports ", target, " sideways, within ", r.layers[from].name, ": ", r.layers[from].why)
	}
	return out
}

// relative turns an import path of this module into a folder of the tree.
func (r importRules) relative(name string) (string, bool) {
	if name == r.module {
		return ".", true
	}
	return strings.CutPrefix(name, r.module+"/")
}

// rank returns the layer of a folder, counted from the top, or -1.
func (r importRules) rank(dir string) int {
	for i := range r.layers {
		if r.member(i, dir) != "" {
			return i
		}
	}
	return -1
}

// member returns the package of a layer that dir belongs to, or "".
func (r importRules) member(layer int, dir string) string {
	for _, p := range r.layers[layer].pkgs {
		if within(dir, p) {
			return p
		}
	}
	return ""
}

// within reports whether p is root or a folder below it. "." matches only itself: the
// SDK's folder contains everything, its package does not.
func within(p, root string) bool {
	return p == root || (root != "." && strings.HasPrefix(p, root+"/"))
}

func anyWithin(p string, roots []string) bool {
	for _, root := range roots {
		if within(p, root) {
			return true
		}
	}
	return false
}

// std reports whether an import path belongs to the standard library: there is no dot in
// its first part.
func std(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}

func keys(m allowed) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}
