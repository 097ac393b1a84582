package definition_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/workflow/definition"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files again")

// large returns bad definitions that are too large for a file of testdata.
func large() map[string][]byte {
	var steps strings.Builder
	steps.WriteString("name: many\nsteps:\n")
	for i := range 10_001 {
		fmt.Fprintf(&steps, "  - {key: s%d, service: s}\n", i)
	}
	return map[string][]byte{
		"large/too-many-steps.yaml":  []byte(steps.String()),
		"large/too-long.yaml":        []byte("name: long\ndescription: " + strings.Repeat("x", 1<<20) + "\n"),
		"large/too-deep.yaml":        []byte("steps:\n  - key: a\n    service: s\n    params: {x: " + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}\n"),
		"large/bottomless.yaml":      []byte("x: " + strings.Repeat("[", 20_000)),
		"large/too-deep.json":        []byte(`{"steps": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`),
		"large/too-many-values.json": []byte(`{"steps": [{"key": "a", "service": "s", "params": {"x": [` + strings.Repeat("0,", 300_000) + `0]}}]}`),
		"large/long-expression.yaml": []byte("steps:\n  - key: a\n    service: s\n    when: " + strings.Repeat("(", 5000) + "true" + strings.Repeat(")", 5000) + "\n"),
		"large/long-template.yaml":   []byte("steps:\n  - key: a\n    service: s\n    params: {x: \"{{ .params.x }}" + strings.Repeat("x", 70_000) + "\"}\n"),
	}
}

func faultsOf(name string, text []byte) definition.Faults {
	d, faults := definition.Parse(name, text)
	if len(faults) > 0 {
		return faults
	}
	return d.Lint()
}

// TestGoldenFaults keeps the message for each bad definition: where, what and what to do.
func TestGoldenFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*")
	if err != nil {
		t.Fatal(err)
	}
	texts := large()
	names := []string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimPrefix(file, "testdata/")] = text
		names = append(names, strings.TrimPrefix(file, "testdata/"))
	}
	names = append(names, slices.Sorted(maps.Keys(large()))...)
	if len(names) < 30 {
		t.Fatalf("only %d bad definitions", len(names))
	}
	var got strings.Builder
	for _, name := range names {
		faults := faultsOf(name, texts[name])
		if len(faults.Errors()) == 0 {
			t.Errorf("%s: nothing is wrong with it: %v", name, faults)
		}
		for _, f := range faults {
			if f.Line < 1 || f.Column < 1 || f.What == "" {
				t.Errorf("%s: a fault without a place or a text: %+v", name, f)
			}
		}
		got.WriteString(faults.Error() + "\n\n")
	}
	compareGolden(t, "testdata/bad.golden", got.String())
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file) // #nosec G304 -- a file of this package
	if err != nil {
		t.Fatal(err)
	}
	if string(want) == got {
		return
	}
	a, b := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s moved at line %d:\nwas %s\nis  %s\nIf that is meant: go test ./internal/workflow/definition -run Golden -rewrite", file, i+1, a[i], b[i])
		}
	}
	t.Fatalf("%s has %d lines, now there are %d", file, len(a), len(b))
}
