package definition_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/workflow/definition"
)

const branches = `
name: branches
labels: {zone: eu}
steps:
  - {key: scan, service: scan}
  - key: deep
    service: deep
    needs: [scan]
    when: needs.scan.result.count > params.least
    params: {files: "{{ .needs.scan.result.files }}", first: "{{ .needs.scan.result.files | first }}", text: "n={{ .needs.scan.result.count }}"}
    delay: 90s
    approval: "{{ .needs.scan.result.owner }}"
  - key: each
    needs: [scan]
    map: {over: needs.scan.result.files, tolerate: 1}
    run: [render, "{{ .item }}", "{{ .index }}"]
    params: {file: "{{ .item }}"}
    labels: {size: "{{ .index }}"}
    pool: renderers
    timeout: {queue: 1m}
  - {key: near, service: s, needs: [scan], sticky: scan, prefer: {labels: {ssd: true}, for: 30s}}
  - {key: there, service: s, needs: [scan], sticky: {to: scan, hard: true}, prefer: {labels: {ssd: true}}}
  - {key: child, workflow: other@4, needs: [each], params: {n: "{{ .needs.each.items | len }}"}}
  - {key: children, workflow: other, needs: [scan], map: needs.scan.result.files, params: {f: "{{ .item }}"}}
  - {key: wild, service: s, needs: [child, near], params: {all: "{{ .needs | len }}"}}
`

var scanned = map[string]definition.NeedFacts{"scan": {
	State: "done", Node: "gpu-1",
	Result: json.RawMessage(`{"count": 3, "files": ["a", "b", "c"], "owner": "the boss"}`),
}}

func TestResolve(t *testing.T) {
	d := parse(t, branches)
	if faults := d.Lint(); len(faults) > 0 {
		t.Fatal(faults)
	}
	resolve := func(key string, facts definition.Facts) definition.Resolution {
		t.Helper()
		r, err := d.Resolve(key, facts)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		return r
	}
	facts := definition.Facts{Params: map[string]any{"least": int64(2)}, Needs: scanned}

	r := resolve("deep", facts)
	if string(r.Params) != `{"files":["a","b","c"],"first":"a","text":"n=3"}` || r.Hold != "the boss" || r.Delay != 90*time.Second || r.Skip {
		t.Errorf("deep: %+v %s", r, r.Params)
	}
	few := definition.Facts{Params: map[string]any{"least": int64(3)}, Needs: scanned}
	if r := resolve("deep", few); !r.Skip || r.Because != "when is false: needs.scan.result.count > params.least" {
		t.Errorf("deep: %+v", r)
	}
	out := definition.Facts{Options: definition.Options{Steps: map[string]definition.StepOptions{"deep": {Skip: true}}}}
	if r := resolve("deep", out); !r.Skip || r.Because != "the options of the job leave it out" {
		t.Errorf("deep: %+v", r)
	}

	r = resolve("near", facts)
	if !reflect.DeepEqual(r.Labels, map[string]string{"zone": "eu", "ssd": "true", "node": "gpu-1"}) ||
		!reflect.DeepEqual(r.Patience, &definition.Patience{Relax: 30 * time.Second, Labels: map[string]string{"zone": "eu"}}) {
		t.Errorf("near: %+v %+v", r, r.Patience)
	}
	r = resolve("there", facts)
	if r.Labels["node"] != "gpu-1" || r.Patience.Labels["node"] != "gpu-1" || r.Patience.Labels["ssd"] != "" || r.Patience.Relax != 10*time.Second {
		t.Errorf("there: %+v %+v", r, r.Patience)
	}
	if _, err := d.Resolve("there", definition.Facts{Needs: map[string]definition.NeedFacts{"scan": {State: "skipped"}}}); err == nil {
		t.Error("there: it runs beside a step that ran nowhere")
	}

	each := definition.Facts{Needs: map[string]definition.NeedFacts{"each": {State: "done", Result: map[string]any{"items": []any{1.0, 2.0}, "failed": 0.0}}}}
	if r := resolve("child", each); r.Workflow != "other" || r.Version != 4 || !reflect.DeepEqual(r.Options.Params, map[string]any{"n": 2.0}) {
		t.Errorf("child: %+v", r)
	}
	if r := resolve("wild", definition.Facts{Needs: map[string]definition.NeedFacts{"a": {}, "b": {}}}); string(r.Params) != `{"all":2}` {
		t.Errorf("wild: %s", r.Params)
	}
}

func TestMapItems(t *testing.T) {
	d := parse(t, branches)
	r, err := d.Resolve("each", definition.Facts{Needs: scanned})
	if err != nil || !r.Mapped || len(r.Items) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	text, err := json.Marshal(r.Items[2])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"key":"each[2]","service":"exec","params":{"file":"c"},"labels":{"size":"2","zone":"eu"},"pool":"renderers","run":{"driver":"exec","argv":["render","c","2"]}}`
	if string(text) != want {
		t.Errorf("%s", text)
	}
	if r.Items[1].Needs != nil || r.Items[1].Patience.Fail != time.Minute {
		t.Errorf("%+v", r.Items[1])
	}
	none := map[string]definition.NeedFacts{"scan": {Result: map[string]any{"files": []any{}}}}
	if r, err := d.Resolve("each", definition.Facts{Needs: none}); err != nil || !r.Mapped || len(r.Items) != 0 {
		t.Errorf("an empty list: %+v, %v", r, err)
	}
	many := map[string]definition.NeedFacts{"scan": {Result: map[string]any{"files": make([]any, 10_001)}}}
	if _, err := d.Resolve("each", definition.Facts{Needs: many}); err == nil || !strings.Contains(err.Error(), "10001 items are over the limit of 10000") {
		t.Errorf("many: %v", err)
	}
	large := map[string]definition.NeedFacts{"scan": {Result: map[string]any{"files": slices.Repeat([]any{strings.Repeat("x", 100_000)}, 1000)}}}
	if _, err := d.Resolve("each", definition.Facts{Needs: large}); err == nil || !strings.Contains(err.Error(), "more than 32 MiB") {
		t.Errorf("large: %v", err)
	}

	r, err = d.Resolve("children", definition.Facts{Needs: scanned})
	if err != nil || len(r.Items) != 3 || !r.Items[1].Plan || string(r.Items[1].Params) != `{"f":"b"}` {
		t.Fatalf("%+v, %v", r, err)
	}
	r, err = d.Resolve("children[1]", definition.Facts{Own: r.Items[1].Params})
	if err != nil || r.Workflow != "other" || r.Version != 0 || r.Options.Params["f"] != "b" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestShared uses one definition from many goroutines under the race detector.
func TestShared(t *testing.T) {
	d := parse(t, branches)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				params, err := d.Input(definition.Options{Params: map[string]any{"least": 1.0}})
				if err != nil {
					t.Error(err)
				}
				if _, err := d.Plan(definition.Input{Params: params}); err != nil {
					t.Error(err)
				}
				for _, key := range []string{"deep", "each", "near"} {
					if _, err := d.Resolve(key, definition.Facts{Params: params, Needs: scanned}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkPlan(b *testing.B) {
	d := parse(b, video)
	for b.Loop() {
		params, err := d.Input(definition.Options{Params: map[string]any{"source": "a"}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := d.Plan(definition.Input{Params: params}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestOutcome(t *testing.T) {
	d := parse(t, branches)
	item := func(state string, result any) definition.NeedFacts {
		return definition.NeedFacts{State: state, Result: result, Error: "no space"}
	}
	for _, test := range []struct {
		items  []definition.NeedFacts
		done   bool
		result string
		cause  string
	}{
		{nil, true, `{"failed":0,"items":[]}`, ""},
		{[]definition.NeedFacts{item("done", 1.0), item("failed", nil)}, true, `{"failed":1,"items":[1,null]}`, ""},
		{[]definition.NeedFacts{item("done", "a"), item("failed", nil), item("canceled", nil)}, false, `{"failed":2,"items":["a",null,null]}`, "2 of 3 items failed; the first is each[1]: no space"},
	} {
		done, result, cause := d.Outcome("each", test.items)
		if done != test.done || string(result) != test.result || cause != test.cause {
			t.Errorf("%v %s %s", done, result, cause)
		}
	}
}

func TestReads(t *testing.T) {
	d := parse(t, branches)
	for key, want := range map[string][]string{"scan": nil, "deep": {"scan"}, "near": {"scan"}, "child": {"each"}, "wild": {"scan", "each", "near", "child"}} {
		got, err := d.Reads(key)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", key, got, err)
		}
	}
	if _, err := d.Reads("nothing"); err == nil {
		t.Error("a step that is not there reads nothing")
	}
}

// TestResolveErrors checks what a failed step shows as its cause.
func TestResolveErrors(t *testing.T) {
	for name, test := range map[string]struct {
		step string
		need definition.NeedFacts
		want string
	}{
		"missing key": {`params: {x: "{{ .needs.a.result.file }}"}`, definition.NeedFacts{Result: map[string]any{"files": 1.0, "n": 2.0}}, `step b: params.x: .needs.a.result has no "file"; there is files, n`},
		"no result":   {`params: {x: "{{ .needs.a.result.file }}"}`, definition.NeedFacts{State: "skipped"}, `step b: params.x: .needs.a.result is nothing, so it has no file`},
		"function":    {`params: {x: "{{ .needs.a.result | upper }}"}`, definition.NeedFacts{Result: 1.0}, `step b: params.x: upper: wants text, got a number`},
		"not bool":    {`when: needs.a.result`, definition.NeedFacts{Result: "yes"}, `step b: when: it gives text, not true or false`},
		"no list":     {`map: needs.a.result`, definition.NeedFacts{Result: "yes"}, `step b: map.over: it gives text, not a list`},
		"when key":    {`when: needs.a.result.ok`, definition.NeedFacts{Result: map[string]any{}}, `step b: when: needs.a.result has no "ok": it is empty`},
		"too long":    {`params: {x: "{{ .needs.a.result }}{{ .needs.a.result }}"}`, definition.NeedFacts{Result: strings.Repeat("x", 600_000)}, `step b: params.x: a text of 1200000 bytes is over the limit of 1 MiB`},
		"too large":   {`params: {x: "{{ .needs.a.result }}", y: "{{ .needs.a.result }}"}`, definition.NeedFacts{Result: strings.Repeat("x", 600_000)}, `step b: params: 1200015 bytes are over the limit of 1 MiB`},
	} {
		d := parse(t, fmt.Sprintf("steps:\n  - {key: a, service: s}\n  - key: b\n    service: s\n    needs: [a]\n    %s\n", test.step))
		_, err := d.Resolve("b", definition.Facts{Needs: map[string]definition.NeedFacts{"a": test.need}})
		if err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", name, err, test.want)
		}
	}
}
