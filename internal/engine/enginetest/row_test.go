package enginetest

import (
	"maps"
	"slices"
	"testing"
)

// The constructors of rows are the only places that build one by position. Each column of the
// type has the value of the argument of its name.
func TestRowsAreBuiltByName(t *testing.T) {
	e := start(t)
	for _, c := range []struct {
		kind, call string
		want       map[string]any
	}{
		{
			"weir.finished", `weir._finished_row(task => '01890000-0000-7000-8000-000000000001', at => '2030-01-01 00:00Z', attempt => 3,
				outcome => 'failed', cause => 'why', started_at => '2030-01-02 00:00Z', worker => 7, passes => true,
				opened_at => '2030-01-03 00:00Z', result => '"r"')`,
			map[string]any{
				"task": "01890000-0000-7000-8000-000000000001", "at": "2030-01-01T00:00:00+00:00", "attempt": 3.0, "outcome": "failed", "cause": "why",
				"started_at": "2030-01-02T00:00:00+00:00", "worker": 7.0, "passes": true, "opened_at": "2030-01-03T00:00:00+00:00", "result": "r",
			},
		},
		{
			"weir.fleet_units", `weir._fleet_pick_row(job => '01890000-0000-7000-8000-000000000002', unit => 5, device => 9,
				task => '01890000-0000-7000-8000-000000000001')`,
			map[string]any{
				"job": "01890000-0000-7000-8000-000000000002", "unit": 5.0, "device": 9.0, "task": "01890000-0000-7000-8000-000000000001",
				"state": "retrying", "round": 0.0, "excluded": []any{}, "infra": 0.0, "good": nil, "cause": nil, "harmless": nil, "unclean": nil,
			},
		},
	} {
		columns := all[string](e, `select attname::text from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by 1`, c.kind)
		if named := slices.Sorted(maps.Keys(c.want)); !slices.Equal(columns, named) {
			t.Errorf("%s has the columns %v, the test names %v", c.kind, columns, named)
		}
		got := one[map[string]any](e, `select jsonb_build_object('row', x) from (select to_jsonb(`+c.call+`)) x (x), set_config('timezone', 'UTC', true)`)["row"]
		if encode(got) != encode(c.want) {
			t.Errorf("%s is %s, want %s", c.call, encode(got), encode(c.want))
		}
	}
}
