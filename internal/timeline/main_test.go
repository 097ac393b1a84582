package timeline

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// lead runs a coordinator for the length of the test and returns its term.
func lead(t *testing.T, db *testdb.DB) *coordinator.Term {
	t.Helper()
	terms := make(chan *coordinator.Term, 10)
	ctx, stop := context.WithCancel(context.Background())
	c := coordinator.New(coordinator.Config{Pool: db.Pool, Loops: func(term *coordinator.Term) []loop.Loop {
		terms <- term
		return nil
	}})
	var run sync.WaitGroup
	run.Go(func() { c.Run(ctx) })
	t.Cleanup(func() { stop(); run.Wait() })
	select {
	case term := <-terms:
		return term
	case <-time.After(time.Minute):
		t.Fatal("nobody leads")
		return nil
	}
}

// one reads one row.
func one[T any](t *testing.T, db *testdb.DB, sql string, args ...any) (out T) {
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
