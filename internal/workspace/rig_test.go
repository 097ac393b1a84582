package workspace_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// desk is workspaces on a real database without anything that runs them: the test says
// what is seen, and what time it is. Time begins now and goes on with wait.
type desk struct {
	*testing.T
	db    *testdb.DB
	store *workspace.Store
	owner weir.ID
	now   time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	db := testdb.New(t)
	d := &desk{T: t, db: db, store: workspace.New(db.Pool), now: time.Now().Truncate(time.Millisecond)}
	d.owner = d.user("ann")
	return d
}

func (d *desk) user(name string) (id weir.ID) {
	d.Helper()
	d.scan(&id, `insert into weir.users (id, name, role, created_at) values (gen_random_uuid(), $1, 'operator', now()) returning id`, name)
	return id
}

func (d *desk) ok(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *desk) exec(sql string, args ...any) {
	d.Helper()
	if _, err := d.db.Pool.Exec(d.Context(), sql, args...); err != nil {
		d.Fatalf("%s: %v", sql, err)
	}
}

func (d *desk) scan(into any, sql string, args ...any) {
	d.Helper()
	if err := d.db.Pool.QueryRow(d.Context(), sql, args...).Scan(into); err != nil {
		d.Fatalf("%s: %v", sql, err)
	}
}

func (d *desk) count(sql string, args ...any) (n int) {
	d.Helper()
	d.scan(&n, sql, args...)
	return n
}

// id is some other id.
func (d *desk) id() (id weir.ID) {
	d.Helper()
	d.scan(&id, `select gen_random_uuid()`)
	return id
}

func (d *desk) wait(span time.Duration) { d.now = d.now.Add(span) }

// refuses runs a statement that must be refused, and gives the problem.
func (d *desk) refuses(kind problem.Kind, sql string, args ...any) *problem.Problem {
	d.Helper()
	_, err := d.db.Pool.Exec(d.Context(), sql, args...)
	return d.problem(kind, err)
}

func (d *desk) problem(kind problem.Kind, err error) *problem.Problem {
	d.Helper()
	if err == nil {
		d.Fatal("it was not refused")
	}
	p := problem.Explain(err)
	if p.Kind != kind {
		d.Fatalf("it is %s and not %s: %v", p.Kind.Code(), kind.Code(), err)
	}
	return p
}

// create makes a workspace at the time that it is.
func (d *desk) create(name string, desired ladder.Phase) (id weir.ID) {
	d.Helper()
	d.scan(&id, `select weir.workspace_create($1, $2, 'process', desired => $3, by => 'ann', at => $4)`, d.owner, name, desired, d.now)
	return id
}

func (d *desk) get(id weir.ID) workspace.Workspace {
	d.Helper()
	w, err := d.store.Workspace(d.Context(), id)
	d.ok(err)
	return w
}

func (d *desk) want(id weir.ID, phase ladder.Phase) {
	d.Helper()
	d.exec(`select weir.workspace_want($1, $2, 'ann', at => $3)`, id, phase, d.now)
}

// see is a look that shows a workspace with a volume, a container or an archive.
func (d *desk) see(id weir.ID, phase ladder.Phase, mounted ...int64) {
	d.Helper()
	at, rung := phase.Level()
	volume, archive := rung && at >= 10, phase == ladder.Archived
	c := ladder.Conditions{Volume: ladder.Condition{Status: volume}, Archive: ladder.Condition{Status: archive}, Container: ladder.Condition{Status: phase == ladder.Running}, Healthy: ladder.Condition{Status: phase != ladder.Error}}
	row := map[string]any{"id": id, "conditions": c, "phase": phase, "generation": d.get(id).Generation}
	if len(mounted) > 0 {
		row["mounted"] = mounted[0]
	}
	text, err := json.Marshal([]any{row})
	d.ok(err)
	d.exec(`select weir.workspace_see($1, at => $2)`, text, d.now)
}

func (d *desk) begin(id weir.ID, op ladder.Operation) (made *weir.ID) {
	d.Helper()
	d.scan(&made, `select weir.workspace_begin($1, $2, $3, at => $4)`, id, op, d.get(id).Generation, d.now)
	return made
}

// end is one of complete (no reason) and a failure.
func (d *desk) end(id weir.ID, op *weir.ID, reason ladder.Reason, says string) (changed bool) {
	d.Helper()
	d.scan(&changed, `select weir.workspace_end($1, $2, nullif($3, ''), nullif($4, ''), terminal => $5, at => $6)`, id, op, reason, says, reason.Terminal(), d.now)
	return changed
}

// through does one operation from begin to end, and sees what it is for.
func (d *desk) through(id weir.ID, op ladder.Operation, phase ladder.Phase, mounted ...int64) *weir.ID {
	d.Helper()
	made := d.begin(id, op)
	if made == nil {
		d.Fatalf("%s did not begin: %+v", op, d.get(id))
	}
	if op == ladder.Archiving || op == ladder.CreateEmptyArchive {
		d.archived(id, *made, d.get(id).Mounted)
	}
	d.see(id, phase, mounted...)
	if !d.end(id, made, "", "") {
		d.Fatalf("%s did not end", op)
	}
	return made
}

func (d *desk) archived(id, op weir.ID, mounted int64) (counts bool) {
	d.Helper()
	d.scan(&counts, `select weir.workspace_archived($1, $2, $3, '{"format": 1, "sha256": "x", "size": 1, "entries": 1, "bytes": 0}', $4, at => $5)`, id, op, d.key(id, op), mounted, d.now)
	return counts
}

func (d *desk) key(id, op weir.ID) string {
	return fmt.Sprintf("workspaces/%s/%s/home.tar.zst", id, op)
}

// running makes one that runs.
func (d *desk) running(name string) weir.ID {
	d.Helper()
	id := d.create(name, ladder.Running)
	d.through(id, ladder.Provisioning, ladder.Standby, 0)
	d.through(id, ladder.Starting, ladder.Running, 1)
	return id
}

// standing makes one that stands by.
func (d *desk) standing(name string) weir.ID {
	d.Helper()
	id := d.create(name, ladder.Standby)
	d.through(id, ladder.Provisioning, ladder.Standby, 0)
	return id
}

// expire is a pass of the clock. It gives how many it told to rest.
func (d *desk) expire(alive ...weir.ID) (n int) {
	d.Helper()
	if alive == nil {
		alive = []weir.ID{}
	}
	d.scan(&n, `select weir.workspace_expire($1, at => $2)`, alive, d.now)
	return n
}

// events are the types of what the timeline tells of a workspace, oldest first.
func (d *desk) events(id weir.ID) (types []string) {
	d.Helper()
	rows, err := d.db.Pool.Query(d.Context(), `select e.type from weir.events e where e.kind = 'workspace' and e.subject = $1 order by e.seq`, id.String())
	d.ok(err)
	types, err = pgx.CollectRows(rows, pgx.RowTo[string])
	d.ok(err)
	return types
}

// entries are what the timeline tells of a workspace, newest first.
func (d *desk) entries(id weir.ID) []workspace.Entry {
	d.Helper()
	all, err := d.store.Log(d.Context(), id, view.Page{Limit: 1000})
	d.ok(err)
	return all
}
