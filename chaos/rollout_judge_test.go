//go:build unix

package chaos

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/rollout"
	changes "github.com/weirhq/weir/internal/rollout/script"
)

// The promises of a rollout, by the plan and not by what the engine made of it.
const (
	ruleBeside   = "a sequential run has its database alone"
	ruleOrder    = "versions of a database run in their order"
	ruleParallel = "a rollout keeps its parallel limit"
	ruleOnce     = "a change is applied exactly once"
	ruleInside   = "the database itself saw no two at once"
	ruleHolds    = "holds are what they should be"
)

// findings judges the campaign: by the engine's own rules, by those of the plans over the
// timeline, and by what the databases themselves have recorded.
func (c *campaign) findings() []Finding {
	c.Helper()
	// The campaign's time may be over; the judgment has its own.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c.ctx = ctx
	found := c.doctor()
	e, err := Collect(ctx, c.pool, nil)
	if err != nil {
		c.Fatal(err)
	}
	e.Silent = c.silent
	found = append(found, e.Judge()...)
	tasks := c.tasks()
	found = append(found, c.judgeRuns(e.Events, tasks)...)
	found = append(found, c.judgeTargets(tasks)...)
	var n int
	if err := c.pool.QueryRow(ctx, `select weir.rollout_sweep()`).Scan(&n); err != nil {
		c.Fatal(err)
	}
	if n > 0 {
		found = append(found, Finding{ruleHolds, "", fmt.Sprintf("%d holds were not", n)})
	}
	c.Logf("checked %d tasks, %d events, %d databases", len(tasks), len(e.Events), len(c.targets))
	return found
}

// judgeRuns walks the timeline and tracks which runs are under way: from the claim to the
// end. A version that runs while a lower one of its database has begun and not ended, or
// failed without a decision about it, is out of order.
func (c *campaign) judgeRuns(events []Event, tasks []rollout.Task) (found []Finding) {
	byID := map[string]rollout.Task{}
	for _, t := range tasks {
		byID[t.ID.String()] = t
	}
	inside := map[string]map[string]rollout.Task{} // by database
	failed := map[string]map[string]rollout.Task{} // by database
	ongoing := map[string]map[string]bool{}        // by rollout
	runs := 0
	for _, v := range events {
		if v.Kind == "rollout" && v.Type == "aborted" {
			// A version that was given up keeps no other version waiting.
			for _, of := range failed {
				maps.DeleteFunc(of, func(_ string, t rollout.Task) bool { return t.Rollout.String() == v.Subject })
			}
		}
		t, ours := byID[v.Task]
		if !ours {
			continue
		}
		id, of := v.Task, t.Rollout.String()
		switch v.Type {
		case "claimed":
			runs++
			for _, o := range inside[t.Database] {
				if t.Kind != string(changes.Data) || o.Kind != string(changes.Data) {
					found = append(found, Finding{ruleBeside, id, fmt.Sprintf("%s began in %s while %s ran", t.Key, t.Database, o.Key)})
				}
				if below(o, t) {
					found = append(found, Finding{ruleOrder, id, fmt.Sprintf("%s began while %s ran", t.Key, o.Key)})
				}
			}
			for _, o := range failed[t.Database] {
				if below(o, t) {
					found = append(found, Finding{ruleOrder, id, fmt.Sprintf("%s began while %s had failed", t.Key, o.Key)})
				}
			}
			put(inside, t.Database, id, t)
			put(ongoing, of, id, true)
			if limit := c.plans[t.Rollout].Parallel; len(ongoing[of]) > limit {
				found = append(found, Finding{ruleParallel, id, fmt.Sprintf("%d runs of %s at once, the limit is %d", len(ongoing[of]), c.plans[t.Rollout].Name, limit)})
			}
		case "done", "failed", "canceled", "skipped", "retried":
			delete(inside[t.Database], id)
			delete(ongoing[of], id)
			delete(failed[t.Database], id)
			if v.Type == "failed" {
				put(failed, t.Database, id, t)
			}
		}
	}
	c.Logf("%d runs of %d tasks", runs, len(tasks))
	return found
}

// below reports whether a has a lower version than b. The versions of a campaign are
// plain numbers.
func below(a, b rollout.Task) bool {
	x, err := strconv.Atoi(a.Version)
	y, other := strconv.Atoi(b.Version)
	return err == nil && other == nil && x < y
}

func put[V any](keys map[string]map[string]V, key, id string, v V) {
	if keys[key] == nil {
		keys[key] = map[string]V{}
	}
	keys[key][id] = v
}

// judgeTargets asks every database what happened there: a done task has one row in the
// history and left one mark, any other has none.
func (c *campaign) judgeTargets(tasks []rollout.Task) (found []Finding) {
	c.Helper()
	of := map[string][]rollout.Task{}
	for _, t := range tasks {
		of[t.Database] = append(of[t.Database], t)
	}
	for name, address := range c.targets {
		rows, marks := map[string]int{}, map[string]int{}
		pairs := 0
		c.in(address, func(conn *pgx.Conn) error {
			var begun bool
			if err := conn.QueryRow(c.ctx, `select to_regclass('weir_history') is not null`).Scan(&begun); err != nil {
				return err
			}
			queries := map[string]map[string]int{`select change, count(*) from marks group by 1`: marks}
			if begun {
				queries[`select task, count(*) from weir_history group by 1`] = rows
			}
			for query, into := range queries {
				list, err := conn.Query(c.ctx, query)
				if err != nil {
					return err
				}
				var key string
				var n int
				if _, err := pgx.ForEachRow(list, []any{&key, &n}, func() error { into[key] = n; return nil }); err != nil {
					return err
				}
			}
			return conn.QueryRow(c.ctx, `select count(*) from marks a join marks b on b.change > a.change and a.began < b.ended and b.began < a.ended
				where a.kind <> 'data' or b.kind <> 'data'`).Scan(&pairs)
		})
		if pairs > 0 {
			found = append(found, Finding{ruleInside, "", fmt.Sprintf("%s: %d pairs", name, pairs)})
		}
		for _, t := range of[name] {
			want := 0
			if t.Status == rollout.Done {
				want = 1
			}
			if row, mark := rows[t.ID.String()], marks[t.Change]; row != want || mark != want {
				found = append(found, Finding{ruleOnce, t.ID.String(), fmt.Sprintf("%s is %s: %d history rows and %d marks in %s", t.Key, t.Status, row, mark, name)})
			}
		}
	}
	return found
}
