package enginetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// neighbours are names of pools, or of lanes, that share a bucket.
func (e *engine) neighbours(lane bool, n int) []string {
	e.Helper()
	return all[string](e, `select 'k' || i from generate_series(1, 10000) i where weir._key_bucket($1, 'k' || i) = weir._key_bucket($1, 'k1') order by i limit $2`, lane, n)
}

// TestAnOpenTransactionHoldsNoNeighbour: a user's open transaction that ended a task
// of one pool, or of one lane, delays no other key, whatever bucket it is in.
func TestAnOpenTransactionHoldsNoNeighbour(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"pool", "lane"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			keys := e.neighbours(kind == "lane", 2)
			task := func(key string) string {
				s := spec{"service": "of " + key, kind: key}
				if kind == "lane" {
					s["exclusive"] = true
				} else {
					e.exec(`select weir.set_pool($1, 1)`, key)
				}
				return e.submit(0, s)
			}
			first, next := map[string]string{}, map[string]string{}
			for _, k := range keys {
				first[k] = task(k)
				next[k] = task(k)
			}
			e.tend(1)
			mine, other := e.run(1, first[keys[0]]), e.run(1, first[keys[1]])
			open := e.transaction()
			in[string](e, open, `select weir.finish($1, $2, $3, at => $4)`, mine.Task, mine.Attempt, mine.Token, at(2))
			e.finish(2, other)
			e.want(map[string]string{next[keys[0]]: "pending", next[keys[1]]: "available"})
			if kind == "pool" {
				e.exec(`select weir.set_pool($1, 2)`, keys[1])
				_, err := e.Pool.Exec(t.Context(), `select weir.set_pool($1, 2)`, keys[0])
				var refusal *pgconn.PgError
				if !errors.As(err, &refusal) || refusal.Code != "WR409" || !strings.Contains(refusal.Message, fmt.Sprintf("pool '%s' is held by the transaction of pid %d", keys[0], open.Conn().PgConn().PID())) {
					t.Errorf("a pool that somebody has is resized: %v", err)
				}
			}
			e.commit(open)
			e.tend(3)
			e.want(map[string]string{next[keys[0]]: "available"})
		})
	}
}

// TestKeysAndBucketsExclude: who has a key keeps away who wants it, by itself or with
// its bucket, and the other way round; and nobody has more locks than there is room for.
func TestKeysAndBucketsExclude(t *testing.T) {
	t.Parallel()
	e := start(t)
	shared := e.neighbours(true, 200)
	const (
		lock = `select cardinality(weir._lock_keys($1, true, false, now()))::text`
		wait = `select weir._wait_for_keys($1, true, $2, '50ms')::text`
	)
	holds := func(what string, keys []string, then func()) {
		t.Helper()
		holder := e.transaction()
		if got := in[string](e, holder, lock, keys); got != fmt.Sprint(len(keys)) {
			t.Fatalf("%s: got %s of %d keys", what, got, len(keys))
		}
		then()
		if err := holder.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	asks := func(what, sql string, want any, args ...any) {
		t.Helper()
		asker := e.transaction()
		defer asker.Rollback(t.Context()) //nolint:errcheck // nothing of it may stay
		if got := in[string](e, asker, sql, args...); got != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	holds("one key", shared[:1], func() {
		asks("the same key", lock, 0, shared[:1])
		asks("another one", lock, 1, shared[1:2])
		asks("more than a few: all but that one, as far as there is room", lock, 99, shared[:100])
		asks("waiting for it", wait, false, shared[:1], false)
		asks("waiting for another one", wait, true, shared[1:2], false)
		asks("waiting for all of its bucket", wait, false, shared[1:], true)
	})
	holds("a whole bucket", shared, func() {
		asks("a key of it", lock, 0, shared[:1])
		asks("a key of it that nobody named", lock, 0, e.neighbours(true, 201)[200:])
		asks("waiting for a key of it", wait, false, shared[:1], false)
	})
	holder := e.transaction()
	for i := range 100 {
		in[string](e, holder, lock, []string{fmt.Sprint("a", i), fmt.Sprint("b", i)})
	}
	in[int](e, holder, `select cardinality(weir._lock_keys(array(select 'c' || i from generate_series(1, 2000) i), true, false, now()))`)
	if n := in[int](e, holder, `select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`); n > 2*128+64 {
		t.Errorf("a transaction that opens 2,200 lanes has %d locks", n)
	}
}
