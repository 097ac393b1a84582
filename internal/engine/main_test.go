package engine

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// lead runs a coordinator for the length of the test and returns its term.
func lead(t *testing.T, pool *pgxpool.Pool, loops func(*coordinator.Term) []loop.Loop) (*coordinator.Term, *coordinator.Coordinator) {
	t.Helper()
	terms := make(chan *coordinator.Term, 10)
	ctx, stop := context.WithCancel(context.Background())
	c := coordinator.New(coordinator.Config{Pool: pool, Loops: func(term *coordinator.Term) []loop.Loop {
		terms <- term
		return loops(term)
	}})
	var run sync.WaitGroup
	run.Go(func() { c.Run(ctx) })
	t.Cleanup(func() { stop(); run.Wait() })
	select {
	case term := <-terms:
		return term, c
	case <-time.After(time.Minute):
		t.Fatal("nobody leads")
		return nil, nil
	}
}

// leadOnly is a term without loops: the test calls the ticks.
func leadOnly(t *testing.T, pool *pgxpool.Pool) *coordinator.Term {
	t.Helper()
	term, _ := lead(t, pool, func(*coordinator.Term) []loop.Loop { return nil })
	return term
}

// hear subscribes to a channel and waits until it is heard.
func hear(t *testing.T, db *testdb.DB, channels ...string) *listen.Subscription {
	t.Helper()
	listener := listen.New(db.Pool.Config().ConnConfig, nil)
	sub := listener.Listen(channels...)
	ctx, stop := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { _ = listener.Run(ctx) })
	t.Cleanup(func() { stop(); run.Wait() })
	testwait.Until(t, "the listener listens", listener.Healthy)
	return sub
}

// scan reads one row.
func scan[T any](t *testing.T, db *testdb.DB, sql string, args ...any) (out T) {
	t.Helper()
	if err := db.Pool.QueryRow(t.Context(), sql, args...).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func exec(t *testing.T, db *testdb.DB, sql string, args ...any) {
	t.Helper()
	if _, err := db.Pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
