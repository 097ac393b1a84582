package remote

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/agent/agenttest"
	"github.com/weirhq/weir/internal/agent/device/simulate"
	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/vault"
)

// trips counts what a server sends to the database: each statement alone, and each batch, is
// one transaction.
type trips struct{ n atomic.Int64 }

// TraceQueryStart implements [pgx.QueryTracer].
func (x *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	x.n.Add(1)
	return ctx
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (x *trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements [pgx.BatchTracer].
func (x *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	x.n.Add(1)
	return ctx
}

// TraceBatchQuery implements [pgx.BatchTracer].
func (x *trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements [pgx.BatchTracer].
func (x *trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// A run on a device costs few transactions of the server, with everything that its agent
// does besides: who the agent is, claims, starts, progress, logs, ends, reports of devices.
// It costs 6 to 7; one transaction for each thing that happens would be twice as many.
func TestARunCostsFewTransactions(t *testing.T) {
	t.Parallel()
	const devices, rounds, most = 12, 3, 9
	var counted trips
	db := testdb.New(t)
	config := db.Pool.Config().Copy()
	config.ConnConfig.Tracer = &counted
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	listener := listen.New(db.Pool.Config().ConnConfig, nil)
	ctx, cancel := context.WithCancel(context.Background())
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		_ = listener.Run(ctx) // until the test ends
	}()
	hints := node.NewHints(pool, listener)
	t.Cleanup(func() {
		hints.Close()
		cancel()
		<-heard
	})
	bucket := blobtest.Folder(t)
	watched := *db
	watched.Pool = pool
	r := newServer(t, &agenttest.Parts{DB: &watched, Bucket: bucket, Vault: vault.New(pool, vault.RandomKeys(), nil), Hints: hints})
	lab, err := simulate.New(simulate.Config{PC: "pc1", Devices: devices, Seed: 1, Shortest: 1500 * time.Millisecond, Longest: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	a := agent.New(agent.Config{
		Transport: r.open("pc1"), Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Devices: lab, DeviceDriver: lab.Name(), DeviceSlots: devices,
		Info: node.Info{Name: "pc1", Capacity: map[string]int{node.Fleet: devices}}, Drivers: map[string]driver.Driver{lab.Name(): lab},
	})
	over := make(chan error, 1)
	go func() { over <- a.Run(ctx) }()
	count := func(sql string) (n int) {
		t.Helper()
		if err := db.Pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	testwait.Until(t, "the devices are known", func() bool { return count(`select count(*) from weir.devices where online`) == devices })
	before := counted.n.Load()
	if _, err := db.Pool.Exec(t.Context(), `select weir.fleet_submit('test', $1)`, map[string]any{"run": map[string]any{"argv": []string{"true"}}, "target": map[string]any{"all": true}, "repeat": rounds}); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "all is done", func() bool {
		return count(`select count(*) from weir.fleet_units where state = 'done'`) == devices*rounds
	})
	each := float64(counted.n.Load()-before) / (devices * rounds)
	t.Logf("%.1f transactions for each run", each)
	if each > most {
		t.Errorf("a run costs %.1f transactions, more than %d", each, most)
	}
	if n := count(`select count(*) from weir.events where type = 'progress'`); n < devices*rounds {
		t.Errorf("%d reports of progress: too few to measure anything", n)
	}
	a.Leave()
	if err := <-over; err != nil {
		t.Error(err)
	}
}
