package scenario

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir/bench/internal/queue"
	"github.com/weirhq/weir/bench/internal/report"
)

func TestSummarise(t *testing.T) {
	cpu := 10.0
	s := summarise("river", []Round{
		{JobsPerSecond: 100, InsertPerSecond: 5, InsertWAL: 10, WorkWAL: 20, ClientCPU: 1, PostgresCPU: &cpu},
		{JobsPerSecond: 300, InsertPerSecond: 7, InsertWAL: 12, WorkWAL: 22, ClientCPU: 3, PostgresCPU: &cpu},
		{JobsPerSecond: 200, InsertPerSecond: 6, InsertWAL: 11, WorkWAL: 21, ClientCPU: 2, PostgresCPU: &cpu},
	})
	want := summary{
		system: "river", rounds: 3, rate: 200, best: 300, insert: 6, wal: 32, insertWAL: 11, workWAL: 21,
		postgresMicros: 10, clientCPUMicros: 2,
	}
	if s != want {
		t.Errorf("summary = %+v, want %+v", s, want)
	}
}

func TestSummaryOfRemoteServerHasNoCPU(t *testing.T) {
	s := summarise("river", []Round{{JobsPerSecond: 1}})
	if !math.IsNaN(s.postgresMicros) {
		t.Errorf("server CPU = %v, want NaN", s.postgresMicros)
	}
	r := report.New(report.Environment{})
	s.record(r, "queue2000")
	if _, ok := r.Figures["queue2000.river.postgres_cpu_us"]; ok {
		t.Error("a figure that was not measured was recorded")
	}
	if got := r.Value("queue2000.river.jobs_per_s"); got != 1 {
		t.Errorf("jobs_per_s = %v", got)
	}
}

func TestRatioRow(t *testing.T) {
	river := summary{system: "river", rate: 10, best: 10, insert: 10, wal: 10, insertWAL: 5, workWAL: 5, postgresMicros: 10, clientCPUMicros: 10}
	weir := summary{system: "weir", rate: 35, best: 40, insert: 20, wal: 3, insertWAL: 1, workWAL: 2, postgresMicros: 4, clientCPUMicros: 5}
	want := []string{"weir/river", "3.50", "4.00", "", "2.00", "0.30", "0.20", "0.40", "0.40", "0.50"}
	if got := ratioRow([]summary{river, weir}); !slices.Equal(got, want) {
		t.Errorf("row = %q, want %q", got, want)
	}
	if got := ratioRow([]summary{river}); got != nil {
		t.Errorf("row without Weir = %q, want none", got)
	}
	if len(want) != len(summaryHeader) || len(river.row()) != len(summaryHeader) {
		t.Error("rows and header have different lengths")
	}
}

// named is a queue that only has a name.
type named struct {
	queue.Queue
	name string
}

func (n named) Name() string { return n.name }

func TestSystemsTakeTurns(t *testing.T) {
	systems := []*System{{Queue: named{name: "a"}}, {Queue: named{name: "b"}}}
	play := func(rounds int, budget time.Duration) string {
		var order string
		if err := takeTurns(t.Context(), systems, rounds, budget, func(s *System, _ int) error {
			order += s.Name()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return order
	}
	if got := play(3, time.Hour); got != "ababab" {
		t.Errorf("order = %q, want ababab", got)
	}
	if got := play(3, 0); got != "ab" {
		t.Errorf("order with no budget = %q, want one full turn", got)
	}
}

func TestTurnsStopAtAnError(t *testing.T) {
	broken := errors.New("broken")
	calls := 0
	err := takeTurns(t.Context(), []*System{{Queue: named{name: "a"}}}, 3, time.Hour, func(*System, int) error {
		calls++
		return broken
	})
	if !errors.Is(err, broken) || calls != 1 {
		t.Errorf("error %v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := takeTurns(ctx, []*System{{}}, 1, time.Hour, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error of a cancelled run = %v", err)
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		scale float64
		want  int
	}{{1, 100_000}, {10, 1_000_000}, {0.1, 10_000}, {0.00001, 100}} {
		if got := (&Bench{Scale: c.scale}).size(100_000); got != c.want {
			t.Errorf("size at scale %v = %d, want %d", c.scale, got, c.want)
		}
	}
}
