package enginetest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/testdb"
)

// TestADatabaseFromADumpGoesOn plays what a restore does: the rows carry
// transaction ids that the new cluster has not reached. Readers of the timeline
// would wait for them, and so would the floors.
func TestADatabaseFromADumpGoesOn(t *testing.T) {
	db, ctx := testdb.New(t), context.Background()
	exec := func(sql string) {
		t.Helper()
		if _, err := db.Pool.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	count := func(sql string) (n int) {
		t.Helper()
		if err := db.Pool.QueryRow(ctx, sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	exec(`select weir.submit('before') from generate_series(1, 3)`)
	exec(`update weir.events set xid = xid + 1000000000000; update weir.horizon set xid = 1000000000000`)
	if n := count(`select count(*) from weir.events_after('0.0')`); n != 0 {
		t.Fatalf("%d events can be read before the restore is adopted: the test does not play it", n)
	}
	if n := count(`select count(*) from weir.doctor() where not ok and name = 'the timeline belongs to this cluster'`); n != 1 {
		t.Error("the doctor does not see it")
	}
	if n := count(`select weir.adopt_restore()`); n != 3 {
		t.Errorf("%d events were moved, want 3", n)
	}
	exec(`select weir.submit('after')`)
	// Writers elsewhere in the cluster may hold the newest event back for a moment, but not the old ones.
	if n := count(`select count(*) from weir.events_after('0.0') where type = 'submitted'`); n < 3 {
		t.Errorf("%d events can be read, want at least 3", n)
	}
	if n := count(`select weir.adopt_restore()`); n != 0 {
		t.Errorf("a second call moved %d events", n)
	}
}

// A transaction that writes sees its own events, whose id may be ahead of its
// snapshot: that is no dump.
func TestTheDoctorOfAWriterSeesNoDump(t *testing.T) {
	db, ctx := testdb.New(t), t.Context()
	begin := func() pgx.Tx {
		t.Helper()
		tx, err := db.Pool.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
		return tx
	}
	older, writer := begin(), begin()
	if _, err := older.Exec(ctx, `select pg_current_xact_id()`); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Exec(ctx, `select weir.submit('mine')`); err != nil {
		t.Fatal(err)
	}
	var red []string
	if err := writer.QueryRow(ctx, `select coalesce(array_agg(name), '{}') from weir.doctor() where not ok`).Scan(&red); err != nil {
		t.Fatal(err)
	}
	if len(red) > 0 {
		t.Errorf("red: %v", red)
	}
}
