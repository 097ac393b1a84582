package archtest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// repository loads the tree that contains this package.
func repository(t *testing.T) *tree {
	t.Helper()
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("find the repository: %v", err)
	}
	tr, err := load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestRepository(t *testing.T) {
	tr := repository(t)
	checks := map[string]func() []finding{
		"imports point down":                  func() []finding { return checkImports(tr, imports) },
		"only loop owns a clock":              func() []finding { return checkClock(tr, clocks) },
		"patterns of others are bounded":      func() []finding { return checkPatterns(tr, patterns) },
		"SQL stays in its place":              func() []finding { return checkEmbeddedSQL(tr, embeddedSQL) },
		"package names say something":         func() []finding { return checkNames(tr, vague) },
		"packages state their contract":       func() []finding { return checkDocs(tr) },
		"files, functions, folders are small": func() []finding { return checkSize(tr, sizes) },
		"no text of one machine":              func() []finding { return checkText(tr, texts) },
		"SQL of the engine has no domain":     func() []finding { return checkWords(tr, domains) },
		"no sentence decides":                 func() []finding { return checkWords(tr, sentences) },
		"rows have their names":               func() []finding { return checkWords(tr, positions) },
		"a refusal has its parts":             func() []finding { return checkWords(tr, refusals) },
		"an advisory lock has one owner":      func() []finding { return checkLocks(tr, locks) },
		"a function file has its one form":    func() []finding { return checkFunctions(tr, "schema/functions", "weir", "fleet") },
	}
	for _, r := range recipes {
		checks[r.heading] = func() []finding { return checkRecipe(tr, r) }
	}
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			for _, f := range sorted(check()) {
				t.Error(f)
			}
		})
	}
}

// A layer list that names one package twice would let it import upward.
func TestMapNamesEachPackageOnce(t *testing.T) {
	seen := map[string]string{}
	for _, l := range imports.layers {
		if l.why == "" {
			t.Errorf("layer %s has no reason", l.name)
		}
		for _, p := range l.pkgs {
			if seen[p] != "" {
				t.Errorf("%s is in %s and in %s", p, seen[p], l.name)
			}
			seen[p] = l.name
		}
	}
}

// Pages of one domain know nothing of another's; what two of them need is in site or ui.
func TestPagesStandAlone(t *testing.T) {
	pages := regexp.MustCompile(`internal/web/\w+pages$`)
	found := 0
	for _, f := range repository(t).goes {
		if !pages.MatchString(f.dir) {
			continue
		}
		found++
		for _, i := range f.syntax.Imports {
			other := strings.Trim(i.Path.Value, `"`)
			if pages.MatchString(other) && !(path.Base(f.dir) == "flowpages" && path.Base(other) == "workpages") {
				t.Errorf("%s imports %s", f.path, other)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d files of pages were found", found)
	}
}
