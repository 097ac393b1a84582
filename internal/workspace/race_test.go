package workspace_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Looks, proxies, the clock, outages and people, all at once over the same workspaces:
// nobody waits for one who waits for him.
func TestManyHandsDoNotLockOneAnotherOut(t *testing.T) {
	d := newDesk(t)
	_, err := d.store.SetPolicy(t.Context(), "ann", workspace.PolicyChange{PerUser: new(10), StandbyTTL: nil})
	d.ok(err)
	var ids []weir.ID
	for n := range 12 {
		ids = append(ids, d.standing(fmt.Sprint("w", n)))
	}
	for _, id := range ids[:3] {
		d.want(id, ladder.Archived)
		d.begin(id, ladder.Archiving)
	}
	backwards := slices.Clone(ids)
	slices.Reverse(backwards)
	const see = `select weir.workspace_see((select jsonb_agg(jsonb_build_object('id', w.id, 'conditions', jsonb_build_object('storage.volume_ready', jsonb_build_object('status', true, 'message', $1::text)),
		'phase', w.phase, 'generation', w.generation) order by w.id desc) from weir.workspaces w))`
	const rounds = 25
	var hands sync.WaitGroup
	hand := func(what string, f func(round int) error) {
		hands.Go(func() {
			for round := range rounds {
				if err := f(round); err != nil && !slices.Contains([]problem.Kind{problem.TooMany, problem.Conflict}, problem.Explain(err).Kind) {
					t.Errorf("%s: %v", what, err)
					return
				}
			}
		})
	}
	for _, order := range [][]weir.ID{ids, backwards} {
		hand("a proxy", func(round int) error {
			at, sources := make([]time.Time, len(order)), make([]string, len(order))
			for i := range order {
				at[i], sources[i] = d.now.Add(time.Duration(round)*time.Second), "http"
			}
			return d.store.Touch(t.Context(), order, at, sources)
		})
		hand("a person", func(round int) error {
			want := []ladder.Phase{ladder.Running, ladder.Standby}[round%2]
			_, err := d.store.Want(t.Context(), order[round%len(order)], want, "ann", "")
			return err
		})
	}
	hand("a look", func(round int) error {
		_, err := d.db.Pool.Exec(t.Context(), see, fmt.Sprint("round ", round))
		return err
	})
	hand("the clock", func(int) error {
		_, err := d.db.Pool.Exec(t.Context(), `select weir.workspace_expire(at => clock_timestamp() + interval '1 day')`)
		return err
	})
	hand("an outage", func(round int) error {
		_, err := d.db.Pool.Exec(t.Context(), `select weir.workspace_unknown(case when $1 then '{bucket}'::text[] else '{}' end, 'it does not answer')`, round%2 == 0 && round < rounds-1)
		return err
	})
	hands.Wait()
}
