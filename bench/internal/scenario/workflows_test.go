package scenario

import (
	"math"
	"testing"
	"time"

	"github.com/weirhq/weir/bench/internal/flow"
	"github.com/weirhq/weir/bench/internal/report"
)

func TestTrialBound(t *testing.T) {
	slow := trial{n: 5000, least: 50, within: time.Minute}
	for _, c := range []struct {
		size int
		rate float64
		want int
	}{{5000, 1000, 5000}, {5000, 10, 600}, {5000, 0.1, 50}, {60, 10, 60}} {
		if got := slow.bound(c.size, c.rate); got != c.want {
			t.Errorf("%d at %v a second: %d, want %d", c.size, c.rate, got, c.want)
		}
	}
	if got := (trial{least: 5}).bound(40, math.NaN()); got != 40 {
		t.Errorf("without a bound: %d, want 40", got)
	}
}

func TestTrialScaled(t *testing.T) {
	full := trial{rounds: 9, warm: 2}
	if got := full.scaled(1); got != full {
		t.Errorf("at scale 1: %+v", got)
	}
	if got := full.scaled(0.005); got.rounds != 2 || got.warm != 1 {
		t.Errorf("at scale 0.005: %+v", got)
	}
	if got := (trial{rounds: 1}).scaled(0.5); got.rounds != 1 || got.warm != 0 {
		t.Errorf("of one round: %+v", got)
	}
}

func TestFlowedRecord(t *testing.T) {
	r := report.New(report.Environment{})
	(&Flowed{System: "weir", Shape: flow.Chain, Size: 40, Done: []float64{200, 120, 160}}).record(r)
	(&Flowed{System: "weir", Shape: flow.Burst, Size: 1000, Submitted: []float64{500}, Done: []float64{2000}}).record(r)
	(&Flowed{System: "weir", Shape: flow.DueJobs, Size: 2, Late: []float64{3, 9}}).record(r)
	for name, want := range map[string]float64{
		"chain_each_ms": 4, "chain_s": 0.16, "burst_submitted_per_s": 2000, "burst_done_s": 2, "due_jobs_late_p50_ms": 3, "due_jobs_late_p99_ms": 9,
	} {
		if got := r.Value("workflows.weir." + name); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if _, ok := r.Figures["workflows.weir.due_jobs_made_p99_ms"]; ok {
		t.Error("a figure that was not measured was recorded")
	}
}
