package archtest

import (
	"go/ast"
	"go/token"
)

// compilers make a pattern out of text. A constant was chosen by the author of the code;
// any other text may come from outside.
var compilers = map[string]struct {
	name  string // of the package, where a file gives no other
	calls map[string]bool
	plain bool // a constant is allowed
}{
	"regexp": {"regexp", map[string]bool{
		"Compile": true, "MustCompile": true, "CompilePOSIX": true, "MustCompilePOSIX": true, "Match": true, "MatchString": true, "MatchReader": true,
	}, true},
	"regexp/syntax": {"syntax", map[string]bool{"Parse": true, "Compile": true}, true},
	"github.com/santhosh-tekuri/jsonschema/v6": {"jsonschema", map[string]bool{"NewCompiler": true}, false},
}

// checkPatterns finds patterns that are compiled outside the packages that bound them.
func checkPatterns(t *tree, owners allowed) []finding {
	var out []finding
	for _, f := range t.goes {
		if _, ok := reason(f.dir, owners); ok || f.test || f.nested {
			continue
		}
		for lib, c := range compilers {
			name := importName(f.syntax, lib)
			if name == lib {
				name = c.name
			}
			ast.Inspect(f.syntax, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || name == "" {
					return true
				}
				sel, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || !c.calls[sel.Sel.Name] {
					return true
				}
				if pkg, ok := sel.X.(*ast.Ident); !ok || pkg.Name != name || c.plain && literal(call.Args[0]) {
					return true
				}
				out = append(out, finding{f.path, t.line(call.Pos()), "calls " + name + "." + sel.Sel.Name + " with text that is no constant: internal/pattern bounds what it costs"})
				return true
			})
		}
	}
	return out
}

// literal reports whether an expression consists only of literals.
func literal(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.BinaryExpr:
		return e.Op == token.ADD && literal(e.X) && literal(e.Y)
	}
	return false
}
