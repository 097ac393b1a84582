package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// Each file of testdata is a small tree that breaks a rule and, under "want", the
// expected findings. A check that could not fail would pass the repository forever.
func TestChecksCanFail(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fsys := unpack(string(data))
			want := string(fsys["want"].Data)
			delete(fsys, "want")
			tr, err := load(fsys)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, f := range sorted(fixtureFindings(tr)) {
				got.WriteString(f.String() + "\n")
			}
			if got.String() != want {
				t.Errorf("findings differ\ngot:\n%swant:\n%s", got.String(), want)
			}
		})
	}
}

// unpack reads a tree from one file: "-- name --" begins each of its files. This is the
// txtar format, which is not worth a dependency here.
func unpack(text string) fstest.MapFS {
	fsys := fstest.MapFS{"want": {}}
	var file *fstest.MapFile
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(name, " --") {
			file = &fstest.MapFile{}
			fsys[strings.TrimSuffix(name, " --")] = file
		} else if file != nil {
			file.Data = append(file.Data, line...)
		}
	}
	return fsys
}

// fixtureFindings runs every check. The rules are the real ones except for the limits of
// size and the exceptions, which are those of a small tree.
func fixtureFindings(t *tree) []finding {
	small := sizeRules{fileLines: 20, funcLines: 5, folderFiles: 8, columns: map[string]int{"schema/views": 40}, made: sizes.made, long: allowed{}}
	for _, f := range t.goes {
		switch f.path {
		case "internal/engine/listed.go":
			small.long[f.path+":Listed"] = "shows that an exception works"
		case "internal/engine/shrunk.go":
			small.long[f.path] = "shows that a stale exception is found"
		}
	}
	var out []finding
	out = append(out, checkImports(t, imports)...)
	out = append(out, checkClock(t, clocks)...)
	out = append(out, checkPatterns(t, patterns)...)
	out = append(out, checkEmbeddedSQL(t, embeddedSQL)...)
	out = append(out, checkNames(t, vague)...)
	out = append(out, checkDocs(t)...)
	out = append(out, checkSize(t, small)...)
	out = append(out, checkText(t, textRules{banned: texts.banned})...)
	for _, x := range t.texts {
		if x.path == "CONTRIBUTING.md" {
			few := recipes[0]
			few.most, few.list = 2, 2
			out = append(out, checkRecipe(t, few)...)
		}
	}
	for _, x := range t.texts {
		if strings.HasPrefix(x.path, "schema/functions/lock/") {
			out = append(out, checkLocks(t, []lockRule{{1, []string{"schema/functions/lock"}, "its own"}, {2, []string{"schema/functions/flow"}, "of another"}, {9, nil, "nobody's"}})...)
			break
		}
	}
	for _, rule := range []wordRule{domains, positions, sentences, refusals} {
		rule.known = nil
		out = append(out, checkWords(t, rule)...)
	}
	return append(out, checkFunctions(t, "schema/functions", "weir")...)
}

func TestStatementsKnowQuotes(t *testing.T) {
	sql := `-- a; b
create function weir.f() returns text as $body$ select ';' ; $body$ language sql;
/* x; /* y; */ z; */ comment on function weir.f() is 'it''s; fine';
select ";" from t`
	var got []string
	for _, s := range statements(sql) {
		got = append(got, s.bare)
	}
	want := []string{
		`create function weir.f() returns text as '' language sql`,
		`comment on function weir.f() is ''''`,
		`select ";" from t`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
