package target_test

import (
	"context"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/rollout/target"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// pooledBy puts PgBouncer before a place.
func (p *place) pooledBy(t *testing.T, settings ...string) *place {
	t.Helper()
	far := *p
	far.dsn = testdb.Bounce(t, p.dsn, settings...)
	u, err := url.Parse(far.dsn)
	if err != nil {
		t.Fatal(err)
	}
	far.address = u.Host
	return &far
}

// crowd uses a pool as an application does, until the test ends.
func (p *place) crowd(t *testing.T) {
	t.Helper()
	config, err := pgx.ParseConfig(p.dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	ctx, stop := context.WithCancel(context.Background())
	var crowd sync.WaitGroup
	t.Cleanup(func() { stop(); crowd.Wait() })
	for range 4 {
		crowd.Go(func() {
			conn, err := pgx.ConnectConfig(ctx, config)
			for err == nil {
				_, err = conn.Exec(ctx, "select pg_sleep(0.002)")
			}
			if ctx.Err() == nil {
				t.Errorf("somebody else of the pool: %v", err)
			}
			if conn != nil {
				_ = conn.Close(context.Background())
			}
		})
	}
}

// TestRule1APoolThatLendsBackends: in transaction mode a session has no backend of
// its own, so a lock would stay with one that others get next. The run is refused
// before it leaves anything behind, however the pool picks backends.
func TestRule1APoolThatLendsBackends(t *testing.T) {
	for name, settings := range map[string][]string{
		"one backend":            {"pool_mode = transaction", "default_pool_size = 1"},
		"the last one first":     {"pool_mode = transaction", "default_pool_size = 4", "min_pool_size = 4"},
		"one after the other":    {"pool_mode = transaction", "default_pool_size = 4", "min_pool_size = 4", "server_round_robin = 1"},
		"others use it":          {"pool_mode = transaction", "default_pool_size = 3", "max_client_conn = 50"},
		"a backend by statement": {"pool_mode = statement", "default_pool_size = 2"},
	} {
		t.Run(name, func(t *testing.T) {
			p := onPostgres(t)
			far := p.pooledBy(t, settings...)
			if name == "others use it" {
				far.crowd(t)
			}
			db := far.open(t, target.Options{})
			for _, text := range []string{"create table people (id int);\n", "create table people (id int);\ncreate index concurrently people_id on people (id);\n"} {
				w := &watch{}
				_, err := db.Apply(t.Context(), p.change(t, 1, "V001__people.sql", text), w)
				if f := failure(t, err, target.CodePooled); f.Unknown || f.Next == "" {
					t.Errorf("%+v: nothing was sent", f)
				}
				if len(w.phases) > 0 {
					t.Errorf("it came to %q", w.phases)
				}
			}
			run := p.change(t, 1, "V001__people.sql", "create table people (id int);")
			failure(t, db.MarkApplied(t.Context(), run, "ann", "seen"), target.CodePooled)
			failure(t, db.Forget(t.Context(), run), target.CodePooled)
			p.expect(t, "", "select coalesce(to_regclass('weir_history'), to_regclass('people'))")
			p.expect(t, "0", "select count(*) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())")
			// What looks only, works.
			if _, err := db.Identity(t.Context()); err != nil {
				t.Error(err)
			}
			if list, err := db.History(t.Context()); err != nil || len(list) != 0 {
				t.Error(list, err)
			}
			// Nobody of the pool got a setting of ours.
			if got := throughPool(t, far, "select current_setting('lock_timeout') || ' ' || current_setting('statement_timeout')"); got != "0 0" {
				t.Errorf("the timeouts of others are %s", got)
			}
			if _, err := p.open(t, target.Options{}).Apply(t.Context(), run, &watch{}); err != nil {
				t.Errorf("without the pool: %v", err)
			}
		})
	}
}

// throughPool asks each backend of a pool, as far as it lets us.
func throughPool(t *testing.T, far *place, query string) string {
	t.Helper()
	config, err := pgx.ParseConfig(far.dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	first := ""
	for range 8 {
		var got string
		if err := conn.QueryRow(t.Context(), query).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if first != "" && got != first {
			return got
		}
		first = got
	}
	return first
}

// TestAPoolInSessionMode keeps all promises: the backend is the session's own.
func TestAPoolInSessionMode(t *testing.T) {
	p := onPostgres(t)
	far := p.pooledBy(t, "pool_mode = session", "default_pool_size = 20")
	db := far.open(t, target.Options{})
	p.exec(t, "create table base (id int primary key, note text)")
	other := p.hold(t, "insert into base values (1, 'x')")
	index := p.change(t, 1, "V001__index.sql", "create index concurrently base_note on base (note);\n")
	first := far.start(t, order{Run: index})
	first.await(t, "sent")
	testwait.Until(t, "the index waits", func() bool {
		return p.one(t, "select count(*) from pg_stat_activity where application_name = $1 and wait_event = 'virtualxid'", target.ApplicationName(index.Task, 1)) == "1"
	})
	// Another change waits for the target and names who has it.
	w := &watch{}
	waiting := applying(t.Context(), db, p.change(t, 1, "V002__next.sql", "create table next (id int);"), w)
	testwait.Until(t, "the next one names the first", func() bool { return w.waited(target.ApplicationName(index.Task, 1)) })
	// The executor dies; a second attempt ends what it left behind in the server.
	first.kill()
	again := p.change(t, 2, "V001__index.sql", "create index concurrently base_note on base (note);\n")
	again.OutOfOrder = true // the other one may be first now
	done := applying(t.Context(), db, again, &watch{})
	testwait.Until(t, "the session of attempt 1 is gone", func() bool {
		return p.one(t, "select count(*) from pg_stat_activity where application_name = $1", target.ApplicationName(index.Task, 1)) == "0"
	})
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	for _, end := range []<-chan error{done, waiting} {
		if err := <-end; err != nil {
			t.Error(err)
		}
	}
	p.expect(t, "true", "select indisvalid from pg_index where indexrelid = 'base_note'::regclass")
	p.expect(t, "2", "select count(*) from weir_history")
	testwait.Until(t, "no lock is left", func() bool {
		return p.one(t, "select count(*) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())") == "0"
	})
}
