package enginetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestNamesAreMeasuredInBytes: a hint holds 8,000 bytes, and a letter may be
// three of them.
func TestNamesAreMeasuredInBytes(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.submit_many((select jsonb_agg(jsonb_build_object('service', '서비스', 'lane', repeat('한', 150) || i)) from generate_series(1, 40) i), true, $1)`, at(0))
	e.exec(`select weir.submit_many((select jsonb_agg(jsonb_build_object('service', repeat('한', 150) || i)) from generate_series(1, 40) i), true, $1)`, at(0))
	e.exec(`select weir.submit_many((select jsonb_agg(jsonb_build_object('service', '서비스', 'lane', repeat('글', 150) || i, 'rank', 1)) from generate_series(1, 40) i), false, $1)`, at(0))
	tx, err := e.connect().BeginTx(context.Background(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	// Leaves its keys to the next pass, by a hint.
	if _, err := tx.Exec(context.Background(), `select weir.open_gates(array(select distinct lane from weir.pending), '{}', at => $1)`, at(1)); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// TestManyServicesAreAnnouncedTogether: a list of services that no hint can hold
// becomes the hint that is for everybody.
func TestManyServicesAreAnnouncedTogether(t *testing.T) {
	t.Parallel()
	e := start(t)
	conn := e.connect()
	if _, err := conn.Exec(context.Background(), `listen weir_available`); err != nil {
		t.Fatal(err)
	}
	e.exec(`select weir.submit_many((select jsonb_agg(jsonb_build_object('service', repeat('한', 150) || i)) from generate_series(1, 40) i), true, $1)`, at(0))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	note, err := conn.WaitForNotification(ctx)
	if err != nil || note.Payload != "" {
		t.Errorf("the hint is %v, %v", note, err)
	}
}

// TestTheNameOfAnotherIsNotStopped: a worker whose name another process has taken
// over hands nothing back when it stops.
func TestTheNameOfAnotherIsNotStopped(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.register_worker('w', '{s}', holder => 'first', at => $1)`, at(0))
	e.exec(`select weir.register_worker('w', '{s}', holder => 'second', at => $1)`, at(60))
	e.exec(`select weir.submit('s', at => $1)`, at(60))
	e.exec(`select weir.claim('w', '{s}', at => $1)`, at(61))
	e.exec(`select weir.stop_worker('w', 'first', at => $1)`, at(62))
	if n := one[int](e, `select count(*)::int from weir.running`); n != 1 {
		t.Error("the first one's stop handed back what the second one runs")
	}
	e.exec(`select weir.stop_worker('w', 'second', at => $1)`, at(63))
	if n := one[int](e, `select count(*)::int from weir.running`); n != 0 {
		t.Error("the second one's stop handed back nothing")
	}
}

// TestDailyPartitionsOverAChangeOfTheClock: the session's time zone has a day of
// 23 hours and one of 25.
func TestDailyPartitionsOverAChangeOfTheClock(t *testing.T) {
	t.Parallel()
	e := start(t)
	conn := e.connect()
	for _, sql := range []string{
		`set timezone = 'Europe/Budapest'`,
		`select weir.ensure_partitions(date '2027-03-25' - max(hi)::date, '1 day', at => '2027-03-20') from weir._partitions()`,
		`select weir.ensure_partitions(1, '7 days', at => '2027-03-24')`,
		`select weir.ensure_partitions(date '2027-10-28' - max(hi)::date, '1 day', at => '2027-10-20') from weir._partitions()`,
		`select weir.ensure_partitions(1, '7 days', at => '2027-10-27')`,
	} {
		if _, err := conn.Exec(context.Background(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if n := one[int](e, `select count(*)::int from weir._partitions() p where extract(hour from p.lo at time zone 'UTC') <> 0 or extract(hour from p.hi at time zone 'UTC') <> 0`); n > 0 {
		t.Errorf("%d partitions are no whole days of UTC", n)
	}
}

// TestGatesWhereTransactionsAreNotReadCommitted: what a finish under another
// isolation frees is opened by the next pass, which refuses to be one itself.
func TestGatesWhereTransactionsAreNotReadCommitted(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 1, at => $1)`, at(0))
	first, second := e.submit(0, spec{"service": "s", "pool": "p"}), e.submit(0, spec{"service": "s", "pool": "p"})
	e.tend(1)
	l := e.run(2, first)
	conn := e.connect()
	if _, err := conn.Exec(context.Background(), `set default_transaction_isolation = 'repeatable read'`); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(context.Background(), `select weir.finish($1, $2, $3, at => $4)`, l.Task, l.Attempt, l.Token, at(3)); err != nil {
		t.Fatal(err)
	}
	_, err := conn.Exec(context.Background(), `select weir.tend(at => $1)`, at(4))
	if sqlstate(err) != "WR409" || !strings.Contains(err.Error(), "repeatable read") {
		t.Errorf("tend: %v", err)
	}
	e.exec(`select weir.tend(at => $1)`, at(5)) // no sweep
	e.want(map[string]string{first: "done", second: "available"})
	e.exec(`do $$ begin execute format('alter database %I set default_transaction_isolation = ''serializable''', current_database()); end $$`)
	if found := one[string](e, `select coalesce(detail, '') from weir.doctor() where name like 'transactions are READ COMMITTED%'`); !strings.Contains(found, "serializable") {
		t.Errorf("doctor says %q", found)
	}
	e.exec(`do $$ begin execute format('alter database %I reset default_transaction_isolation', current_database()); end $$`)
}
