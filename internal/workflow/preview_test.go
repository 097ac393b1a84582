package workflow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/workflow/definition"
)

func TestPlanSaysWhatWouldRunWhere(t *testing.T) {
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
		"e workflow on , not ",
		"f later on gpu-1, not old: is draining; pc-1: has node=pc-1 (wants gpu-1)",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
	if got := r.count(`select count(*) from weir.jobs`); got != 0 {
		t.Errorf("%d jobs", got)
	}
}
