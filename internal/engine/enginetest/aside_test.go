package enginetest

import (
	"context"
	"strings"
	"testing"
)

// poison makes a table refuse one task, as a value would that no function can
// take: a trigger raises an error for it until antidote is called.
func (e *engine) poison(table, task string) (antidote func()) {
	e.Helper()
	name := "poison_" + strings.ReplaceAll(task, "-", "")
	e.exec(`create or replace function public.poison() returns trigger language plpgsql as $$ begin raise exception 'this row is poisoned' using errcode = '22008'; end $$`)
	e.exec(`create trigger ` + name + ` before insert on weir.` + table + ` for each row when (new.task = '` + task + `') execute function public.poison()`)
	return func() { e.exec(`drop trigger ` + name + ` on weir.` + table) }
}

// TestOneErrorStopsOneRow poisons one row of each kind that a pass of tend
// moves. All others move; the poisoned one is set aside with its error, is shown
// by why and doctor, and goes on once it can.
func TestOneErrorStopsOneRow(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 10, at => $1)`, at(0))
	type pair struct{ bad, good string }
	twins := func(s spec) pair { return pair{e.submit(0, s), e.submit(0, s)} }
	kinds := map[string]pair{
		"due":     twins(spec{"service": "a", "run_at": at(50)}),
		"pool":    twins(spec{"service": "a", "pool": "p"}),
		"lane":    twins(spec{"service": "a", "lane": "l"}),
		"expired": twins(spec{"service": "x"}),
		"late":    twins(spec{"service": "y", "timeout": "5 s", "max_attempts": 1}),
	}
	e.claim(1, "dead", "x", 2)
	e.exec(`select weir.claim('alive', '{y}', 2, lease => '100 years', at => $1)`, at(1))
	var antidotes []func()
	for kind, p := range kinds {
		table := "available"
		if kind == "late" {
			table = "finished"
		}
		antidotes = append(antidotes, e.poison(table, p.bad))
	}
	was := map[string]string{}
	for _, p := range kinds {
		was[p.bad] = e.state(p.bad)
	}
	e.tend(60)
	for kind, p := range kinds {
		want := "available"
		if kind == "late" {
			want = "failed"
		}
		if got := e.state(p.good); got != want {
			t.Errorf("%s: the good one is %s, want %s", kind, got, want)
		}
		if got := e.state(p.bad); got != was[p.bad] {
			t.Errorf("%s: the bad one is %s", kind, got)
		}
		if c := e.why(60, p.bad, "engine"); c.Open || !strings.Contains(c.Reason, "this row is poisoned") {
			t.Errorf("%s: why says %+v", kind, c)
		}
	}
	if n := one[int](e, `select count(*)::int from weir.set_aside`); n != len(kinds) {
		t.Errorf("%d are set aside, want %d", n, len(kinds))
	}
	if found := one[string](e, `select coalesce(detail, '') from weir.doctor(at => $1) where name = 'every task can be moved'`, at(61)); !strings.Contains(found, "poisoned") {
		t.Errorf("doctor says %q", found)
	}
	// It is left alone for a while, and is no work: a pass writes nothing.
	before := e.counts()
	e.tend(62)
	e.same("a pass beside what is set aside", before)
	if n := one[int](e, `select max(tries) from weir.set_aside`); n != 1 {
		t.Errorf("tried %d times within two seconds", n)
	}
	for _, cure := range antidotes {
		cure()
	}
	e.tend(130)
	for kind, p := range kinds {
		want := "available"
		if kind == "late" {
			want = "failed"
		}
		if got := e.state(p.bad); got != want {
			t.Errorf("%s: cured, it is %s, want %s", kind, got, want)
		}
	}
	if n := one[int](e, `select count(*)::int from weir.set_aside`); n != 0 {
		t.Errorf("%d are still set aside", n)
	}
}

// TestAPoisonedNeighbourKeepsNobodyFromFinishing: the end of a task counts,
// whatever waits behind it at the same gate.
func TestAPoisonedNeighbourKeepsNobodyFromFinishing(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 1, at => $1)`, at(0))
	first, bad, good := e.submit(0, spec{"service": "s", "pool": "p"}), e.submit(0, spec{"service": "s", "pool": "p"}), e.submit(0, spec{"service": "s", "pool": "p"})
	e.tend(1)
	l := e.run(2, first)
	antidote := e.poison("available", bad)
	if got := e.finish(3, l); got != "ok" {
		t.Fatal(got)
	}
	e.want(map[string]string{first: "done", bad: "pending", good: "pending"})
	e.tend(4) // finds the one to blame
	e.tend(5)
	e.want(map[string]string{bad: "pending", good: "available"})
	antidote()
	e.exec(`select weir.cancel($1, at => $2)`, bad, at(6))
	e.tend(7)
	if n := one[int](e, `select count(*)::int from weir.set_aside`); n != 0 {
		t.Error("what was canceled is still set aside")
	}
}

// TestAnOpenTransactionDelaysNobodyElse: somebody ends a task of a pool and a
// lane in a transaction that stays open. What else is due, late or behind other
// keys moves meanwhile; his own keys move once he is done.
func TestAnOpenTransactionDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	e := start(t)
	// Keys of buckets that differ.
	keys := all[string](e, `select distinct on (b) 'key' || n from generate_series(1, 200) n, lateral (select hashtext('key' || n) & 31 as b) x limit 2`)
	his, other := keys[0], keys[1]
	for _, key := range keys {
		e.exec(`select weir.set_pool($1, 1, at => $2)`, key, at(0))
	}
	in := func(key string) (pool, lane []string) {
		for range 2 {
			pool = append(pool, e.submit(0, spec{"service": "s-" + key, "pool": key}))
			lane = append(lane, e.submit(0, spec{"service": "s-" + key, "lane": key, "exclusive": true}))
		}
		return pool, lane
	}
	hisPool, hisLane := in(his)
	otherPool, otherLane := in(other)
	due, dueHis := e.submit(0, spec{"service": "s", "run_at": at(20)}), e.submit(0, spec{"service": "s", "run_at": at(20), "pool": his})
	dead := e.submit(0, spec{"service": "dead"})
	_, parts := e.submitJob(0, spec{"service": "part", "key": "a"}, spec{"service": "part", "key": "b", "timeout": "1 s", "max_attempts": 1})
	e.tend(1)
	for _, service := range []string{"s-" + his, "s-" + other, "part"} {
		e.exec(`select weir.claim('w', array[$1], 2, lease => '1 h', at => $2)`, service, at(2))
	}
	e.claim(2, "gone", "dead", 1)

	tx, err := e.connect().Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	end := func(q querier, task string) {
		t.Helper()
		if _, err := ask[string](q, `select weir.finish(task, attempt, token, at => $2) from weir.running where task = $1`, task, at(3)); err != nil {
			t.Fatal(err)
		}
	}
	end(tx, hisPool[0])
	end(tx, hisLane[0])
	end(tx, parts["a"])

	e.tend(40)
	e.want(map[string]string{due: "available", dead: "available", dueHis: "pending", hisPool[1]: "pending", hisLane[1]: "pending", parts["b"]: "running"})
	// A worker that frees a place of his pool is not kept either.
	e.exec(`select weir.set_pool($1, 1, at => $2)`, other, at(41))
	end(e.Pool, otherPool[0])
	end(e.Pool, otherLane[0])
	e.want(map[string]string{otherPool[1]: "available", otherLane[1]: "available"})
	if c := e.why(42, dueHis, "pool"); c.Open || !strings.Contains(c.Reason, "pool "+his) {
		t.Errorf("why: %+v", c)
	}
	if err := tx.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	// He has opened his own keys; what came meanwhile is opened by the next pass, which needs no sweep.
	e.want(map[string]string{hisPool[1]: "available", hisLane[1]: "available"})
	e.exec(`select weir.set_pool($1, 9, at => $2)`, his, at(43))
	e.exec(`select weir.tend(at => $1)`, at(44))
	e.want(map[string]string{dueHis: "available", parts["b"]: "failed"})
	if n := one[int](e, `select count(*)::int from weir.left_keys`); n != 0 {
		t.Errorf("%d keys are still left", n)
	}
}

// TestAKeyThatIsLockedIsLeftToTheNextPass: a finish beside an open transaction of
// the same pool is taken at once, and the place it frees is not lost.
func TestAKeyThatIsLockedIsLeftToTheNextPass(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 2, at => $1)`, at(0))
	var ids []string
	for range 4 {
		ids = append(ids, e.submit(0, spec{"service": "s", "pool": "p"}))
	}
	e.tend(1)
	held := e.claim(2, "w", "s", 2)
	tx, err := e.connect().Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(context.Background(), `select weir.finish($1, $2, $3, at => $4)`, held[0].Task, held[0].Attempt, held[0].Token, at(3)); err != nil {
		t.Fatal(err)
	}
	if got := e.finish(3, held[1]); got != "ok" {
		t.Fatal(got)
	}
	e.want(map[string]string{held[1].Task: "done", ids[2]: "pending", ids[3]: "pending"})
	if found := one[string](e, `select coalesce(detail, '') from weir.doctor(at => $1) where name = 'every lane and pool can be opened'`, at(20)); !strings.Contains(found, "pool p waits") || !strings.Contains(found, "pid") {
		t.Errorf("doctor says %q", found)
	}
	if c := e.why(4, ids[3], "pool"); !strings.Contains(c.Reason, "pool p") {
		t.Errorf("why: %+v", c)
	}
	if err := tx.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	e.want(map[string]string{ids[2]: "available", ids[3]: "pending"})
	e.exec(`select weir.tend(at => $1)`, at(5))
	e.want(map[string]string{ids[3]: "available"})
}
