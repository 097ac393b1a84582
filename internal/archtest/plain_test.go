package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPlainPackages compares scripts/plain-packages with the code: a package that make
// test runs without the race detector has nothing for the detector to find.
func TestPlainPackages(t *testing.T) {
	list, err := os.ReadFile("../../scripts/plain-packages")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(list)) {
		if dir := strings.TrimSpace(line); dir != "" && !strings.HasPrefix(dir, "#") {
			n++
			for _, why := range concurrency(t, filepath.Join("../..", dir)) {
				t.Errorf("%s needs the race detector: %s; take it off scripts/plain-packages", dir, why)
			}
		}
	}
	if n == 0 {
		t.Error("the list is empty")
	}
	if why := concurrency(t, "../loop"); len(why) == 0 {
		t.Error("internal/loop, which starts goroutines, passes for plain: this test finds nothing")
	}
}

// shared are the packages that code imports to share something between goroutines.
var shared = []string{"sync", "sync/atomic", "golang.org/x/sync/errgroup", "net/http/httptest"}

// concurrency returns what in a folder's Go files runs concurrently.
func concurrency(t *testing.T, dir string) (why []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no Go files (%v)", dir, err)
	}
	set := token.NewFileSet()
	for _, path := range files {
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if name, _ := strconv.Unquote(i.Path.Value); slices.Contains(shared, name) {
				why = append(why, set.Position(i.Pos()).String()+" imports "+name)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				why = append(why, set.Position(n.Pos()).String()+" starts a goroutine")
			case *ast.ChanType:
				why = append(why, set.Position(n.Pos()).String()+" has a channel")
			case *ast.SelectorExpr:
				if n.Sel.Name == "Parallel" {
					why = append(why, set.Position(n.Pos()).String()+" runs beside other tests")
				}
			}
			return true
		})
	}
	return why
}
