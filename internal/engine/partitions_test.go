package engine

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testdb"
)

func TestPartitionsAreMadeAheadAndDroppedLate(t *testing.T) {
	db := testdb.New(t)
	term := leadOnly(t, db.Pool)
	const count = `select count(*) from weir._partitions()`
	tick := func(keep time.Duration) {
		t.Helper()
		if _, err := partitions(Config{Pool: db.Pool, Keep: keep}.withDefaults(), term)(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	tick(0)
	made := scan[int](t, db, count)
	if ahead := scan[bool](t, db, `select min(hi) > clock_timestamp() + interval '13 days' from (select max(hi) as hi from weir._partitions() group by parent) x`); !ahead {
		t.Error("the partitions do not reach far enough")
	}
	tick(0)
	if got := scan[int](t, db, count); got != made {
		t.Errorf("%d partitions after a second tick, %d before", got, made)
	}
	tick(24 * time.Hour)
	if old := scan[int](t, db, `select count(*) from weir._partitions() where hi < clock_timestamp() - interval '1 day'`); old != 0 {
		t.Errorf("%d partitions are older than the retention", old)
	}
}

func TestPartitionsSpanTheDaysThatAreSet(t *testing.T) {
	db := testdb.New(t)
	exec(t, db, `do $$ declare p record; begin
		for p in select name from weir._partitions() where lo > clock_timestamp() loop execute format('drop table weir.%I', p.name); end loop;
	end $$`)
	tick := partitions(Config{Pool: db.Pool, PartitionDays: 2}.withDefaults(), leadOnly(t, db.Pool))
	if _, err := tick(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := scan[int](t, db, `select count(*) from weir._partitions() where hi - lo = interval '2 days'`); got == 0 {
		t.Error("none spans two days")
	}
}

func TestAnalyzeWhenItMatters(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name       string
		seen, last int64
		ago        time.Duration
		want       bool
	}{
		{"nothing new for a day", 5000, 5000, 24 * time.Hour, false},
		{"a little, a moment ago", 5000, 6000, time.Minute, false},
		{"a little, an hour ago", 5000, 5001, time.Hour, true},
		{"doubled", 50_000, 100_000, time.Minute, true},
		{"almost doubled", 50_000, 99_999, time.Minute, false},
		{"the first ones", 0, 9_999, time.Minute, false},
		{"the first many", 0, 10_000, time.Minute, true},
	} {
		if got := (&analyzer{seen: c.seen, at: now.Add(-c.ago)}).wants(c.last, now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestAnalyzeGivesThePlannerNumbers(t *testing.T) {
	db := testdb.New(t)
	exec(t, db, `select weir.submit('s') from generate_series(1, 50)`)
	a := analyzer{pool: db.Pool}
	if _, err := a.tick(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if n := scan[float64](t, db, `select reltuples from pg_class where oid = 'weir.tasks'::regclass`); n != 50 {
		t.Errorf("the planner sees %v tasks", n)
	}
}
