package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/testwait"
)

// follower is a task that may become available because of what happens to
// another one: lead are the fields that the other needs for it.
type follower struct {
	name string
	put  func(e *engine, service string, lead spec) (id string)
}

var followers = []follower{
	{"nobody", func(e *engine, _ string, lead spec) string { return e.submit(0, lead) }},
	{"a need", func(e *engine, service string, lead spec) string {
		lead["key"] = "a"
		_, ids := e.submitJob(0, lead, spec{"service": service + "-next", "key": "b", "needs": []string{"a"}, "rule": "all_done"})
		return ids["a"]
	}},
	{"a lane", func(e *engine, service string, lead spec) string {
		lead["lane"], lead["exclusive"] = service, true
		id := e.submit(0, lead)
		e.submit(0, spec{"service": service + "-next", "lane": service, "exclusive": true})
		e.exec(`select weir.open_gates(array[$1], at => $2)`, service, at(0))
		return id
	}},
	{"a pool", func(e *engine, service string, lead spec) string {
		e.exec(`select weir.set_pool($1, 1, at => $2)`, service, at(0))
		lead["pool"] = service
		id := e.submit(0, lead)
		e.submit(0, spec{"service": service + "-next", "pool": service})
		e.exec(`select weir.open_gates(pools => array[$1], at => $2)`, service, at(0))
		return id
	}},
}

// opening are commands beside those of the matrix that let tasks through.
var opening = []command{
	{"fail, to be tried at once", "", `select weir.fail({task}, {attempt}, {token}, 'no', retry_at => {at}, at => {at})`, true},
	{"stop the worker", "", `select weir.stop_worker({service}, at => {at})::text`, false},
	{"widen the pool", "", `select weir.set_pool({service}, 5, at => {at})::text`, false},
	{"drop the pool", "", `select weir.drop_pool({service}, true, at => {at})::text`, false},
	{"cancel the job", "", `select (weir.cancel_job(job, at => {at})).canceled::text from weir.task where id = {task}`, false},
	{"retry the job", "", `select weir.retry_job(job, at => {at})::text from weir.task where id = {task}`, false},
}

// What becomes available is announced in the transaction that made it so,
// whatever did it: a worker that hears hints looks for itself only every 30 s.
func TestWhatOpensIsAnnounced(t *testing.T) {
	t.Parallel()
	e := start(t)
	conn, err := pgx.Connect(t.Context(), e.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `listen weir_available; listen mark`); err != nil {
		t.Fatal(err)
	}
	states := []string{"held", "available", "running", "asked to stop", "failed"}
	var opened []string
	cell := 0
	for _, c := range slices.Concat(commands, opening) {
		if c.name == "claim" {
			continue
		}
		did := false
		for _, f := range followers {
			for _, state := range states {
				cell++
				service := fmt.Sprintf("s%d", cell)
				lead := spec{"service": service, "max_attempts": 2}
				if state == "held" {
					lead["hold"] = "an approval"
				}
				l := nobody(f.put(e, service, lead))
				switch state {
				case "running", "asked to stop", "failed":
					l = one[lease](e, `select task, attempt, token from weir.claim($1, array[$1], 1, at => $2)`, service, at(1))
				}
				switch state {
				case "asked to stop":
					e.exec(`select weir.cancel($1, at => $2)`, l.Task, at(1))
				case "failed":
					e.exec(`select weir.fail($1, $2, $3, 'no', true, at => $4)`, l.Task, l.Attempt, l.Token, at(1))
				}
				heard(e, conn)
				before := available(e)
				when := 2.0
				if c.name == "expire" {
					when = 3600
				}
				_, _ = ask[string](e.Pool, strings.NewReplacer("{task}", "'"+l.Task+"'::uuid", "{attempt}", fmt.Sprint(l.Attempt), "{token}", "'"+l.Token+"'::uuid",
					"{service}", "'"+service+"'", "{at}", "timestamptz '"+at(when).Format(time.RFC3339)+"'").Replace(c.sql)) // refusals are the matrix's
				told := heard(e, conn)
				news := slices.DeleteFunc(available(e), func(a string) bool { return slices.Contains(before, a) })
				if len(news) > 0 {
					did = true
					if !told {
						t.Errorf("%s of a task that is %s and holds back %s: %d tasks became available, and nobody was told", c.name, state, f.name, len(news))
					}
				}
				e.exec(`update weir.running set until = $1 where until < $1`, at(80000)) // this cell's leases are no later cell's
			}
		}
		if did {
			opened = append(opened, c.name)
		}
	}
	want := []string{
		"hold", "release", "finish", "fail", "fail for good", "give back", "snooze", "cancel", "confirm cancel", "retry", "skip",
		"decide it is done", "decide it failed", "decide to skip", "expire", "fail, to be tried at once", "stop the worker", "widen the pool", "drop the pool",
		"retry the job",
	}
	if !slices.Equal(opened, want) {
		t.Errorf("these let something through: %q, want %q", opened, want)
	}
}

// available are the tasks that may be claimed, each in this round of its life.
func available(e *engine) []string {
	e.Helper()
	return all[string](e, `select task || ' ' || attempt from weir.available`)
}

// heard says whether workers were told of new work since the last call.
func heard(e *engine, conn *pgx.Conn) (told bool) {
	e.Helper()
	e.exec(`select pg_notify('mark', '')`)
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Limit)
	defer cancel()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			e.Fatal(err)
		}
		if n.Channel == "mark" {
			return told
		}
		told = true
	}
}
