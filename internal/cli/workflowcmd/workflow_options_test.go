package workflowcmd

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/workflow/definition"
)

func TestParamValuesAreJSONOrText(t *testing.T) {
	for text, want := range map[string]any{
		"7":                    json.Number("7"),
		"12345678901234567890": json.Number("12345678901234567890"),
		"true":                 true,
		"null":                 nil,
		`"7"`:                  "7",
		`["a", 1]`:             []any{"a", json.Number("1")},
		"seven":                "seven",
		"1 2":                  "1 2",
		"1.2.3":                "1.2.3",
		"{":                    "{",
		"":                     "",
		"2026-01-31":           "2026-01-31",
		" 7 ":                  json.Number("7"),
	} {
		if got := command.ParamValue(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %#v, want %#v", text, got, want)
		}
	}
}

func TestOptionsOfFlags(t *testing.T) {
	f := optionFlags{
		params: []string{"a=1", "b=x=y", "c="}, steps: []string{"render.width=2", "render.name=n", "a.b.c=true"}, skip: []string{"render", "last"},
		file: "-", labels: map[string]string{"zone": "eu"},
	}
	got, err := f.read(strings.NewReader("a: 7\nd: [1]\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := definition.Options{
		Params: map[string]any{"a": json.Number("1"), "b": "x=y", "c": "", "d": []any{json.Number("1")}},
		Steps: map[string]definition.StepOptions{
			"render": {Params: map[string]any{"width": json.Number("2"), "name": "n"}, Skip: true},
			"a.b":    {Params: map[string]any{"c": true}},
			"last":   {Skip: true},
		},
		Labels: map[string]string{"zone": "eu"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v\nwant %#v", got, want)
	}
	for _, bad := range []optionFlags{
		{params: []string{"a"}}, {params: []string{"=1"}}, {steps: []string{"a=1"}}, {steps: []string{".a=1"}}, {steps: []string{"a.=1"}}, {steps: []string{"a.b"}}, {file: "-"},
	} {
		if o, err := bad.read(strings.NewReader("[1]")); err == nil {
			t.Errorf("%+v was read as %+v", bad, o)
		}
	}
}

func TestIsFile(t *testing.T) {
	for arg, want := range map[string]bool{
		"media": false, "media.v2": false, "-": true, "media.yaml": true, "media.YML": true, "media.json": true, "./media": true, "a/b": true,
	} {
		if isFile(arg) != want {
			t.Errorf("%q: %v", arg, !want)
		}
	}
}
