//go:build unix

package chaos

import (
	"strconv"
	"testing"
	"time"
)

// pausedLeader stops a leader at its fifth call of a kind, waits until another one has
// written in its place, and lets it continue. It returns the late write.
func (r *run) pausedLeader(kind, op string) Op {
	r.Helper()
	r.exec(leaderTable)
	writes := 0
	nap, hook := r.sleepAt(func(c Call) bool {
		if c.Op == op {
			writes++
		}
		return writes == 5
	})
	r.agent(Orders{Name: "first", Kind: kind}, hook)
	r.asleep(nap)
	r.agent(Orders{Name: "second", Kind: kind}, nil)
	r.seen("another leader acts", func(o Op) bool { return o.Client == "second" && o.Op == "lead_write" && o.Out == OK })
	r.resume(nap)
	var late Op
	r.eventually("the late write has ended", func() bool {
		n := 0
		for _, o := range r.rec.Ops() {
			if o.Client == "first" && o.Op == "lead_write" {
				if n++; n == 5 {
					late = o
				}
			}
		}
		return late.Out != Unknown || late.Err != ""
	})
	return late
}

// TestR9_LeaderPaused pauses the leader with SIGSTOP. Another one takes over its term
// with the next epoch, and later writes of the first one are refused: before its
// transaction, and in the middle of it.
func TestR9_LeaderPaused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, kind, op string }{
		{"functions", "leader", "lead_write"},
		{"coordinator", "coordinator", "lead_write"},
		{"coordinator in its transaction", "coordinator", "lead_hold"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t)
			if late := r.pausedLeader(c.kind, c.op); late.Out == OK {
				r.Error("the write of an old epoch was accepted")
			}
			r.heal()
			r.clean()
		})
	}
}

// TestR9_ManyTerms lets three leaders compete while each is paused in turn.
func TestR9_ManyTerms(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	r.lease = 600 * time.Millisecond
	r.exec(leaderTable)
	agents := make([]*Agent, 3)
	for i := range agents {
		agents[i] = r.agent(Orders{Name: "leader-" + strconv.Itoa(i+1), Kind: "leader"}, nil)
	}
	for round := range 6 {
		a := agents[round%3]
		if err := a.Pause(); err != nil {
			r.Fatal(err)
		}
		r.pass(900 * time.Millisecond)
		if err := a.Resume(); err != nil {
			r.Fatal(err)
		}
	}
	r.heal()
	r.clean()
	var epochs int
	if err := r.pool.QueryRow(r.ctx, `select count(distinct epoch) from chaos.leader_writes`).Scan(&epochs); err != nil || epochs < 2 {
		r.Errorf("%d epochs acted (%v): nothing was tested", epochs, err)
	}
}
