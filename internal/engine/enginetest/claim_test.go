package enginetest

import (
	"fmt"
	"testing"
)

// TestAClaimLocksWhatItTakes: beside a claim that has not committed, the next
// worker finds everything that the first one did not take, from whichever class it
// is, and of each class the first ones.
func TestAClaimLocksWhatItTakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// fill makes ten tasks.
		fill func(e *engine)
		ask  string
	}{
		"two priorities": {func(e *engine) {
			e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's', 'priority', i % 2)), false, $1) from generate_series(1, 10) i`, at(0))
		}, `array['s'], %d`},
		"plain ones and those that passed a gate": {func(e *engine) {
			e.exec(`select weir.set_pool('p', 100, at => $1)`, at(0))
			e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's') || case when i % 2 = 0 then '{"pool": "p"}'::jsonb else '{}' end), false, $1) from generate_series(1, 10) i`, at(0))
			e.tend(0)
		}, `array['s'], %d`},
		"two services with slots": {func(e *engine) {
			e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', case when i <= 5 then 's' else 'o' end)), false, $1) from generate_series(1, 10) i`, at(0))
		}, `array['s', 'o'], %d, array[5, 5]`},
		"labels": {func(e *engine) {
			e.exec(`select weir.register_worker(w, '{s}', labels => '{"a": "1"}', at => $1) from unnest('{v,w}'::text[]) w`, at(0))
			e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's', 'labels', case when i % 3 = 0 then '{"a": "1"}'::jsonb else '{}' end)), false, $1) from generate_series(1, 10) i`, at(0))
		}, `array['s'], %d`},
	} {
		for _, n := range []int{1, 3, 5} {
			t.Run(fmt.Sprintf("%s, %d", name, n), func(t *testing.T) {
				t.Parallel()
				e := start(t)
				c.fill(e)
				e.exec(`select weir.claim('w', '{none}', at => $1)`, at(0))
				order := all[string](e, `select a.task::text from weir.available a join weir.classes c on c.id = abs(a.class) order by c.priority desc, a.order_seq, a.position`)
				if len(order) != 10 {
					t.Fatalf("%d are available, want 10", len(order))
				}
				tx := e.transaction()
				first, err := ask[string](tx, `select task::text from weir.claim('w', `+fmt.Sprintf(c.ask, n)+`, at => $1)`, at(1))
				if err != nil {
					t.Fatal(err)
				}
				// Once for as many, when the first has everything of the best class, and once for the rest.
				second := e.connect()
				if _, err := second.Exec(t.Context(), `set lock_timeout = '5s'`); err != nil {
					t.Fatal(err)
				}
				take := func(n int) []string {
					taken, err := ask[string](second, `select task::text from weir.claim('v', `+fmt.Sprintf(c.ask, n)+`, at => $1)`, at(1))
					if err != nil {
						t.Errorf("the second worker waits for the first: %v", err)
					}
					return taken
				}
				rest := take(n)
				if len(rest) != n {
					t.Errorf("the second worker got %d, want %d", len(rest), n)
				}
				rest = append(rest, take(10)...)
				if got := fmt.Sprint(append(first, rest...)); len(first) != n || got != fmt.Sprint(order) {
					t.Errorf("%d and %d were taken: %s\nwant %d and %d: %s", len(first), len(rest), got, n, 10-n, order)
				}
				e.commit(tx)
			})
		}
	}
}

// TestAClaimPassesWhatManyHold: where many transactions hold a row each, and
// classes are several, the next claim still finds what is behind them.
func TestAClaimPassesWhatManyHold(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's', 'priority', i % 2)), false, $1) from generate_series(1, 20) i`, at(0))
	e.exec(`select weir.claim('w' || i, '{none}', at => $1) from generate_series(0, 12) i`, at(0))
	for i := range 12 {
		tx := e.transaction()
		in[string](e, tx, `select task::text from weir.claim('w' || $1::int, '{s}', at => $2)`, i, at(1))
	}
	if n := len(all[string](e, `select task::text from weir.claim('w12', '{s}', 2000000000, at => $1)`, at(1))); n != 8 {
		t.Errorf("%d were found, want 8", n)
	}
}
