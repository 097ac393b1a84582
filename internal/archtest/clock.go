package archtest

import (
	"go/ast"
	"strconv"
)

// clockFuncs start a timer. Reading the time is allowed, waiting is not.
var clockFuncs = map[string]bool{
	"Sleep": true, "After": true, "AfterFunc": true, "Tick": true, "NewTicker": true, "NewTimer": true,
}

// checkClock finds timers outside the packages that may own one. Tests never
// sleep either: they wait for a condition, so time.Sleep is refused there too.
func checkClock(t *tree, owners allowed) []finding {
	var out []finding
	u := newUse(allowed{})
	for _, f := range t.goes {
		// An entry for a package that does not exist yet is not stale.
		if why, ok := owners[f.dir]; ok {
			u.list[f.dir] = why
		}
	}
	for _, f := range t.goes {
		name := importName(f.syntax, "time")
		if f.nested || name == "" {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || !clockFuncs[sel.Sel.Name] {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok || pkg.Name != name {
				return true
			}
			switch {
			case f.test && sel.Sel.Name == "Sleep":
				out = append(out, finding{f.path, t.line(sel.Pos()), "a test sleeps: poll the condition with a deadline"})
			case !f.test && !u.allows(f.dir):
				out = append(out, finding{f.path, t.line(sel.Pos()), "uses time." + sel.Sel.Name + ": only internal/loop owns a clock, so that a test can hand out the ticks"})
			}
			return true
		})
	}
	return append(out, u.stale("the clock rule")...)
}

// importName returns the name that a file gives to an import, or "" if it has none.
func importName(f *ast.File, lib string) string {
	for _, spec := range f.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != lib {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return lib
	}
	return ""
}
