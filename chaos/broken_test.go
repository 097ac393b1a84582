//go:build unix

package chaos

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/schema"
)

// edit removes a guard from one function. guard must occur in its file exactly once: if
// the function is rewritten, the edit fails instead of changing nothing.
type edit struct{ function, guard, instead string }

const fence = ` and r.attempt = g.attempt and r.token = g.token`

// brokenBuilds are engines without one of their guards, each with the run that needs it.
// The run must find nothing on the real engine.
var brokenBuilds = []struct {
	name  string
	edits []edit
	run   func(r *run, broken bool) []Finding
}{
	{
		name:  "no token check in finish",
		edits: []edit{{"finish_many", fence, ` and r.attempt = g.attempt`}},
		run:   forgedToken,
	}, {
		name:  "no attempt check in finish",
		edits: []edit{{"finish_many", fence, ` and r.token = g.token`}},
		run:   forgedAttempt,
	}, {
		name:  "no fence in finish",
		edits: []edit{{"finish_many", fence, ``}},
		run:   func(r *run, _ bool) []Finding { return pausedAt(r, "finish") },
	}, {
		name:  "no fence in renew",
		edits: []edit{{"renew", fence + "\n    returning r.task, r.attempt,", ` returning r.task, g.attempt,`}},
		run:   func(r *run, _ bool) []Finding { return pausedAt(r, "renew") },
	}, {
		name:  "expiry ignores until",
		edits: []edit{{"_expire", `where (x.until < t or x.deadline < t) and (just is null`, `where (just is null`}},
		run:   longWork,
	}, {
		name: "pool counted without its lock",
		edits: []edit{{"_open_pools", `names := held
    || weir._lock_keys(array(select n from unnest(names) n where held is null or n <> all (held)), false, patient, t);`, ``}},
		run: racedPool,
	}, {
		name:  "lane opened without its lock",
		edits: []edit{{"_open", `todo := case when locked then lanes else weir._lock_keys(lanes, true, patient, t) end;`, `todo := lanes;`}},
		run:   racedLane,
	}, {
		name: "NOTIFY-only wake",
		run:  deafWorker,
	}, {
		name: "finish without its event",
		edits: []edit{{"finish_many", `, e as (
    insert into weir.events (at, type, worker, attempt, job, tasks)
    select t, 'done', d.worker, d.attempt, d.job, array_agg(d.task) from d group by d.worker, d.attempt, d.job
  )`, ``}},
		run: quietWork,
	}, {
		name:  "leader without the epoch fence",
		edits: []edit{{"fenced", `if now_epoch is distinct from fenced.epoch then`, `if false then`}},
		run:   oldLeader,
	}, {
		name:  "planned without a look at the gate",
		edits: []edit{{"_lock_at_plan", `if p.gate is distinct from 'plan' then`, `if p.task is null then`}},
		run:   latePlan,
	}, {
		name: "work without a leash",
		run:  unleashed,
	}, {
		name: "adoption without asking",
		run:  blindAdoption,
	},
}

// TestBrokenBuild tests the checker: it finds the fault of each broken build, and the
// same run on the real engine is clean.
func TestBrokenBuild(t *testing.T) {
	t.Parallel()
	for _, b := range brokenBuilds {
		t.Run(strings.ReplaceAll(b.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			if found := b.run(newRun(t), false); len(found) > 0 {
				t.Errorf("the real engine is accused: %s", Report(found))
			}
			// Where the machine is slow, a run may pass by the moment at which the fault shows.
			began := time.Now()
			var found []Finding
			for tries := 0; len(found) == 0; tries++ {
				if tries == 3 {
					t.Fatal("nobody noticed")
				}
				r := newRun(t)
				for _, e := range b.edits {
					r.apply(e)
				}
				found = b.run(r, true)
			}
			t.Logf("found in %s: %s", time.Since(began).Round(time.Millisecond), strings.Join(rules(found), "; "))
		})
	}
}

// apply replaces a function of the run's database.
func (r *run) apply(e edit) {
	r.Helper()
	text, err := e.edited()
	if err != nil {
		r.Fatal(err)
	}
	r.exec(text, pgx.QueryExecModeSimpleProtocol)
}

// edited returns the function without its guard.
func (e edit) edited() (string, error) {
	files, err := fs.Glob(schema.FS, "functions/*/"+e.function+".sql")
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("weir.%s: %v %w", e.function, files, err)
	}
	text, err := fs.ReadFile(schema.FS, files[0])
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), e.guard); n != 1 {
		return "", fmt.Errorf("weir.%s has the guard %d times, not once: write the edit anew for the function as it is now\n%s", e.function, n, e.guard)
	}
	return strings.Replace(string(text), e.guard, e.instead, 1), nil
}

// The builds that only a long run breaks are as current as the others.
func TestEditsAreCurrent(t *testing.T) {
	t.Parallel()
	var edits []edit
	for _, b := range brokenBuilds {
		edits = append(edits, b.edits...)
	}
	for _, b := range brokenRollouts {
		edits = append(edits, b.edit)
	}
	for _, b := range brokenHouses {
		edits = append(edits, b.edits...)
	}
	for _, e := range edits {
		if _, err := e.edited(); err != nil {
			t.Error(err)
		}
	}
}
