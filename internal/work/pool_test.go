package work_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/work"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// Of many callers that create the same pool, or change the version they have seen, one
// succeeds.
func TestOneWriter(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	client, err := weir.New(db.Pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	local := op.Local{Stores: []any{work.New(db.Pool, client)}, Who: func(context.Context) auth.Subject { return auth.System("test") }}
	name := work.NamedPool{Pool: "p"}
	race := func(m op.Matched, size int) {
		t.Helper()
		var won atomic.Int32
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				in := work.PuttingPool{NamedPool: name, Matched: m, Body: work.PoolSpec{Size: weir.Size(size + i)}}
				_, err := work.PutPool.Call(t.Context(), local, &in)
				switch {
				case err == nil:
					won.Add(1)
				case problem.Explain(err).Kind != problem.Conflict:
					t.Error(err)
				}
			})
		}
		if group.Wait(); won.Load() != 1 {
			t.Errorf("%+v: %d have written", m, won.Load())
		}
	}
	race(op.Matched{IfNoneMatch: "*"}, 10)
	seen, err := work.ShowPool.Call(t.Context(), local, &name)
	if err != nil {
		t.Fatal(err)
	}
	race(op.Matched{IfMatch: seen.Tag()}, 20)
	old := work.DroppingPool{NamedPool: name, Matched: op.Matched{IfMatch: seen.Tag()}}
	if _, err := work.DropPool.Call(t.Context(), local, &old); err == nil || problem.Explain(err).Kind != problem.Conflict {
		t.Errorf("a version that is over was dropped: %v", err)
	}
}
