package workflow

import (
	"fmt"
	"strings"
	"testing"

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
  - {key: g, service: s, pool: many, when: "false"}`)
	r.exec(`select weir.register_worker('w', array['s'])`)
	steps, err := r.store.Plan(t.Context(), "w", 0, definition.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range steps {
		lines = append(lines, s.Key+": "+strings.Join(s.WhyNot, ", "))
	}
	want := "a: \nb: there is no pool many, there is no secret gone, there is no secret lost\nc: \nd: there is no workflow inner@7\ne: there is no workflow nobody\nf: \ng: "
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
}
