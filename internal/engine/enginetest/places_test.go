package enginetest

import (
	"context"
	"testing"

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
