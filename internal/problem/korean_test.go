package problem_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/refusal"
	"github.com/weirhq/weir/schema"
)

// met are the packages whose problems pages show, without their subpackages.
var met = []string{
	".", "internal/auth", "internal/auth/door", "internal/blob", "internal/engine/bulk", "internal/engine/view", "internal/fleet", "internal/httpapi",
	"internal/node", "internal/node/wake", "internal/op", "internal/problem", "internal/rollout", "internal/timeline", "internal/vault", "internal/web",
	"internal/web/accountpages", "internal/web/capacitypages", "internal/web/fleetpages", "internal/web/flowpages", "internal/web/rolloutpages",
	"internal/web/site", "internal/web/systempages", "internal/web/workpages", "internal/web/workspacepages",
	"internal/work", "internal/workflow", "internal/workflow/definition", "internal/workspace",
}

// Every sentence and every advice that a page can show has a Korean one, with as many
// arguments, and there is no other Korean sentence.
func TestKorean(t *testing.T) {
	data, err := os.ReadFile("ko.json")
	if err != nil {
		t.Fatal(err)
	}
	var korean map[string]string
	if err := json.Unmarshal(data, &korean); err != nil {
		t.Fatal(err)
	}
	found := sentences{}
	found.ofGo(t)
	found.ofSQL(t)
	for text, where := range found {
		if own := korean[text]; own == "" {
			t.Errorf("%s: %q has no Korean sentence", where, text)
		} else if len(verb.FindAllString(text, -1)) != len(verb.FindAllString(own, -1)) {
			t.Errorf("%s: %q has other places than %q", where, text, own)
		}
	}
	for text := range korean {
		if found[text] == "" {
			t.Errorf("ko.json: nobody says %q any more", text)
		}
	}
	if len(found) < 500 {
		t.Errorf("only %d sentences were found", len(found))
	}
}

var verb = regexp.MustCompile(`%(?:\[\d\])?(?:\.\d+)?[a-zA-Z]`)

// sentences maps texts to the file of each.
type sentences map[string]string

// add keeps a text that contains words.
func (s sentences) add(text, where string) {
	if strings.ContainsFunc(verb.ReplaceAllString(text, ""), func(r rune) bool { return r > ' ' && !strings.ContainsRune(":;,.()", r) }) {
		s[text] = where
	}
}

// said holds which arguments of a function are the sentence and the advice; -1 means
// none.
type said struct{ pattern, next int }

// ofGo collects the constants that are passed to problem.New and similar functions, and
// to functions of the same package that pass their format on to them.
func (s sentences) ofGo(t *testing.T) {
	for _, dir := range met {
		known := map[string]said{
			"problem.New": {2, 1}, "problem.Refuse": {2, 1}, "refusal.New": {1, -1},
		}
		if dir == "internal/problem" {
			known["New"], known["Refuse"] = said{2, 1}, said{2, 1}
		}
		var files []*ast.File
		set := token.NewFileSet()
		names, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatal(dir, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
			ast.Inspect(file, func(n ast.Node) bool { return wrapper(n, known) })
		}
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if name := called(call.Fun); name == "noSuch" || name == "notFound" {
						s.argument(call, 0, dir) // the noun, and the advice if there is one
						s.argument(call, 2, dir)
					}
					if at, ok := known[called(call.Fun)]; ok {
						s.argument(call, at.pattern, dir)
						s.argument(call, at.next, dir)
					}
				}
				return true
			})
		}
	}
}

// wrapper records a function that takes a format, and may take the advice.
func wrapper(n ast.Node, known map[string]said) bool {
	name, params, body := "", (*ast.FieldList)(nil), (*ast.BlockStmt)(nil)
	switch n := n.(type) {
	case *ast.FuncDecl:
		name, params, body = n.Name.Name, n.Type.Params, n.Body
	case *ast.AssignStmt:
		if f, ok := n.Rhs[0].(*ast.FuncLit); ok {
			name, params, body = called(n.Lhs[0]), f.Type.Params, f.Body
		}
	}
	if body == nil || !refuses(body, known) {
		return true
	}
	at, i := said{-1, -1}, 0
	for _, field := range params.List {
		for _, p := range field.Names {
			switch p.Name {
			case "format":
				at.pattern = i
			case "next":
				at.next = i
			}
			i++
		}
	}
	if at.pattern >= 0 && known[name] == (said{}) {
		known[name] = at
	}
	return true
}

// refuses reports whether a function passes its format on.
func refuses(body *ast.BlockStmt, known map[string]said) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if at, ok := known[called(call.Fun)]; ok && at.pattern < len(call.Args) {
				handed, ok := call.Args[at.pattern].(*ast.Ident)
				found = found || ok && handed.Name == "format"
			}
		}
		return true
	})
	return found
}

// called returns the name of a function, with its package if it is another one; of a
// method the name alone.
func called(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if of, ok := e.X.(*ast.Ident); ok && (of.Name == "problem" || of.Name == "refusal") {
			return of.Name + "." + e.Sel.Name
		}
		return e.Sel.Name
	}
	return ""
}

func (s sentences) argument(call *ast.CallExpr, i int, where string) {
	if i >= 0 && i < len(call.Args) {
		if text, ok := constant(call.Args[i]); ok {
			s.add(text, where)
		}
	}
}

// constant returns a literal text, also one of several parts.
func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		a, first := constant(e.X)
		b, second := constant(e.Y)
		return a + b, first && second
	}
	return "", false
}

var (
	refusing = regexp.MustCompile(`weir\.(_invalid|_conflict|_raise|_fault|_not_found)\(`)
	literal  = regexp.MustCompile(`'((?:[^']|'')*)'`)
	usual    = regexp.MustCompile(`hint text default '([^']*)'`)
	branch   = regexp.MustCompile(`(?:then|else) ('(?:[^']|'')*')`)
	// goesOn matches where a text continues in the next line, newLine where a statement does.
	goesOn  = regexp.MustCompile(`'[ \t]*\n\s*'`)
	newLine = regexp.MustCompile(`\s*\n\s*`)
	// patternAt maps a function to the argument that is the pattern; for _not_found it is
	// the noun.
	patternAt = map[string]int{"_invalid": 1, "_conflict": 0, "_raise": 2, "_fault": 1, "_not_found": 0}
)

// ofSQL collects the refusals of the schema's functions, and checks their form: the field
// is no part of the pattern, and the pattern has a verb for each argument.
func (s sentences) ofSQL(t *testing.T) {
	s.add(refusal.NoSuch, "refusal.go")
	s.add(refusal.NoEnd, "refusal.go")
	s.add(problem.SeeAll, "advice.go")
	s.add(problem.CreateFirst, "advice.go")
	err := fs.WalkDir(schema.FS, "functions", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(schema.FS, path)
		text = newLine.ReplaceAll(goesOn.ReplaceAll(text, nil), []byte(" "))
		for _, m := range refusing.FindAllStringSubmatchIndex(string(text), -1) {
			name, args := string(text[m[2]:m[3]]), arguments(string(text[m[1]:]))
			if strings.HasSuffix(path, "/"+name+".sql") {
				for _, m := range usual.FindAllStringSubmatch(string(text), -1) {
					s.add(m[1], path)
				}
			}
			if strings.HasSuffix(path, "/"+name+".sql") || len(args) <= patternAt[name] {
				continue
			}
			patterns := texts(args[patternAt[name]])
			for _, pattern := range patterns {
				s.add(pattern, path)
				s.places(t, path, name, pattern, args)
			}
			if field := texts(args[0]); (name == "_invalid" || name == "_fault") && len(field) == 1 && strings.ContainsAny(field[0], ": ") {
				t.Errorf("%s: %q is no field: give the sentence as the pattern", path, field[0])
			}
			for _, a := range args {
				if hint, ok := strings.CutPrefix(a, "hint => "); ok {
					for _, text := range texts(hint) {
						s.add(text, path)
					}
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// places compares the verbs of a pattern with the literal arguments.
func (s sentences) places(t *testing.T, path, name, pattern string, args []string) {
	given, counted := 0, name != "_not_found"
	rest := args[patternAt[name]+1:]
	if name == "_fault" {
		given = len(rest)
	} else if len(rest) > 0 {
		list, ok := strings.CutPrefix(rest[0], "jsonb_build_array(")
		switch {
		case ok:
			given = len(arguments(list))
		case !strings.Contains(rest[0], " => "):
			counted = false // built elsewhere
		}
	}
	if counted && given != len(verb.FindAllString(pattern, -1)) {
		t.Errorf("%s: %q is given %d arguments", path, pattern, given)
	}
}

// arguments splits the text after an opening parenthesis, up to the closing one.
func arguments(text string) (out []string) {
	depth, from, quoted := 0, 0, false
	for i, c := range text {
		switch {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(' || c == '[':
			depth++
		case depth > 0 && (c == ')' || c == ']'):
			depth--
		case depth == 0 && (c == ',' || c == ')'):
			out = append(out, strings.TrimSpace(text[from:i]))
			if from = i + 1; c == ')' {
				return out
			}
		}
	}
	return out
}

// texts returns the texts that an expression can be: it is a literal, or chooses between
// some.
func texts(expression string) (out []string) {
	found := literal.FindStringSubmatch(expression)
	switch {
	case found != nil && found[0] == expression:
		out = []string{found[1]}
	case strings.HasPrefix(expression, "case "):
		for _, m := range branch.FindAllStringSubmatch(expression, -1) {
			out = append(out, strings.Trim(m[1], "'"))
		}
	}
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], "''", "'")
	}
	return slices.Clip(out)
}
