package definition

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// FuzzParse checks that no text makes Parse, Lint or Plan panic, and that an accepted
// definition has a normal form that is accepted again.
func FuzzParse(f *testing.F) {
	for _, folder := range []string{"good", "bad"} {
		files, err := filepath.Glob("testdata/" + folder + "/*")
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file) // #nosec G304 -- a file of this package
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, faults := Parse("fuzz.yaml", text)
		for _, fault := range faults {
			if fault.Line < 1 || fault.Column < 1 || fault.What == "" {
				t.Errorf("a fault without a place: %+v", fault)
			}
		}
		if d == nil {
			if len(faults) == 0 {
				t.Error("neither a definition nor a fault")
			}
			return
		}
		lint := d.Lint()
		stored := d.JSON()
		again, err := ParseJSON(stored)
		if err != nil {
			t.Fatalf("%s: %v", stored, err)
		}
		if !bytes.Equal(stored, again.JSON()) {
			t.Fatalf("%s\n%s", stored, again.JSON())
		}
		params, err := d.Input(Options{})
		if err != nil {
			return
		}
		tasks, err := d.Plan(Input{Params: params})
		if err != nil || lint.Err() != nil {
			return
		}
		if _, err := json.Marshal(tasks); err != nil {
			t.Error(err)
		}
		for _, task := range tasks {
			if task.Plan {
				_, _ = d.Resolve(task.Key, Facts{Params: params})
			}
		}
		if _, err := d.Explain(Input{Params: params}); err != nil {
			t.Error(err)
		}
	})
}

// FuzzExpression checks that no expression panics or returns a value that JSON does not
// have.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		`params.n > 2 && params.yes`, `params.rows | filter(.ok) | map(.n)`, `let x = params.n; x ** x`, `params.list[1:-1] ?? 1..3`, `{"a": [#]}`,
		`sum(params.rows, .n) / len(params.s)`, `groupBy(params.words, #).b`, `params?.x?.y.z`, `if params.yes { 1 } else { 2 }`, "`raw`", `get(params, "n")?.x`,
	} {
		f.Add(seed)
	}
	env := data(f)
	f.Fuzz(func(t *testing.T, source string) {
		e, err := parseExpression(source)
		if err != nil {
			return
		}
		v, err := e.evaluate(env)
		if err != nil {
			return
		}
		b := newBudget()
		if _, err := b.weigh(v); err != nil {
			return
		}
		if _, err := json.Marshal(v); err != nil {
			t.Errorf("%q gives %#v: %v", source, v, err)
		}
	})
}

// FuzzTemplate checks that no template panics or makes a text over the limit.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		`{{ .params.n }}`, `a{{ .params.s | upper }}b`, `{{ index .params.list 0 | add 1 }}`, `{{ (index .needs "scan").result | json }}`, `{{- .params.x | default "{{" -}}`,
		`{{ range . }}{{ end }}`, `{{ .params.words | join "," | split "" | len }}`, `{{/* a */}}`, `{{ date "2006" .params.s }}`,
	} {
		f.Add(seed)
	}
	env := data(f)
	f.Fuzz(func(t *testing.T, source string) {
		parsed, err := parseTemplate(source)
		if err != nil {
			return
		}
		v, err := parsed.render(env, newBudget())
		if err != nil {
			return
		}
		if s, ok := v.(string); ok && len(s) > maxString {
			t.Errorf("%d bytes", len(s))
		}
		if _, err := json.Marshal(v); err != nil {
			t.Errorf("%q gives %#v: %v", source, v, err)
		}
	})
}
