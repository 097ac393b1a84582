package workflow

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/workflow/definition"
)

func TestPlanSaysWhatWouldRunWhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.exec(`select weir.register_node('gpu-1', '{"gpu": "true"}', '{"render": 2}')`)
	r.exec(`select weir.register_node('pc-1', '{"zone": "eu"}', '{"render": 2}')`)
	r.exec(`select weir.register_node('old', '{"gpu": "true"}', '{"render": 2}')`)
	for _, node := range []string{"gpu-1", "pc-1", "old"} {
		r.exec(`select weir.register_worker($1::text || '/w', array['render'], node => $1)`, node)
	}
	r.exec(`select weir.set_node_mode('old', 'draining')`)
	r.put(`
name: w
params: {fast: {type: boolean, default: false}}
steps:
  - {key: a, service: render}
  - {key: b, service: render, labels: {gpu: "true"}}
  - {key: c, service: encode}
  - {key: d, service: render, when: params.fast}
  - {key: e, workflow: other, needs: [a]}
  - {key: f, service: render, needs: [a], when: needs.a.result.ok, labels: {node: gpu-1}}`)
	steps, err := r.store.Plan(t.Context(), "w", 0, definition.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range steps {
		lines = append(lines, fmt.Sprintf("%s %s on %s, not %s", s.Key, s.What, strings.Join(s.Nodes, " "), strings.Join(s.WhyNot, "; ")))
	}
	want := []string{
		"a runs on gpu-1 pc-1, not old: is draining",
		"b runs on gpu-1, not old: is draining; pc-1: has no label gpu (wants true)",
		"c runs on , not no live worker offers encode",
		"d skipped on , not ",
		"e workflow on , not there is no workflow other",
		"f later on gpu-1, not old: is draining; pc-1: has node=pc-1 (wants gpu-1)",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
	if got := r.count(`select count(*) from weir.jobs`); got != 0 {
		t.Errorf("%d jobs", got)
	}
}

func TestPlanSaysWhatIsNotThere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.exec(`select weir.set_pool('few', 3)`)
	r.user("ann")
	r.exec(`select weir.put_secret('here', 'x', 'k', 1)`)
	r.put("name: inner\nsteps: [{key: x, service: s}]")
	r.put(`
name: w
steps:
  - {key: a, service: s, pool: few, secrets: {A: here}}
  - {key: b, service: s, pool: many, secrets: {A: gone, B: here}, files: {f: lost}}
  - {key: c, workflow: inner}
  - {key: d, workflow: inner@7}
  - {key: e, workflow: nobody}
  - {key: f, workflow: w, when: params.again == true}
  - {key: g, service: s, pool: many, when: "false"}
  - {key: h, service: s, approval: {text: the editor, by: [ann, bob, "role:admin"]}}`)
	r.exec(`select weir.register_worker('w', array['s'])`)
	steps, err := r.store.Plan(t.Context(), "w", 0, definition.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range steps {
		lines = append(lines, s.Key+": "+strings.Join(s.WhyNot, ", "))
	}
	want := "a: \nb: there is no pool many, there is no secret gone, there is no secret lost\nc: \nd: there is no workflow inner@7\ne: there is no workflow nobody\nf: \ng: \nh: there is no user bob"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
}

// An approval may name a user who comes later, but who stores or checks it is told.
func TestAnApprovalOfNobodyIsWarnedOf(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const source = "name: w\nsteps:\n  - {key: a, service: s, approval: {text: the editor, by: [ann, \"role:admin\", bob]}}"
	warned := func(faults []definition.Fault) (out string) {
		for _, f := range faults {
			out += fmt.Sprintf("%d:%d %s %s %v\n", f.Line, f.Column, f.Path, f.What, f.Warning)
		}
		return out
	}
	ops := op.Local{Stores: []any{r.store}, Who: func(context.Context) auth.Subject { return auth.System("test") }}
	for _, users := range []string{"", "ann"} {
		want := "3:60 steps[0].approval.by[0] there is no user \"ann\" true\n"
		if users != "" {
			r.user(users)
			want = ""
		}
		want += "3:79 steps[0].approval.by[2] there is no user \"bob\" true\n"
		body := DefinitionBody{Source: source}
		linted, err := Lint.Call(t.Context(), ops, &Linting{Body: body})
		if got := warned(linted.Faults); err != nil || !linted.Good || got != want {
			t.Errorf("lint: %s %v", got, err)
		}
		stored, err := Put.Call(t.Context(), ops, &Putting{Body: PutBody{DefinitionBody: body}})
		if got := warned(stored.Warnings); err != nil || got != want {
			t.Errorf("put: %s %v", got, err)
		}
	}
}
