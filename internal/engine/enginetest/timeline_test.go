package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/internal/testwait"
)

// incomplete lists tasks whose life (weir.task_events, which looks events up by
// the times that rows carry) is not what a scan of the whole timeline finds.
const incomplete = `
	select format('%s: task_events says %s, the timeline %s', q.id, coalesce(l.types, 'nothing'), x.types) from weir.tasks q,
		lateral (select string_agg(e.type, ' ' order by e.seq) as types from weir.task_events(q.id) e) l,
		lateral (select string_agg(e.type, ' ' order by e.seq) as types from weir.events e where e.task = q.id or q.id = any (e.tasks)) x
	where l.types is distinct from x.types`

// TestTaskEvents gives tasks long lives and wants every event of each.
func TestTaskEvents(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 1, at => $1)`, at(0))
	life := func(name, want string, live func(id string)) {
		t.Helper()
		id := e.submit(0, spec{"service": name, "max_attempts": 3})
		live(id)
		if got := strings.Join(all[string](e, `select type from weir.task_events($1)`, id), " "); got != want {
			t.Errorf("%s: events %q, want %q", name, got, want)
		}
	}
	life("plain", "submitted claimed done", func(id string) { e.finish(2, e.run(1, id)) })
	life("retried", "submitted claimed retrying opened claimed done", func(id string) {
		e.failRetry(2, e.run(1, id), 3)
		e.tend(3)
		e.finish(5, e.run(4, id))
	})
	life("snoozed", "submitted claimed snoozed opened claimed done", func(id string) {
		e.giveBack(2, e.run(1, id), 5)
		e.tend(5)
		e.finish(7, e.run(6, id))
	})
	life("expired", "submitted claimed expired claimed expired claimed done", func(id string) {
		e.run(1, id)
		e.exec(`select weir.expire(at => $1)`, at(40))
		e.run(41, id)
		e.exec(`select weir.expire(at => $1)`, at(80))
		e.finish(82, e.run(81, id))
	})
	life("returned", "submitted claimed started returned claimed progress done", func(id string) {
		l := e.run(100, id)
		e.exec(`select weir.start_many(array[$1::uuid], array[$2::int], array[$3::uuid], at => $4)`, l.Task, l.Attempt, l.Token, at(101))
		e.giveBack(102, l)
		l = e.run(103, id)
		e.exec(`select weir.record($1, $2, $3, 'progress', data => '{"percent": 50}', at => $4)`, l.Task, l.Attempt, l.Token, at(104))
		e.finish(105, l)
	})
	life("revived", "submitted claimed failed retried opened claimed done", func(id string) {
		e.fail(107, e.run(106, id), "no")
		e.exec(`select weir.retry($1, at => $2)`, id, at(108))
		e.finish(110, e.run(109, id))
	})
	life("held", "submitted held released opened held canceled retried opened", func(id string) {
		e.exec(`select weir.hold($1, 'me', at => $2)`, id, at(111))
		e.exec(`select weir.release($1, at => $2)`, id, at(112))
		e.exec(`select weir.hold($1, 'me', at => $2)`, id, at(113))
		e.exec(`select weir.cancel($1, at => $2)`, id, at(114))
		e.exec(`select weir.retry($1, at => $2)`, id, at(115))
	})
	life("opened, then canceled", "submitted held released opened canceled", func(id string) {
		e.exec(`select weir.hold($1, 'me', at => $2)`, id, at(116))
		e.exec(`select weir.release($1, at => $2)`, id, at(117))
		e.exec(`select weir.cancel($1, at => $2)`, id, at(118))
	})
	for _, gap := range all[string](e, incomplete) {
		t.Error(gap)
	}
}

// TestR8CursorMissesNothing has a reader follow the timeline while writers
// commit late and out of order. The reader sees every event once.
func TestR8CursorMissesNothing(t *testing.T) {
	t.Parallel()
	e := start(t)
	sessions := e.newSessions(2)
	slow, fast := sessions[0], sessions[1]
	do := func(s *session, sql string, args ...any) {
		t.Helper()
		s.send(sql, args...)
		if err := s.result(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	var cursor string
	seen := map[int64]int{}
	cursor = "0.0"
	read := func() {
		t.Helper()
		for _, r := range all[struct {
			Cursor string
			Seq    int64
		}](e, `select cursor, seq from weir.events_after($1, 3)`, cursor) {
			seen[r.Seq]++
			cursor = r.Cursor
		}
	}
	for range 5 {
		do(slow, `begin`)
		do(slow, `select weir.submit('slow')`)
		do(fast, `select weir.submit('fast')`) // a higher number that commits first
		read()
		do(slow, `commit`)
		do(fast, `begin`)
		do(fast, `select weir.submit('lost')`)
		do(fast, `rollback`) // a number that never comes
		read()
	}
	testwait.Until(e, "the reader gets to the end", func() bool { read(); return len(seen) >= 10 })
	for _, seq := range all[int64](e, `select seq from weir.events`) {
		if seen[seq] != 1 {
			t.Errorf("event %d was seen %d times", seq, seen[seq])
		}
	}
	// From the tail on there is only what comes next.
	tail := one[string](e, `select weir.events_tail()`)
	id := e.submit(0, spec{"service": "next"})
	testwait.Until(e, "the tail leads to the next event", func() bool {
		return slices.Contains(all[string](e, `select task from weir.events_after($1) where task is not null`, tail), id)
	})
	if got := all[string](e, `select distinct type from weir.events_after('0.0', 100, only_task => $1)`, id); len(got) != 1 || got[0] != "submitted" {
		t.Errorf("the events of one task: %v", got)
	}
}

// TestPartitionsAreMade moves rows out of the default partition, and is the
// same for eight callers as for one.
func TestPartitionsAreMade(t *testing.T) {
	t.Parallel()
	e := start(t)
	far := 60 * 86400.0
	l := e.run(far+1, e.submit(far, spec{"service": "s"}))
	e.finish(far+2, l)
	e.submitJob(far, spec{"service": "j"})
	inDefault := `select (select count(*) from weir.tasks_default) + (select count(*) from weir.finished_default) + (select count(*) from weir.events_default) + (select count(*) from weir.jobs_default)`
	if n := one[int](e, inDefault); n < 4 {
		t.Fatalf("%d rows in the default partitions: the test looks at nothing", n)
	}
	before := e.counts()
	pool := e.widePool(8)
	var all8 sync.WaitGroup
	var mu sync.Mutex
	made := map[string]int{}
	for range 8 {
		all8.Go(func() {
			names, err := ask[string](pool, `select unnest(weir.ensure_partitions(at => $1))`, at(far))
			if err != nil {
				t.Errorf("ensure: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, name := range names {
				made[name]++
			}
		})
	}
	all8.Wait()
	for name, n := range made {
		if n != 1 {
			t.Errorf("%s was made %d times", name, n)
		}
	}
	if len(made) < 5*8 {
		t.Errorf("only %d partitions were made", len(made))
	}
	if n := one[int](e, inDefault); n != 0 {
		t.Errorf("%d rows are left in the default partitions", n)
	}
	e.same("ensure_partitions", before)
	e.want(map[string]string{l.Task: "done"})
	if again := one[int](e, `select cardinality(weir.ensure_partitions(at => $1))`, at(far)); again != 0 {
		t.Errorf("the second call made %d", again)
	}
}

// TestRetention drops what is old and over, and keeps what lives or ended late.
func TestRetention(t *testing.T) {
	t.Parallel()
	e := start(t)
	const day = 86400.0
	e.exec(`select weir.ensure_partitions(at => $1)`, at(60*day))
	of := func(id string) string { // the partition that holds a task
		return one[string](e, `select tableoid::regclass::text from weir.tasks where id = $1`, id)
	}
	old := e.run(16*day, e.submit(16*day, spec{"service": "over"}))
	e.finish(16*day+1, old)
	late := e.submit(23*day, spec{"service": "late", "run_at": at(58 * day)})
	lives := e.submit(30*day, spec{"service": "lives", "run_at": at(65 * day)})
	e.tend(58 * day)
	e.finish(58*day+1, e.run(58*day, late))
	ended := of(old.Task)
	dropped := all[string](e, `select 'weir.' || unnest(weir.drop_partitions('7 days', at => $1))`, at(60*day))
	if !slices.Contains(dropped, ended) {
		t.Errorf("the partition of an ended task stays: %v", dropped)
	}
	for name, id := range map[string]string{"ended late": late, "lives": lives} {
		if !strings.Contains(of(id), "weir.tasks_") || slices.Contains(dropped, of(id)) {
			t.Errorf("the partition of a task that %s was dropped", name)
		}
	}
	e.want(map[string]string{late: "done", lives: "pending"})
	e.refused("WR404", `select weir.why($1)`, old.Task)
	// The first events of the live task are gone; the doctor does not mind.
	e.tend(65 * day)
	e.finish(65*day+1, e.run(65*day, lives))
	for _, broken := range all[string](e, `select name || ': ' || detail from weir.doctor(true) where not ok and level = 'invariant'`) {
		t.Errorf("doctor: %s", broken)
	}
}

// TestRetentionWaitsForTheExport keeps events until they were written elsewhere.
func TestRetentionWaitsForTheExport(t *testing.T) {
	t.Parallel()
	e := start(t)
	const day = 86400.0
	e.exec(`select weir.ensure_partitions(at => $1)`, at(30*day))
	e.finish(2, e.run(1, e.submit(0, spec{"service": "s"})))
	isEvents := func(name string) bool { return strings.HasPrefix(name, "events_") }
	if got := all[string](e, `select unnest(weir.drop_partitions('7 days', true, $1))`, at(30*day)); slices.ContainsFunc(got, isEvents) {
		t.Errorf("events were dropped without an export: %v", got)
	}
	for _, p := range all[string](e, `select name from weir._partitions() where parent = 'events' and hi < $1`, at(20*day)) {
		n := one[int](e, fmt.Sprintf(`select count(*)::int from weir.%s`, p))
		e.refused("WR409", `select weir.mark_exported($1, 's3://bucket', $2, $3)`, p, n+1, at(30*day))
		e.exec(`select weir.mark_exported($1, 's3://bucket', $2, $3)`, p, n, at(30*day))
	}
	if got := all[string](e, `select unnest(weir.drop_partitions('7 days', true, $1))`, at(30*day)); !slices.ContainsFunc(got, isEvents) {
		t.Errorf("exported events stay: %v", got)
	}
}

// TestR8EventAndMoveCommitTogether rolls a finish back: neither the move nor its
// event is there.
func TestR8EventAndMoveCommitTogether(t *testing.T) {
	t.Parallel()
	e := start(t)
	l := e.run(1, e.submit(0, spec{"service": "s"}))
	before := e.counts()
	tx, err := e.Pool.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(context.Background(), `select weir.finish($1, $2, $3)`, l.Task, l.Attempt, l.Token); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(context.Background()); err != nil {
		t.Fatal(err)
	}
	e.same("a finish that was rolled back", before)
	e.want(map[string]string{l.Task: "running"})
}
