package definition_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

const video = `
name: video
params:
  source: {type: string, required: true, description: where the raw file lies}
  width: {type: integer, default: 1920, minimum: 16}
  size: {type: object, properties: {h: {type: integer, default: 1080}}}
defaults: {width: 1280}
steps:
  - key: one
    service: s
    params: {width: "{{ .params.width }}", preset: fast, text: "{{ .params.source }}"}
  - key: two
    service: s
  - key: none
    service: s
    params: {}
`

func ofStep(key string, params map[string]any) definition.Options {
	return definition.Options{Params: map[string]any{"source": "a"}, Steps: map[string]definition.StepOptions{key: {Params: params}}}
}

func TestInput(t *testing.T) {
	d := parse(t, video)
	for name, test := range map[string]struct {
		options definition.Options
		want    map[string]any
		field   string
		what    string
	}{
		"defaults":  {options: definition.Options{Params: map[string]any{"source": "a"}}, want: map[string]any{"source": "a", "width": int64(1280)}},
		"given":     {options: definition.Options{Params: map[string]any{"source": "a", "width": 640.0}}, want: map[string]any{"source": "a", "width": int64(640)}},
		"nested":    {options: definition.Options{Params: map[string]any{"source": "a", "size": map[string]any{}}}, want: map[string]any{"source": "a", "width": int64(1280), "size": map[string]any{"h": int64(1080)}}},
		"missing":   {field: "params", what: "params: source must be given"},
		"kind":      {options: definition.Options{Params: map[string]any{"source": 7.0}}, field: "params.source", what: "params.source: expected string, got number"},
		"range":     {options: definition.Options{Params: map[string]any{"source": "a", "width": 3.0}}, field: "params.width", what: "params.width: 3 is less than 16"},
		"unknown":   {options: definition.Options{Params: map[string]any{"source": "a", "heigth": 3.0}}, field: "params", what: "params: there is no heigth"},
		"no step":   {options: definition.Options{Steps: map[string]definition.StepOptions{"thre": {}}}, field: "steps.thre", what: "steps.thre: video has no such step"},
		"of a step": {options: ofStep("one", map[string]any{"width": 3.0}), field: "steps.one.params.width", what: "steps.one.params.width: 3 is less than 16"},
		"of all":    {options: ofStep("two", map[string]any{"source": 3.0}), field: "steps.two.params.source", what: "steps.two.params.source: expected string, got number"},
		"its own":   {options: ofStep("one", map[string]any{"text": 3.0, "preset": 4.0}), want: map[string]any{"source": "a", "width": int64(1280)}},
		"more":      {options: ofStep("two", map[string]any{"debug": true, "width": 17.0}), want: map[string]any{"source": "a", "width": int64(1280)}},
		"too large": {options: definition.Options{Params: map[string]any{"source": strings.Repeat("x", 1<<20)}}, field: "params", what: "params: 1048602 bytes are over the limit of 1 MiB"},
	} {
		got, err := d.Input(test.options)
		if test.what == "" {
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			continue
		}
		p, ok := errors.AsType[*problem.Problem](err)
		if !ok || p.Field != test.field || p.What != test.what {
			t.Errorf("%s: %#v", name, err)
		}
	}
}

// TestOptions checks that options.params replace plain values by name and options.steps
// affect one step; values are never templates.
func TestOptions(t *testing.T) {
	d := parse(t, video)
	options := definition.Options{
		Params: map[string]any{"source": "{{ .job.id }}", "preset": "slow", "text": "a template is not replaced"},
		Steps:  map[string]definition.StepOptions{"two": {Params: map[string]any{"extra": []any{1.0}}, Priority: new(int)}},
		Labels: map[string]string{"gpu": "true"},
	}
	*options.Steps["two"].Priority = 9
	tasks, err := d.Plan(definition.Input{Params: map[string]any{"source": "{{ .job.id }}", "width": int64(5)}, Options: options})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`{"preset":"slow","text":"{{ .job.id }}","width":5}`,
		`{"extra":[1],"source":"{{ .job.id }}","width":5}`,
		`{}`,
	} {
		if got := string(tasks[i].Params); got != want {
			t.Errorf("%s: %s", tasks[i].Key, got)
		}
		if tasks[i].Labels["gpu"] != "true" || tasks[i].Plan {
			t.Errorf("%s: %+v", tasks[i].Key, tasks[i])
		}
	}
	if *tasks[1].Priority != 9 || tasks[0].Priority != nil {
		t.Error("the priority is not that of the options")
	}
}

func TestPlanTooLarge(t *testing.T) {
	var text strings.Builder
	text.WriteString("name: large\nsteps:\n")
	for i := range 40 {
		text.WriteString("  - {key: s" + strings.Repeat("x", i) + ", service: s}\n")
	}
	d := parse(t, text.String())
	_, err := d.Plan(definition.Input{Params: map[string]any{"x": strings.Repeat("x", 1<<20-100)}})
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok || p.Kind != problem.TooLarge {
		t.Fatalf("%v", err)
	}
}

func TestWantsText(t *testing.T) {
	d := parse(t, video)
	for name, want := range map[string]bool{"source": true, "width": false, "size": false, "nothing": false} {
		if got := d.WantsText(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if parse(t, "name: w\nsteps: [{key: a, service: s}]").WantsText("x") {
		t.Error("without a schema")
	}
}

// TestPast checks that a caller with a clock can find schedules in the past.
func TestPast(t *testing.T) {
	d := parse(t, `
name: w
schedules:
  - {name: over, spec: "@at 2026-01-01T00:00:00Z"}
  - {name: left, spec: "@at 2026-01-01T00:00:00Z", missed: skip}
  - {name: comes, spec: "@at 2026-03-01T00:00:00Z"}
  - {name: daily, spec: "@daily"}
steps: [{key: a, service: s}]`)
	got := d.Past(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
	if want := "test.yaml:4:24: warning: schedules[0].spec: 2026-01-01T00:00:00Z is over: it would run as soon as it is stored\n  give it a time to come, or missed: skip"; got.Error() != want || got.Err() != nil {
		t.Errorf("%s", got)
	}
	if faults := d.Lint(); len(faults) != 0 {
		t.Error(faults)
	}
}
