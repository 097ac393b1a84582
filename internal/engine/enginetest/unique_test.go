package enginetest

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/testwait"
)

// pausedAfterKeys makes a connection whose transactions stop behind their insert
// into weir.unique_keys, whether it inserted or gave way, until go on is called.
func (e *engine) pausedAfterKeys() (conn *pgx.Conn, goOn func()) {
	e.Helper()
	e.exec(`create function public.pause() returns trigger language plpgsql as $$ begin
		if current_setting('application_name') = 'paused' then perform pg_advisory_xact_lock(4242); end if; return null; end $$`)
	e.exec(`create trigger pause after insert on weir.unique_keys execute function public.pause()`)
	holder := e.connect()
	if _, err := holder.Exec(context.Background(), `select pg_advisory_lock(4242)`); err != nil {
		e.Fatal(err)
	}
	conn = e.connect()
	if _, err := conn.Exec(context.Background(), `set application_name = 'paused'`); err != nil {
		e.Fatal(err)
	}
	return conn, func() {
		e.Helper()
		e.standsBehindKeys()
		if _, err := holder.Exec(context.Background(), `select pg_advisory_unlock(4242)`); err != nil {
			e.Fatal(err)
		}
	}
}

// standsBehindKeys waits until a transaction of this database stops there.
func (e *engine) standsBehindKeys() {
	e.Helper()
	testwait.Until(e.TB, "it stands behind its insert", func() bool {
		return one[bool](e, `select exists (select from pg_locks l join pg_database d on d.oid = l.database
			where d.datname = current_database() and l.locktype = 'advisory' and l.objid = 4242 and not l.granted)`)
	})
}

// live is how many tasks of a service live.
func (e *engine) live(service string) int {
	return one[int](e, `select count(*)::int from weir.task where service = $1 and state in ('pending', 'available', 'running')`, service)
}

// TestUniqueKeyWhoseHolderEndsMeanwhile: a submission and a retry give way to the
// holder of a key, which ends before they look. They have the key then.
func TestUniqueKeyWhoseHolderEndsMeanwhile(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]func(e *engine) string{
		"submit": func(*engine) string { return `select weir.submit('s', unique_key => 'k', at => $1)` },
		"retry": func(e *engine) string {
			id := e.submit(0, spec{"service": "s", "unique_key": "k"})
			e.exec(`select weir.cancel($1, at => $2)`, id, at(0))
			return `select weir.retry('` + id + `', at => $1)`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			sql := second(e)
			first := e.run(1, e.submit(1, spec{"service": "s", "unique_key": "k"}))
			conn, goOn := e.pausedAfterKeys()
			ended := make(chan error, 1)
			go func() {
				_, err := conn.Exec(context.Background(), sql, at(2))
				ended <- err
			}()
			e.standsBehindKeys()
			e.finish(2, first)
			goOn()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			third := e.submit(3, spec{"service": "s", "unique_key": "k"})
			if n := e.live("s"); n != 1 {
				t.Errorf("%d live tasks have one unique key; the last submission gave %s", n, third)
			}
		})
	}
}

// TestUniqueKeyBesideAnIdempotencyKey: a new idempotency key does not make a
// second live task of a unique key.
func TestUniqueKeyBesideAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	e := start(t)
	first := e.submit(0, spec{"service": "s", "unique_key": "k", "idempotency_key": "a"})
	second := e.submit(0, spec{"service": "s", "unique_key": "k", "idempotency_key": "b"})
	third := e.submit(0, spec{"service": "s", "unique_key": "k", "idempotency_key": "b"})
	if second != first || third != first {
		t.Errorf("the keys lead to %s, %s and %s", first, second, third)
	}
}

// TestDoctorSeesTwoLiveTasksOfOneKey breaks the invariant by hand.
func TestDoctorSeesTwoLiveTasksOfOneKey(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.SkipDoctor("the invariant is broken on purpose")
	first := e.submit(0, spec{"service": "s", "unique_key": "k"})
	e.exec(`delete from weir.unique_keys`)
	e.submit(0, spec{"service": "s", "unique_key": "k"})
	found := one[string](e, `select coalesce(detail, '') from weir.doctor() where name = 'a live task holds its unique key'`)
	if !strings.Contains(found, first) {
		t.Errorf("doctor says %q", found)
	}
}
