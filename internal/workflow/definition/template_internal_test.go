package definition

import (
	"reflect"
	"strings"
	"testing"
)

func TestTemplate(t *testing.T) {
	env := data(t)
	env["job"] = map[string]any{"scheduled_at": "2026-11-15T10:20:30Z"}
	env["index"] = int64(4)
	for source, want := range map[string]any{
		`{{ .params.n }}`:                                      int64(3),
		`{{ .params.list }}`:                                   []any{int64(3), int64(1), int64(2)},
		`{{ .params.yes }}`:                                    true,
		`{{ .params.nil }}`:                                    nil,
		`n={{ .params.n }}, {{ .params.f }}`:                   "n=3, 1.5",
		`l={{ .params.list }}`:                                 "l=[3,1,2]",
		`x{{ .params.nil }}x`:                                  "xx",
		`{{ .params.none | default "a" }}`:                     "a",
		`{{ default 7 .params.none }}`:                         int64(7),
		`{{ .needs.off.result.x.y | default "a" }}`:            "a",
		`{{ .params.s | upper | lower | trim }}`:               "abc",
		`{{ .params.words | join "," }}`:                       "b,a,b",
		`{{ "a,b" | split "," }}`:                              []any{"a", "b"},
		`{{ .params.s | replace "b" "xx" }}`:                   "axxc",
		`{{ "dir/in.tar.gz" | base }}`:                         "in.tar.gz",
		`{{ "dir/in.gz" | dir }}{{ "in.gz" | ext }}`:           "dir.gz",
		`{{ "dir/in.gz" | stem }}`:                             "in",
		`{{ add .index 1 }}`:                                   int64(5),
		`{{ sub 5 2 }}{{ mul 2 3 }}{{ div 6 3 }}{{ mod 7 4 }}`: "3623",
		`{{ .params.map | json }}`:                             `{"j":2,"k":1}`,
		`{{ .params.list | len }}`:                             int64(3),
		`{{ .params.list | first }}{{ .params.list | last }}`:  "32",
		`{{ index .params.list 1 }}`:                           int64(1),
		`{{ index .needs "scan" "result" "count" }}`:           int64(3),
		`{{ (index .needs "scan").result.count }}`:             int64(3),
		`{{ .job.scheduled_at | date "2006-01-02" }}`:          "2026-11-15",
		`{{ "7" | int }}`:                                      int64(7),
		`{{ .params.n | string }}`:                             "3",
		`{{- "a" -}} b`:                                        "ab",
		`{{/* nothing */}}`:                                    "",
		`{{ "{{" }}`:                                           "{{",
		`{{ true }}`:                                           true,
		`{{ 1.5 }}`:                                            1.5,
	} {
		parsed, err := parseTemplate(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := parsed.render(env, newBudget()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v", source, got, err)
		}
	}
}

func TestTemplateErrors(t *testing.T) {
	env := data(t)
	env["params"].(map[string]any)["big"] = strings.Repeat("ab", 1<<18)
	for source, want := range map[string]string{
		`{{ .params.x }}`:                     `.params has no "x"; there is big, f, json, list, map, n, nil, rows, s, words, yes`,
		`{{ .params.s.x }}`:                   `.params.s is text, so it has no x`,
		`{{ .params.list.x }}`:                `.params.list is a list: it is read by number, not by x`,
		`{{ .params.x | default .params.y }}`: ``,
		`{{ .params.n | upper }}`:             `upper: wants text, got a number`,
		`{{ .params.s | date "2006" }}`:       `date: "abc" is no time such as 2026-11-15T10:00:00Z or 2026-11-15`,
		`{{ .params.s | int }}`:               `int: "abc" is no whole number`,
		`{{ .params.big | replace "a" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" }}`: `replace: a text of 8126464 bytes is over the limit of 1 MiB`,
		`{{ .params.s | replace "" "x" }}`:                                 `replace: wants something to replace`,
		`{{ div 1 0 }}`:                                                    `div: the number is too large, or a division by 0`,
		`{{ .params.big }}{{ .params.big }}{{ .params.big }}`:              `a text of 1572864 bytes is over the limit of 1 MiB`,
		`{{ first .params.s }}`:                                            `first: the list is text, so it has no 0`,
	} {
		parsed, err := parseTemplate(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		_, err = parsed.render(env, newBudget())
		if want == "" && err == nil {
			continue
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", source, err, want)
		}
	}
	for source, want := range map[string]string{
		`{{ add index 0 }}`:            `the function index is not a value`,
		`{{ . }}`:                      `. stands for everything`,
		`{{ $ }}`:                      `$ stands for everything`,
		`{{ $x := 1 }}`:                `a template has no variables`,
		`{{ if .params.x }}a{{ end }}`: `{{ if }} is not part of this language`,
		`{{ define "a" }}b{{ end }}`:   `a template defines no other templates`,
		`{{ printf "%1000000d" 1 }}`:   `there is no function "printf"`,
		`{{ call .params.x }}`:         `there is no function "call"`,
		`{{ .params.x 3 }}`:            `.params.x is not a function`,
		`{{ 3 | .params.x }}`:          `.params.x is not a function`,
		`{{ .params.x | default }}`:    `default wants 2 arguments, got 1`,
		`{{ 1i }}`:                     `1i is no number that JSON has`,
		`{{ params.x }}`:               `there is no function "params"`,
		`{{`:                           `the template is not closed`,
		`{{ template "t" }}`:           `{{ template }} is not part of this language`,
		`{{ break }}`:                  `the template is wrong: {{break}} outside {{range}}`,
	} {
		if _, err := parseTemplate(source); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", source, err, want)
		}
	}
}
