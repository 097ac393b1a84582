package report

import (
	"fmt"
	"math"
	"testing"
)

func TestGoalResult(t *testing.T) {
	least := goal{atLeast: true, bound: 3}
	most := goal{bound: 0.37}
	below := goal{bound: 5, strict: true}
	for _, c := range []struct {
		name  string
		goal  goal
		value float64
		want  string
	}{
		{"at the lower bound", least, 3, met},
		{"under the lower bound", least, 2.99, missed},
		{"at the upper bound", most, 0.37, met},
		{"over the upper bound", most, 0.38, missed},
		{"strictly at the bound", below, 5, missed},
		{"strictly below", below, 4.9, met},
		{"not measured", most, math.NaN(), notMeasured},
	} {
		if got := c.goal.result(c.value); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	r := New(Environment{})
	r.Figure("queue100.weir.jobs_per_s", 10_000)
	r.Figure("held.weir.jobs_per_s", 9_000)
	r.Figure("pass.weir.rows_written", 3)
	r.Finish()
	found := map[string]Verdict{}
	for _, v := range r.Goals {
		found[v.Goal] = v
	}
	if v := found["loss under a held snapshot ≤ 20 %"]; v.Result != met || v.Found != "10.0 %" {
		t.Errorf("held snapshot: %+v", v)
	}
	if v := found["gate pass, 10,000 pending, nothing opens: 0 rows written"]; v.Result != missed || v.Found != "3 rows" {
		t.Errorf("rows written: %+v", v)
	}
	if v := found["gates cost ≤ 20 %"]; v.Result != notMeasured || v.Found != missing {
		t.Errorf("gates: %+v", v)
	}
	if got, want := r.Counts(), fmt.Sprintf("1 met, 1 missed, %d not measured", len(r.Goals)-2); got != want {
		t.Errorf("counts = %q, want %q", got, want)
	}
}
