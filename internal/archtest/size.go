package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
	"unicode/utf8"
)

// sizeRules bound what a reader must keep in mind at once.
type sizeRules struct {
	fileLines, funcLines int
	// columns bounds the lines of SQL, by folder.
	columns map[string]int
	// folderFiles bounds the files of a folder of Go code, generated ones too.
	folderFiles int
	// made are generated files that cannot say so in their first line.
	made []string
	// long names a file, a folder, or a function as path:Name or path:Type.Name.
	long allowed
}

// sourceExt are the endings of files that people read as code.
var sourceExt = map[string]bool{".go": true, ".sql": true, ".sh": true, ".py": true}

// checkSize finds files, functions and folders that are too long to read.
func checkSize(t *tree, r sizeRules) []finding {
	var out []finding
	u := newUse(r.long)
	generated := map[string]bool{}
	for _, p := range r.made {
		generated[p] = true
	}
	for _, f := range t.goes {
		if f.generated {
			generated[f.path] = true
			continue
		}
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := t.line(fn.End()) - t.line(fn.Pos()) + 1
			if name := funcName(fn); n > r.funcLines && !u.allows(f.path+":"+name) {
				out = append(out, finding{f.path, t.line(fn.Pos()), fmt.Sprintf("%s has %d lines, more than %d: split it, or list it with a reason", name, n, r.funcLines)})
			}
		}
	}
	for _, x := range t.texts {
		if !sourceExt[path.Ext(x.path)] || generated[x.path] {
			continue
		}
		if n := lines(x.data); n > r.fileLines && !u.allows(x.path) {
			out = append(out, finding{x.path, 0, fmt.Sprintf("has %d lines, more than %d: split it by noun, or list it with a reason", n, r.fileLines)})
		}
	}
	code, files := map[string]bool{}, map[string]int{}
	for _, f := range t.goes {
		code[f.dir] = true
	}
	for _, x := range t.texts {
		files[path.Dir(x.path)]++
	}
	for dir, n := range files {
		if code[dir] && n > r.folderFiles && !u.allows(dir) {
			out = append(out, finding{dir, 0, fmt.Sprintf("has %d files, more than %d: group them by noun, or list it with a reason", n, r.folderFiles)})
		}
	}
	return append(append(out, checkColumns(t, r, generated)...), u.stale("the size rule")...)
}

// checkColumns finds lines of SQL that do not fit beside a second window.
func checkColumns(t *tree, r sizeRules, generated map[string]bool) []finding {
	var out []finding
	for dir, most := range r.columns {
		for _, x := range t.texts {
			if path.Ext(x.path) != ".sql" || !within(x.path, dir) || generated[x.path] {
				continue
			}
			for i, line := range strings.Split(string(x.data), "\n") {
				if n := utf8.RuneCountInString(line); n > most {
					out = append(out, finding{x.path, i + 1, fmt.Sprintf("has %d columns, more than %d: break it at a clause", n, most)})
				}
			}
		}
	}
	return out
}

// funcName returns Name, or Type.Name of a method.
func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	recv := fn.Recv.List[0].Type
	for {
		switch x := recv.(type) {
		case *ast.StarExpr:
			recv = x.X
		case *ast.IndexExpr:
			recv = x.X
		case *ast.IndexListExpr:
			recv = x.X
		case *ast.Ident:
			return x.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}
