package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strconv"
)

// sqlText recognizes a statement in a string literal. It requires two words of SQL, so
// that a sentence that begins with "select" or "update" does not match.
var sqlText = regexp.MustCompile(`(?is)^\s*(select\s.+\sfrom\s|select\s+weir\.|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s|create\s+(or\s+replace\s+)?(table|function|view|index)\s|call\s+weir\.)`)

// sqlRules say where statements may be in Go code.
type sqlRules struct {
	none  allowed // packages without any SQL
	free  allowed // packages below those of store that are free of its rule
	store allowed // packages that keep all of it in store.go
}

// checkEmbeddedSQL finds statements in packages that should not contain them.
func checkEmbeddedSQL(t *tree, r sqlRules) []finding {
	var out []finding
	for _, f := range t.goes {
		none, inNone := reason(f.dir, r.none)
		store, inStore := reason(f.dir, r.store)
		if _, free := reason(f.dir, r.free); free {
			inStore = false
		}
		if f.test || f.nested || (!inNone && (!inStore || path.Base(f.path) == "store.go")) {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			switch {
			case err != nil || !sqlText.MatchString(text):
			case inNone:
				out = append(out, finding{f.path, t.line(lit.Pos()), "holds SQL: " + none})
			default:
				out = append(out, finding{f.path, t.line(lit.Pos()), "holds SQL outside store.go: " + store})
			}
			return true
		})
	}
	return out
}

// reason finds the entry that covers dir.
func reason(dir string, list allowed) (string, bool) {
	for p, why := range list {
		if within(dir, p) {
			return why, true
		}
	}
	return "", false
}
