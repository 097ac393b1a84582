package pages

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
)

// Question is a query of a page of the dashboard or of a list of the API.
type Question struct {
	// Page is where it is asked, and Name is what it asks for.
	Page, Name string
	// Ask asks it for the ith time; each time about another object, if possible.
	Ask func(ctx context.Context, i int) error
}

// sample is how many objects of each kind the questions are about.
const sample = 50

// things are the objects of the questions, spread over the whole history.
type things struct {
	store                                           *view.Store
	pool                                            *pgxpool.Pool
	tasks, jobs, failed, running, waiting, wideJobs []weir.ID
	places                                          []string
}

// Questions prepares them.
func Questions(ctx context.Context, pool *pgxpool.Pool) ([]Question, error) {
	t, err := pick(ctx, pool)
	if err != nil {
		return nil, err
	}
	return append(append(t.lists(), t.details()...), t.wholes()...), nil
}

// pick chooses the objects to ask about.
func pick(ctx context.Context, pool *pgxpool.Pool) (*things, error) {
	t := &things{store: view.New(pool), pool: pool}
	for _, pick := range []struct {
		into *[]weir.ID
		sql  string
	}{
		{&t.tasks, spread("weir.tasks", "id")},
		{&t.jobs, spread("weir.jobs", "id")},
		{&t.failed, `select task from weir.finished where outcome = 'failed' order by task desc limit 50`},
		{&t.running, `select task from weir.running limit 50`},
		{&t.waiting, `select task from (select *, row_number() over (partition by gate) as n from weir.pending) x order by n limit 50`},
		{&t.wideJobs, `select id from weir.jobs where total > 100 limit 50`},
	} {
		rows, err := pool.Query(ctx, pick.sql)
		if err != nil {
			return nil, err
		}
		if *pick.into, err = pgx.CollectRows(rows, pgx.RowTo[weir.ID]); err != nil {
			return nil, err
		}
		if len(*pick.into) == 0 {
			return nil, fmt.Errorf("nothing to ask about: %s", pick.sql)
		}
	}
	rows, err := pool.Query(ctx, `select e.xid || '.' || e.seq || '+1' from generate_series(1, 50) i, lateral (select * from weir.events e
		where (e.xid, e.seq) >= (0, i * (select last_value from weir.event_seq) / 55) order by e.xid, e.seq limit 1) e`)
	if err != nil {
		return nil, err
	}
	if t.places, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return nil, err
	}
	return t, nil
}

// spread picks ids evenly over the partitions, by time.
func spread(table, id string) string {
	return fmt.Sprintf(`select x.%[2]s from generate_series(1, %[3]d) i, lateral (select t.%[2]s from %[1]s t
		where t.%[2]s >= weir._id_at(now() - interval '%[4]d days' + i * interval '%[4]d days' / %[5]d) order by t.%[2]s limit 1) x`, table, id, sample, 7*Weeks, sample+5)
}

func at[T any](from []T, i int) T { return from[i%len(from)] }

// page returns the first page, or one from deep in the history.
func page(deep bool, from []weir.ID, i int) view.Page {
	if !deep {
		return view.Page{}
	}
	return view.Page{After: at(from, i).String()}
}

// lists returns the pages of tasks, jobs and events with each of their filters.
func (t *things) lists() (all []Question) {
	for _, deep := range []bool{false, true} {
		where := map[bool]string{false: "first page", true: "deep page"}[deep]
		for _, f := range taskFilters {
			all = append(all, Question{"tasks", fmt.Sprintf("%s, %s", where, filter(f)), func(ctx context.Context, i int) error {
				_, _, err := t.store.TaskPage(ctx, f, page(deep, t.tasks, i))
				return err
			}})
		}
		for _, f := range jobFilters {
			all = append(all, Question{"jobs", fmt.Sprintf("%s, %s", where, filter(f)), func(ctx context.Context, i int) error {
				_, _, err := t.store.JobPage(ctx, f, page(deep, t.jobs, i))
				return err
			}})
		}
		for _, f := range timelineFilters {
			all = append(all, Question{"timeline", fmt.Sprintf("%s, %s", where, filter(f)), func(ctx context.Context, i int) error {
				before := ""
				if deep {
					before = at(t.places, i)
				}
				_, _, err := t.store.Timeline(ctx, f, before, 50)
				return err
			}})
		}
	}
	return all
}

// details returns the pages of one object, part by part and whole.
func (t *things) details() (all []Question) {
	type part struct {
		name string
		ask  func(ctx context.Context, id weir.ID) error
	}
	add := func(page, name string, of []weir.ID, parts ...part) {
		for _, p := range parts {
			all = append(all, Question{page, name + p.name, func(ctx context.Context, i int) error { return p.ask(ctx, at(of, i)) }})
		}
		all = append(all, Question{page, name + ": the whole page", func(ctx context.Context, i int) error {
			for _, p := range parts {
				if err := p.ask(ctx, at(of, i)); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	tasks := func(state weir.State) func(context.Context, weir.ID) error {
		return func(ctx context.Context, id weir.ID) error {
			_, _, err := t.store.TaskPage(ctx, view.TaskFilter{Job: id, State: state}, view.Page{})
			return err
		}
	}
	job := []part{
		{"", func(ctx context.Context, id weir.ID) error { _, err := t.store.Job(ctx, id); return err }},
		{": graph", func(ctx context.Context, id weir.ID) error { _, err := t.store.Graph(ctx, id); return err }},
		{": spans", func(ctx context.Context, id weir.ID) error { _, err := t.store.Spans(ctx, id); return err }},
		{": tasks", tasks("")},
		{": failed tasks", tasks("failed")},
		{": timeline", func(ctx context.Context, id weir.ID) error {
			_, _, err := t.store.Timeline(ctx, view.TimelineFilter{Job: id}, "", 50)
			return err
		}},
	}
	add("job", "a job", t.jobs, job...)
	add("job", "a job of 2,000 tasks", t.wideJobs, job...)
	task := []part{
		{"", func(ctx context.Context, id weir.ID) error { _, err := t.store.Task(ctx, id); return err }},
		{": why", func(ctx context.Context, id weir.ID) error {
			_, err := t.pool.Exec(ctx, `select * from weir.why($1)`, id)
			return err
		}},
		{": attempts", func(ctx context.Context, id weir.ID) error { _, err := t.store.Attempts(ctx, id); return err }},
		{": events", func(ctx context.Context, id weir.ID) error { _, err := t.store.TaskEvents(ctx, id); return err }},
	}
	add("task", "an old task", t.tasks, task...)
	add("task", "a failed task", t.failed, task...)
	add("task", "a running task", t.running, task...)
	add("task", "a waiting task", t.waiting, task...)
	return all
}

// wholes returns the pages that show everything at once, and the search.
func (t *things) wholes() (all []Question) {
	ask := func(page, name string, do func(ctx context.Context, i int) error) {
		all = append(all, Question{page, name, do})
	}
	ask("overview", "all", func(ctx context.Context, _ int) error { _, err := t.store.Overview(ctx); return err })
	for _, hours := range []time.Duration{1, 24, 7 * 24} {
		ask("overview", fmt.Sprintf("rates of %d h", hours), func(ctx context.Context, _ int) error { _, err := t.store.Rates(ctx, hours*time.Hour); return err })
	}
	ask("overview", "the whole page", func(ctx context.Context, _ int) error {
		_, err := t.store.Overview(ctx)
		_, rates := t.store.Rates(ctx, time.Hour)
		return errors.Join(err, rates)
	})
	ask("health", "all", func(ctx context.Context, _ int) error { _, err := t.store.Health(ctx); return err })
	ask("pools", "all", func(ctx context.Context, _ int) error { _, err := t.store.Pools(ctx, view.Page{}); return err })
	ask("pools", "one", func(ctx context.Context, _ int) error { _, err := t.store.Pool(ctx, "pool-007"); return err })
	ask("nodes", "all", func(ctx context.Context, _ int) error { _, err := t.store.Nodes(ctx, view.Page{}); return err })
	ask("nodes", "one", func(ctx context.Context, _ int) error { _, err := t.store.Node(ctx, "node-007"); return err })
	ask("workers", "all", func(ctx context.Context, _ int) error {
		_, err := t.store.Workers(ctx, view.WorkerFilter{All: true}, view.Page{})
		return err
	})
	ask("nodes", "slots", func(ctx context.Context, _ int) error {
		_, err := t.store.Slots(ctx, []string{"node-001", "node-007", "node-042"})
		return err
	})
	ask("workers", "one", func(ctx context.Context, _ int) error { _, err := t.store.Worker(ctx, "worker-007"); return err })
	ask("schedules", "all", func(ctx context.Context, _ int) error { _, err := t.store.Schedules(ctx, view.Page{}); return err })
	for _, text := range []string{"nightly-7", "special-", "node-0", "worker-007", "pool", "service-1", "step-5", "nothing of that name", "0123456789ab", "deadbeef"} {
		ask("search", text, func(ctx context.Context, _ int) error { _, err := t.store.Search(ctx, text); return err })
	}
	ask("search", "an id", func(ctx context.Context, i int) error {
		_, err := t.store.Search(ctx, at(t.tasks, i).String())
		return err
	})
	ask("search", "the end of a new id", func(ctx context.Context, i int) error {
		_, err := t.store.Search(ctx, at(t.running, i).String()[24:])
		return err
	})
	ask("search", "the end of a task's id, not found", func(ctx context.Context, _ int) error {
		if _, err := t.store.TaskID(ctx, "000000000000"); !errors.Is(err, weir.ErrNotFound) {
			return fmt.Errorf("an id that is none: %w", err)
		}
		return nil
	})
	return all
}
