package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"sort"
	"strings"
)

// finding is one broken rule, with a position that an editor can jump to.
type finding struct {
	path string
	line int
	text string
}

func (f finding) String() string {
	if f.line == 0 {
		return fmt.Sprintf("%s: %s", f.path, f.text)
	}
	return fmt.Sprintf("%s:%d: %s", f.path, f.line, f.text)
}

// tree is a repository read once: every text file, and the syntax of Go files.
type tree struct {
	fset  *token.FileSet
	texts []textFile
	goes  []goFile
}

type textFile struct {
	path string
	data []byte
}

type goFile struct {
	path      string
	dir       string
	data      []byte
	syntax    *ast.File
	test      bool
	generated bool
	// nested is true in another Go module (bench, tools), which has its own dependencies
	// and is not bound by the import rules of this module.
	nested bool
}

// skipDirs are folders of build output and of tools. They contain no code of this
// project.
var skipDirs = map[string]bool{".git": true, ".weir": true, "bin": true, "node_modules": true, ".idea": true, ".vscode": true}

// maxText bounds what is read, because larger files are data, not prose.
const maxText = 4 << 20

func load(fsys fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	var modules []string
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipDirs[d.Name()]:
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > maxText {
			return err
		}
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		if d.Name() == "go.mod" && path.Dir(p) != "." {
			modules = append(modules, path.Dir(p)+"/")
		}
		if bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0 {
			t.texts = append(t.texts, textFile{p, data})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the tree: %w", err)
	}
	for _, x := range t.texts {
		if err := t.parse(x, modules); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *tree) parse(x textFile, modules []string) error {
	if !strings.HasSuffix(x.path, ".go") || strings.Contains("/"+x.path, "/testdata/") {
		return nil
	}
	syntax, err := parser.ParseFile(t.fset, x.path, x.data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse %s: %w", x.path, err)
	}
	f := goFile{
		path: x.path, dir: path.Dir(x.path), data: x.data, syntax: syntax,
		test: strings.HasSuffix(x.path, "_test.go"), generated: ast.IsGenerated(syntax),
	}
	for _, m := range modules {
		f.nested = f.nested || strings.HasPrefix(x.path, m)
	}
	t.goes = append(t.goes, f)
	return nil
}

// line returns the line on which a node begins.
func (t *tree) line(p token.Pos) int { return t.fset.Position(p).Line }

// allowed is a list of exceptions: what may break the rule, and why.
type allowed map[string]string

// use remembers which exceptions were needed, to find the unused ones.
type use struct {
	list allowed
	seen map[string]bool
}

func newUse(list allowed) *use { return &use{list, map[string]bool{}} }

func (u *use) allows(key string) bool {
	_, ok := u.list[key]
	u.seen[key] = u.seen[key] || ok
	return ok
}

// stale reports the exceptions that no file needed.
func (u *use) stale(rule string) []finding {
	var out []finding
	for key := range u.list {
		if !u.seen[key] {
			out = append(out, finding{key, 0, "is listed as an exception of " + rule + " but needs none: delete the entry"})
		}
	}
	return out
}

func lines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

func sorted(fs []finding) []finding {
	sort.Slice(fs, func(i, j int) bool {
		a, b := fs[i], fs[j]
		if a.path != b.path {
			return a.path < b.path
		}
		if a.line != b.line {
			return a.line < b.line
		}
		return a.text < b.text
	})
	return fs
}
