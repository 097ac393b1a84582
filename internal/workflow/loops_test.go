package workflow

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/engine"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testdb"
)

// serve runs the leader's loops as a server does, with hints or without.
func serve(t *testing.T, hinted bool) *rig {
	t.Helper()
	db := testdb.New(t)
	r := &rig{T: t, db: db, store: New(db.Pool, Options{}), does: works{}}
	ctx, stop := context.WithCancel(context.Background())
	var run sync.WaitGroup
	var hints <-chan struct{}
	if hinted {
		listener := listen.New(db.Pool.Config().ConnConfig, nil)
		hints = listener.Listen(engine.PlanChannel).C()
		run.Go(func() { _ = listener.Run(ctx) })
	}
	c := coordinator.New(coordinator.Config{Pool: db.Pool, Loops: func(term *coordinator.Term) []loop.Loop {
		return Loops(Config{Pool: db.Pool, Hints: hints, Store: r.store}, term)
	}})
	run.Go(func() { c.Run(ctx) })
	t.Cleanup(func() { stop(); run.Wait() })
	return r
}

// done works until the given number of jobs are done; the loops do the rest.
func (r *rig) done(jobs int) {
	r.Helper()
	for deadline := time.Now().Add(2 * time.Minute); r.count(`select count(*) from weir.job where state = 'done'`) < jobs; {
		if time.Now().After(deadline) {
			r.Fatalf("never done\n%s", r.table())
		}
		if !r.work() {
			loop.Wait(r.Context(), time.Millisecond, nil)
		}
	}
}

func TestTheLoopDoesItAll(t *testing.T) {
	for _, hinted := range []bool{true, false} {
		t.Run(fmt.Sprintf("hints %v", hinted), func(t *testing.T) {
			r := serve(t, hinted)
			r.put("name: inner\nmax_running: 1\nsteps:\n  - {key: x, service: t}")
			r.put(`
name: w
steps:
  - {key: a, service: s}
  - {key: b, service: s, needs: [a], when: "needs.a.result != nil"}
  - {key: m, service: s, needs: [b], map: {over: [1, 2, 3], limit: 2}}
  - {key: sub, workflow: inner, needs: [m]}
  - {key: end, service: s, needs: [sub], params: {x: "{{ .needs.sub.state }}"}}`)
			r.does["a"] = gives(1)
			job, err := r.store.Run(t.Context(), RunRequest{Workflow: "w", At: time.Now().Add(100 * time.Millisecond)})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			r.done(2)
			t.Logf("five steps that had to be planned took %s", time.Since(start))
			if got := r.states(job); got != "a done, b done, m done, sub done, end done, m[0] done, m[1] done, m[2] done" {
				t.Error(got)
			}
		})
	}
}

func TestALongChainOfPlannedSteps(t *testing.T) {
	r := serve(t, true)
	var text strings.Builder
	text.WriteString("name: chain\nsteps:\n  - {key: k0, service: s}\n")
	const n = 40
	for i := 1; i < n; i++ {
		fmt.Fprintf(&text, "  - {key: k%d, service: s, needs: [k%d], params: {n: '{{ add .needs.k%d.result 1 }}'}}\n", i, i-1, i-1)
	}
	r.put(text.String())
	r.does["k0"] = gives(0)
	for i := 1; i < n; i++ {
		r.does[fmt.Sprintf("k%d", i)] = func(params map[string]any) (any, error) { return params["n"], nil }
	}
	start := time.Now()
	job := r.run("chain", nil)
	r.done(1)
	t.Logf("%d steps took %s, %s each", n, time.Since(start), time.Since(start)/n)
	if got := r.result(job, fmt.Sprintf("k%d", n-1)); got != fmt.Sprint(n-1) {
		t.Errorf("the last gave %s", got)
	}
}
