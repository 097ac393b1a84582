package timeline

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/schema"
)

// A hub and its followers survive a restart of the server, whether they keep up or read
// the database.
func TestFollowersLiveThroughARestartOfTheDatabase(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	config := pg.Config{Dir: t.TempDir(), Settings: map[string]string{"fsync": "off"}}
	cluster, err := pg.Start(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop(context.Background()) }) // the second server, or one that is gone
	if err := cluster.EnsureDatabase(ctx, "weir"); err != nil {
		t.Fatal(err)
	}
	url := cluster.URL("weir")
	if _, err := pg.Migrate(ctx, url, schema.FS); err != nil {
		t.Fatal(err)
	}
	pool, err := pg.Open(ctx, url, pg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	db := &testdb.DB{Pool: pool, URL: url}
	exec(t, db, `select weir.ensure_partitions()`)
	hub, _ := startHub(t, pool, nil, Options{Events: 5, Gap: time.Millisecond})
	keeps, lags := follow(t, hub, "", Filter{}), follow(t, hub, "", Filter{})
	start := keeps.Cursor()
	exec(t, db, `select weir.submit('s') from generate_series(1, 20)`)
	seen := gather(t, keeps, 20)

	if err := cluster.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	down, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	if _, err := lags.Next(down); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without a database: %v", err)
	}
	cancel()
	if cluster, err = pg.Start(ctx, config); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "the database comes back", func() bool { return pool.Ping(ctx) == nil })
	exec(t, db, `select weir.submit('s') from generate_series(1, 20)`)
	want := lines(t, db, start)
	if got := keys(append(seen, gather(t, keeps, 20)...)); !slices.Equal(got, want) {
		t.Errorf("who kept up saw %d events, there are %d", len(got), len(want))
	}
	if got := keys(gather(t, lags, 40)); !slices.Equal(got, want) {
		t.Errorf("who was behind saw %d events, there are %d", len(got), len(want))
	}
}
