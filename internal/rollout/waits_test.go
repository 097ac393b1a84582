package rollout

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/testwait"
)

// A run that waits for a lock says who is in the way, one line for each try, until the
// statement went through.
func TestRunningWaitsForALock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address := r.target("one", "test")
	r.executes(1)
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}})
	r.tended(x.ID, StateDone)
	holder, err := pgx.Connect(t.Context(), address+"&application_name=somebody")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(context.Background())
	if _, err := holder.Exec(t.Context(), `begin; lock table t1`); err != nil {
		t.Fatal(err)
	}
	y := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{change("2", script.DDL, "alter table t1 add column a int;\ncreate table more (id int);")}})
	var seen Task
	r.until("a cause", func() bool {
		seen = r.task(y.ID, "test/one/2")
		return seen.Status == Running && strings.Contains(seen.Cause, "try 3 of 25 follows; last blocked by pid ") && strings.Contains(seen.Cause, "somebody")
	})
	if seen.StartedAt == nil || seen.Since.Before(*seen.StartedAt) {
		t.Errorf("it waits since %v, and runs since %v", seen.Since, seen.StartedAt)
	}
	var why string
	r.scan(&why, `select reason from weir.why($1) where not open`, seen.ID)
	if !strings.Contains(why, "pid ") {
		t.Errorf("why: %s", why)
	}
	if _, err := holder.Exec(t.Context(), `rollback`); err != nil {
		t.Fatal(err)
	}
	r.tended(y.ID, StateDone)
	if got := r.task(y.ID, "test/one/2"); got.Cause != "" {
		t.Errorf("the cause stays: %+v", got)
	}
	run, err := r.store.Run(t.Context(), seen.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, l := range run.Log {
		lines[l.Type]++
	}
	if lines[eventRetry] < 2 || lines[eventWaiting] > 0 || lines[eventStatement] != 2 {
		t.Errorf("log: %v in %+v", lines, run.Log)
	}
	var says int
	r.scan(&says, `select count(*) from weir.rollout_runs where says is not null or says_since is not null`)
	if says > 0 {
		t.Errorf("%d runs still say that they wait", says)
	}
}

// What a wait outlasts is told at once: a lock timeout that is long, and the target.
func TestRunningWaitsLong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address := r.target("one", "test")
	r.in(address, `create table t1 (id int)`)
	holder, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(context.Background())
	if _, err := holder.Exec(t.Context(), `begin; lock table t1`); err != nil {
		t.Fatal(err)
	}
	r.executes(1)
	c := change("2", script.DDL, "alter table t1 add column a int;")
	c.LockTimeout = testwait.Limit
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{c}})
	r.until("a cause", func() bool {
		got := r.task(x.ID, "test/one/2")
		return got.Status == Running && strings.HasPrefix(got.Cause, "waits for pid ")
	})
	run, err := r.store.Run(t.Context(), r.task(x.ID, "test/one/2").ID, 0)
	if err != nil || len(run.Log) == 0 || run.Log[len(run.Log)-1].Type != eventWaiting {
		t.Errorf("%+v %v", run.Log, err)
	}
	if _, err := holder.Exec(t.Context(), `rollback`); err != nil {
		t.Fatal(err)
	}
	r.tended(x.ID, StateDone)
}

// A change that is applied already looks like what it is.
func TestReplayedSaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address := r.target("one", "test")
	r.in(address, `create table goose_db_version (id serial primary key, version_id bigint not null, is_applied boolean not null, tstamp timestamp default now())`)
	r.in(address, `insert into goose_db_version (version_id, is_applied) values (0, true), (1, true)`)
	if n, err := r.store.ImportHistory(t.Context(), "ann", "one"); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	r.executes(1)
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(2)}})
	r.tended(x.ID, StateDone)
	if got := r.task(x.ID, "test/one/2"); got.Cause != "" {
		t.Errorf("it ran: %+v", got)
	}
	y := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1), ddl(2)}})
	r.tended(y.ID, StateDone)
	for key, want := range map[string]string{"test/one/1": "version 1 was applied before Weir", "test/one/2": "by rollout " + x.ID.String() + "; nothing was run"} {
		got := r.task(y.ID, key)
		if got.Status != Done || !strings.Contains(got.Cause, want) || !strings.Contains(got.Cause, "nothing was run") {
			t.Errorf("%+v", got)
		}
		run, err := r.store.Run(t.Context(), got.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		said := false
		for _, l := range run.Log {
			said = said || l.Type == eventReplayed && l.Message == got.Cause
		}
		if !said || run.Attempts[0].Note != got.Cause {
			t.Errorf("%s: %+v, %+v", key, run.Log, run.Attempts)
		}
		var replayed bool
		r.scan(&replayed, `select (result ->> 'replayed')::boolean from weir.finished where task = $1`, got.ID)
		if !replayed {
			t.Errorf("%s: the result does not say so", key)
		}
	}
}
