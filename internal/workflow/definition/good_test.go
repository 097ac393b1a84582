package definition_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/weirhq/weir/internal/workflow/definition"
)

func good(t *testing.T) map[string]*definition.Definition {
	t.Helper()
	files, err := filepath.Glob("testdata/good/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no good definitions", err)
	}
	out := map[string]*definition.Definition{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, faults := definition.Parse(filepath.Base(file), text)
		if len(faults) > 0 {
			t.Fatalf("%s\n%s", file, faults)
		}
		if faults := d.Lint(); len(faults) > 0 {
			t.Errorf("%s\n%s", file, faults)
		}
		out[filepath.Base(file)] = d
	}
	return out
}

func parse(t testing.TB, text string) *definition.Definition {
	t.Helper()
	d, faults := definition.Parse("test.yaml", []byte(text))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return d
}

// TestNormalForm checks that a definition and its JSON are the same definition.
func TestNormalForm(t *testing.T) {
	for name, d := range good(t) {
		again, err := definition.ParseJSON(d.JSON())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(d.JSON(), again.JSON()) {
			t.Errorf("%s:\n%s\n%s", name, d.JSON(), again.JSON())
		}
		if faults := again.Lint(); len(faults) > 0 {
			t.Errorf("%s: its stored form: %s", name, faults)
		}
	}
}

// specFields are the fields of the SQL type weir.task_spec.
var specFields = []string{
	"service", "params", "key", "needs", "rule", "priority", "labels", "run_at", "hold", "lane", "rank", "exclusive", "pool",
	"max_attempts", "timeout", "backoff", "backoff_cap", "orphan", "plan", "run",
}

var inputs = map[string]definition.Options{"media.yaml": {Params: map[string]any{"source": "s3://raw/1"}}}

// TestGoldenPlan keeps the tasks of each good definition, and the output of weir workflow
// plan.
func TestGoldenPlan(t *testing.T) {
	var got strings.Builder
	all := good(t)
	names := []string{}
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		d := all[name]
		params, err := d.Input(inputs[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		in := definition.Input{Params: params, Options: inputs[name], Job: definition.Job{ScheduledAt: time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC)}}
		tasks, err := d.Plan(in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got.WriteString("== " + name + "\n")
		for _, task := range tasks {
			text, err := json.Marshal(task)
			if err != nil {
				t.Fatal(err)
			}
			var fields map[string]any
			if err := json.Unmarshal(text, &fields); err != nil {
				t.Fatal(err)
			}
			for field := range fields {
				if !slices.Contains(specFields, field) {
					t.Errorf("%s: %s: the engine's task has no %s", name, task.Key, field)
				}
			}
			if fields["service"] == "" {
				t.Errorf("%s: %s: nobody does it", name, task.Key)
			}
			if task.Plan != d.Dynamic(task.Key) {
				t.Errorf("%s: %s: plan is %v", name, task.Key, task.Plan)
			}
			got.WriteString(string(text))
			if task.Patience != nil {
				p, _ := json.Marshal(task.Patience)
				got.WriteString(" patience " + string(p))
			}
			got.WriteString("\n")
		}
		text, err := d.Explain(in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got.WriteString("--\n" + text + "\n")
	}
	compareGolden(t, "testdata/plan.golden", got.String())
}

// TestSchema checks that the published schema accepts what Parse accepts.
func TestSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(definition.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("weir:workflow", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("weir:workflow")
	if err != nil {
		t.Fatal(err)
	}
	check := func(text []byte) error {
		var v any
		if err := yaml.Unmarshal(text, &v); err != nil {
			return err
		}
		plain, err := json.Marshal(v)
		if err != nil {
			return err
		}
		v, err = jsonschema.UnmarshalJSON(bytes.NewReader(plain))
		if err != nil {
			return err
		}
		return schema.Validate(v)
	}
	for name, d := range good(t) {
		if err := schema.Validate(value(t, d.JSON())); err != nil {
			t.Errorf("%s, normal form: %v", name, err)
		}
		text, err := os.ReadFile(filepath.Join("testdata/good", name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".json") {
			err = schema.Validate(value(t, text))
		} else {
			err = check(text)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{
		"unknown-key.yaml", "unknown-top-key.yaml", "unknown-run-key.yaml", "no-steps.yaml", "empty-steps.yaml", "not-a-mapping.yaml", "steps-mapping.yaml", "no-key.yaml",
		"no-work.yaml", "bad-key.yaml", "text-wanted.yaml", "bad-rule.yaml", "bad-duration.yaml", "number-duration.yaml", "bad-priority.yaml", "shell-line.yaml", "map-without-over.yaml", "map-limit-and-pool.yaml",
	} {
		text, err := os.ReadFile(filepath.Join("testdata/bad", name))
		if err != nil {
			t.Fatal(err)
		}
		if check(text) == nil {
			t.Errorf("%s: the schema finds nothing wrong with it", name)
		}
	}
}

func value(t *testing.T, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
