package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testwait"
)

// crowd is many nodes that each hold one task of the same job.
type crowd struct {
	*rig
	ends  Ends
	desks []*Desk
	held  []Assignment
	job   weir.ID
}

func newCrowd(t *testing.T, n int) *crowd {
	c := &crowd{rig: newRig(t, nil)}
	var tasks []map[string]any
	for i := range n {
		tasks = append(tasks, map[string]any{"service": "s", "key": fmt.Sprint("k", i)})
	}
	text, err := json.Marshal(tasks)
	c.ok(err)
	c.job = one[weir.ID](c.rig, `select weir.submit_job($1, 'crowd')`, text)
	for i := range n {
		d := NewDesk(c.db.Pool, fmt.Sprintf("c%02d", i), Options{Ends: &c.ends})
		c.ok(d.Register(t.Context(), Info{Name: d.node, Capacity: map[string]int{"s": 1}}))
		c.Desk = d
		c.desks, c.held = append(c.desks, d), append(c.held, c.claim())
	}
	return c
}

// jam holds the job's row until free is called, so that no task of the job can be ended.
func (c *crowd) jam() (free func()) {
	c.Helper()
	conn, err := pgx.Connect(c.Context(), c.db.URL)
	c.ok(err)
	tx, err := conn.Begin(c.Context())
	c.ok(err)
	_, err = tx.Exec(c.Context(), `select from weir.job_live where job = $1 for update`, c.job)
	c.ok(err)
	return func() {
		c.ok(tx.Rollback(c.Context()))
		c.ok(conn.Close(c.Context()))
	}
}

// stands waits until the given number of ends wait for those under way.
func (c *crowd) stands(waiting int) {
	c.Helper()
	testwait.Until(c, fmt.Sprintf("%d ends wait", waiting), func() bool {
		c.ends.mu.Lock()
		defer c.ends.mu.Unlock()
		return c.ends.flights == flightsMost && len(c.ends.waiting) == waiting
	})
}

// Ends that arrive while others are being written go together: forty of them take five
// transactions here.
func TestEndsAreGathered(t *testing.T) {
	const n = 40
	c := newCrowd(t, n)
	free := c.jam()
	var all sync.WaitGroup
	for i, d := range c.desks {
		all.Go(func() {
			if refused, err := d.End(t.Context(), []Outcome{{Lease: c.held[i].Holds(), Verdict: Done, Result: json.RawMessage(fmt.Sprint(i))}}); err != nil || len(refused) > 0 {
				t.Errorf("%s: %+v, %v", d.node, refused, err)
			}
		})
	}
	c.stands(n - flightsMost)
	free()
	all.Wait()
	if got := one[string](c.rig, `select format('%s done, %s right, %s transactions', count(*), count(*) filter (where 'k' || (f.result #>> '{}') = q.key), count(distinct f.xmin::text))
		from weir.finished f join weir.tasks q on q.id = f.task where f.outcome = 'done'`); got != fmt.Sprintf("%d done, %d right, %d transactions", n, n, flightsMost+1) {
		t.Error(got)
	}
	testwait.Until(t, "no flight is left", func() bool {
		c.ends.mu.Lock()
		defer c.ends.mu.Unlock()
		return c.ends.flights == 0 && len(c.ends.waiting) == 0
	})
}

// Two ends about one lease do not go together, because one would get the other's answer;
// and no end overtakes another.
func TestEndsOfOneLeaseFollowOneAnother(t *testing.T) {
	about := func(tasks ...byte) *end {
		x := &end{}
		for _, n := range tasks {
			x.batch = append(x.batch, Outcome{Lease: Lease{Task: weir.ID{n}}})
		}
		return x
	}
	e := Ends{flights: 1, waiting: []*end{about(1, 1), about(2), about(3, 2), about(4), about(4), about(make([]byte, 2*aboardMost)...), about(5)}}
	var got []int
	for e.flights > 0 {
		got = append(got, len(e.next()))
	}
	if want := []int{2, 2, 1, 1, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("aboard: %d, want %d", got, want)
	}
}

// Each end of a group gets its own answer. A result that the database refuses, a lease of
// another node, a repeated end and a caller that does not wait for the answer do not
// affect the others.
func TestEndsAnswerEachAlone(t *testing.T) {
	const n = flightsMost + 6
	c := newCrowd(t, n)
	free := c.jam()
	var all sync.WaitGroup
	end := func(d *Desk, a Assignment, result, refusal string) {
		all.Go(func() {
			refused, err := d.End(t.Context(), []Outcome{{Lease: a.Holds(), Verdict: Done, Result: json.RawMessage(result)}})
			refused = slices.DeleteFunc(refused, func(r Refusal) bool { return r.Refusal == Repeated })
			if err != nil || len(refused) != min(len(refusal), 1) || len(refused) > 0 && (refused[0].Refusal != refusal || refused[0].Task != a.Task) {
				t.Errorf("%s of %s: %+v, %v, want %q", a.Key, d.node, refused, err, refusal)
			}
		})
	}
	for i := range flightsMost {
		end(c.desks[i], c.held[i], `1`, "")
	}
	c.stands(0)
	end(c.desks[4], c.held[4], `"\u0000"`, "")
	end(c.desks[5], c.held[9], `1`, "lease_lost") // the lease belongs to another node
	end(c.desks[6], c.held[6], `1`, "")
	end(c.desks[7], c.held[7], `1`, "")
	end(c.desks[7], c.held[7], `1`, "")
	c.stands(5)
	hasty, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := c.desks[8].End(hasty, []Outcome{{Lease: c.held[8].Holds(), Verdict: Done}})
		left <- err
	}()
	c.stands(6)
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who leaves hears %v", err)
	}
	free()
	all.Wait()
	testwait.Until(t, "all that was said is written", func() bool {
		return one[string](c.rig, `select string_agg(q.key || ' ' || t.state, ', ' order by q.position) from weir.task t join weir.tasks q on q.id = t.id`) ==
			"k0 done, k1 done, k2 done, k3 done, k4 failed, k5 running, k6 done, k7 done, k8 done, k9 running"
	})
	if refused, err := c.desks[8].End(t.Context(), []Outcome{{Lease: c.held[8].Holds(), Verdict: Done}}); err != nil || len(refused) != 1 || refused[0].Refusal != Repeated {
		t.Errorf("who says it again hears %+v, %v", refused, err)
	}
}

// If the database cannot end a task for a reason that is not the task's own, the task
// keeps running, so that its node reports it again; and the other ends of its group are
// written all the same.
func TestEndsBlameNoWork(t *testing.T) {
	const n = flightsMost + 3
	c := newCrowd(t, n)
	const args = `uuid[], int[], uuid[], jsonb[], boolean, timestamptz`
	for _, sql := range []string{
		`create schema aside`, `alter function weir.finish_many(` + args + `) set schema aside`,
		`create function weir.finish_many(tasks uuid[], attempts int[], tokens uuid[], results jsonb[] default null, hint boolean default true, at timestamptz default null)
			returns table (task uuid, refusal text, attempt int) language plpgsql security definer set search_path = weir, pg_temp as $f$ begin
			if '"grant"' = any (results) then raise exception 'not yours' using errcode = '42501'; end if;
			if '"value"' = any (results) then raise exception 'no such value' using errcode = '23514'; end if;
			return query select * from aside.finish_many(tasks, attempts, tokens, results, hint, at); end $f$`,
	} {
		_, err := c.db.Pool.Exec(t.Context(), sql)
		c.ok(err)
	}
	free := c.jam()
	var all sync.WaitGroup
	for i, d := range c.desks {
		result := map[int]string{flightsMost: `"grant"`, flightsMost + 1: `"value"`}[i]
		all.Go(func() {
			_, err := d.End(t.Context(), []Outcome{{Lease: c.held[i].Holds(), Verdict: Done, Result: json.RawMessage(cmp.Or(result, "1"))}})
			if (err != nil) != (result == `"grant"`) {
				t.Errorf("%s hears %v", d.node, err)
			}
		})
		if i == flightsMost-1 {
			c.stands(0)
		}
	}
	c.stands(n - flightsMost)
	free()
	all.Wait()
	if got := one[string](c.rig, `select string_agg(q.key || ' ' || t.state, ', ' order by q.position) from weir.task t join weir.tasks q on q.id = t.id`); got !=
		"k0 done, k1 done, k2 done, k3 done, k4 running, k5 failed, k6 done" {
		t.Error(got)
	}
	_, err := c.db.Pool.Exec(t.Context(), `drop function weir.finish_many(`+args+`); alter function aside.finish_many(`+args+`) set schema weir`)
	c.ok(err)
	if refused, err := c.desks[flightsMost].End(t.Context(), []Outcome{{Lease: c.held[flightsMost].Holds(), Verdict: Done}}); err != nil || len(refused) > 0 {
		t.Errorf("when it can be ended: %+v, %v", refused, err)
	}
}
