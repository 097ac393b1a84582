package fleet

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// written is how many rows of all tables were written since the statistics began.
func written(t *testing.T, conn *pgx.Conn) (n int64) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), `select pg_stat_force_next_flush()`); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), `select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint from pg_stat_user_tables`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A thousand PCs report every few seconds what they reported before. That writes nothing,
// except an occasional sign of life: one row for the node, one for the PC.
func TestReportsWithoutNewsAreCheap(t *testing.T) {
	t.Parallel()
	const pcs, devices = 50, 30
	r := newRig(t)
	reports := map[string][]byte{}
	for i := range pcs {
		pc := fmt.Sprintf("PC-%02d", i+1)
		list := named(pc+"-", devices)
		for k := range list {
			list[k].Hub, list[k].Labels = fmt.Sprint("hub-", k/10), map[string]string{"model": "alpha-5"}
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		reports[pc] = text
	}
	conn, err := pgx.Connect(t.Context(), r.db.Pool.Config().ConnString())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	say := func(after string) int64 {
		t.Helper()
		before := written(t, conn)
		for pc, text := range reports {
			if _, err := conn.Exec(t.Context(), `select weir.fleet_report($1, $2, slots => 20, at => $3::timestamptz + $4::interval)`, pc, text, r.now, after); err != nil {
				t.Fatal(err)
			}
		}
		return written(t, conn) - before
	}
	if n := say("0 s"); n < pcs*devices {
		t.Fatalf("the first reports wrote %d rows: the count is wrong", n)
	}
	r.want("again at once", say("0 s"), 0)
	r.want("4 s later", say("4 s"), 0)
	r.want("9 s later, the sign of life", say("9 s"), pcs)
	r.want("12 s later", say("12 s"), 0)
	r.want("40 s later, heard and reported", say("40 s"), 2*pcs)

	r.submit("idle", nil)
	before := written(t, conn)
	for range 3 {
		if _, err := conn.Exec(t.Context(), `select weir.fleet_tend(at => $1::timestamptz + interval '41 s')`, r.now); err != nil {
			t.Fatal(err)
		}
	}
	r.want("an idle pass", written(t, conn)-before, 0)
}
