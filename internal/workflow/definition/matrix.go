package definition

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A matrix goes over every combination of the values of its axes, in the order of the
// names of the axes: the last one changes first. An item is a mapping of axis to value.

// axisPattern is what the name of an axis must be, so that .item.NAME reads it.
var axisPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// namePart is a value that may be a part of the key of an item.
var namePart = regexp.MustCompile(`^[A-Za-z0-9_.+-]{1,40}$`)

// maxName is how long the name of an item may be.
const maxName = 80

// matrix reads the axes of a map: each a list, or an expression that gives one.
func (r *reader) matrix(into *map[string]any) func(*node, string) {
	return func(n *node, path string) {
		r.remember(n, path)
		if n.kind != mapping || len(n.fields) == 0 {
			r.fault(n, path, "write {os: [linux, windows], go: params.versions}", "expected the axes of the matrix, got %s", n.kind)
			return
		}
		*into = map[string]any{}
		for _, f := range n.fields {
			at := join(path, f.key)
			switch {
			case !axisPattern.MatchString(f.key):
				r.fault(&node{place: f.place}, at, "use ASCII letters, digits and _", "%q is no name of an axis", f.key)
			case f.node.kind == text:
				(*into)[f.key] = strings.TrimSpace(f.node.value.(string))
			case f.node.kind == sequence:
				(*into)[f.key] = f.node.any()
			default:
				r.fault(f.node, at, "write a list, or an expression such as params.versions", "expected a list or an expression, got %s", f.node.kind)
			}
		}
	}
}

// combinations reads combinations of a matrix that are left out.
func (r *reader) combinations(into *[]map[string]any) func(*node, string) {
	return func(n *node, path string) {
		r.where[path] = n.place
		if n.kind != sequence {
			r.fault(n, path, "write [{os: windows, go: '1.24'}]", "expected a list of combinations, got %s", n.kind)
			return
		}
		for i, one := range n.items {
			var v map[string]any
			r.values(&v)(one, item(path, i))
			if one.kind == mapping && len(v) == 0 {
				r.fault(one, item(path, i), "name a value of an axis: {os: windows}", "a combination without values would leave out all")
			}
			*into = append(*into, v)
		}
	}
}

// axes parses the expressions of a matrix.
func (c *compiled) parseAxes(bad func(at, text string, err error)) {
	for _, name := range sortedKeys(c.step.Map.Matrix) {
		text, ok := c.step.Map.Matrix[name].(string)
		if !ok {
			continue
		}
		e, err := parseExpression(text)
		if err != nil {
			bad("map.matrix."+name, text, err)
			continue
		}
		if c.axes == nil {
			c.axes = map[string]*expression{}
		}
		c.axes[name] = e
		c.all = append(c.all, e.refs...)
	}
}

// product returns the items of a matrix.
func (d *Definition) product(c *compiled, env map[string]any) ([]any, error) {
	m := c.step.Map
	names := sortedKeys(m.Matrix)
	axes, size := make([][]any, len(names)), 1
	r := &renderer{c, env, newBudget()}
	for i, name := range names {
		at := "map.matrix." + name
		v, err := any(nil), error(nil)
		if e := c.axes[name]; e != nil {
			if v, err = e.evaluate(env); err != nil {
				err = stepError(c.step, at, err)
			}
		} else {
			v, err = r.value(at, m.Matrix[name])
		}
		if err != nil {
			return nil, err
		}
		values, ok := v.([]any)
		if !ok {
			return nil, stepError(c.step, at, fmt.Errorf("it gives %s, not a list", word(v)))
		}
		if size *= len(values); size > maxSteps {
			return nil, stepError(c.step, "map.matrix", fmt.Errorf("more than %d combinations", maxSteps))
		}
		axes[i] = values
	}
	items := make([]any, 0, size)
	for i := range size {
		one, rest := make(map[string]any, len(names)), i
		for j := len(names) - 1; j >= 0; j-- {
			one[names[j]] = axes[j][rest%len(axes[j])]
			rest /= len(axes[j])
		}
		out, err := excluded(r.b, one, m.Exclude)
		if err != nil {
			return nil, stepError(c.step, "map.exclude", err)
		}
		if !out {
			items = append(items, one)
		}
	}
	return items, nil
}

// excluded reports whether one of the combinations is a part of the item.
func excluded(b *budget, one map[string]any, exclude []map[string]any) (bool, error) {
	for _, without := range exclude {
		all := true
		for axis, v := range without {
			eq, err := same(b, one[axis], tidy(v))
			if err != nil {
				return false, err
			}
			all = all && eq
		}
		if all {
			return true, nil
		}
	}
	return false, nil
}

// itemKeys returns the keys of the items of a map. Those of a matrix have the values as
// their name, build[arm64,linux], if all of them are short words and no two are alike;
// other items have their number.
func itemKeys(s *Step, items []any) []string {
	keys := make([]string, len(items))
	for i := range items {
		keys[i] = ItemKey(s.Key, i)
	}
	if s.Map == nil || len(s.Map.Matrix) == 0 {
		return keys
	}
	names, seen := make([]string, len(items)), map[string]bool{}
	axes := slices.Sorted(maps.Keys(s.Map.Matrix))
	for i, one := range items {
		of, parts := one.(map[string]any), make([]string, len(axes))
		for j, axis := range axes {
			if parts[j] = show(of[axis]); !namePart.MatchString(parts[j]) {
				return keys
			}
		}
		name := strings.Join(parts, ",")
		if seen[name] || len(name) > maxName {
			return keys
		}
		names[i], seen[name] = s.Key+"["+name+"]", true
	}
	return names
}

// matrix checks that what is left out has a place in the matrix.
func (l *linter) matrix(s *Step, at string) {
	for i, without := range s.Map.Exclude {
		for _, axis := range sortedKeys(without) {
			if _, ok := s.Map.Matrix[axis]; !ok {
				l.add(join(item(at+".map.exclude", i), axis), "the axes are "+list(sortedKeys(s.Map.Matrix)), "the matrix has no axis %q", axis)
			}
		}
	}
}
