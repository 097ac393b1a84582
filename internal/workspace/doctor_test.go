package workspace_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/workspace/ladder"
)

// illnesses says how to break each row of the doctor by hand, as no call could.
var illnesses = map[string]string{
	"no more workspaces run than may":                              `update weir.workspaces set desired = 'RUNNING'`,
	"an operation of a workspace has begun, and only then gets on": `update weir.workspaces set op_started_at = null where operation <> 'NONE'`,
	"nothing goes on in a workspace with an error that stands":     `update weir.workspaces set error_reason = 'DataLost' where operation <> 'NONE'`,
	"the archive of a workspace is verified and kept":              `update weir.workspace_archives set orphan_since = now()`,
	"a workspace counts starts and archives forward":               `update weir.workspaces set archive_generation = volume_generation + 1`,
	"a home that was seen is remembered":                           `update weir.workspaces set had_home = false`,
	"everything of workspaces can be seen":                         `select weir.workspace_unknown('{docker}', 'it does not answer')`,
	"workspaces get to where they are wanted":                      `update weir.workspaces set desired_at = now() - interval '1 hour', phase_changed_at = now() - interval '1 hour' where name = 'wants'`,
}

// TestDoctorCanFail breaks each invariant and sees exactly that row go red.
func TestDoctorCanFail(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.running("runs")
	d.running("runs-too")
	kept := d.create("kept", ladder.Archived)
	d.through(kept, ladder.CreateEmptyArchive, ladder.Archived)
	busy := d.standing("busy")
	d.want(busy, ladder.Archived)
	d.begin(busy, ladder.Archiving)
	d.create("wants", ladder.Standby)
	rows, err := d.db.Pool.Query(t.Context(), `select name from weir._doctor_workspaces(now())`)
	d.ok(err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	d.ok(err)
	if len(names) != len(illnesses) {
		t.Fatal(names)
	}
	for _, name := range names {
		tx, err := d.db.Pool.Begin(t.Context())
		d.ok(err)
		if _, err := tx.Exec(t.Context(), illnesses[name]); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows, err := tx.Query(t.Context(), `select name from weir.doctor() where not ok`)
		d.ok(err)
		red, err := pgx.CollectRows(rows, pgx.RowTo[string])
		d.ok(err)
		d.ok(tx.Rollback(t.Context()))
		if !slices.Equal(red, []string{name}) {
			t.Errorf("broken: %s\nred: %v", name, red)
		}
	}
}

// Who lowers a limit lets run what runs, and the doctor knows.
func TestTheDoctorKnowsOfALoweredLimit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.running("one")
	d.running("two")
	d.exec(`select weir.set_workspace_policy('{"per_user": 1, "in_all": 1}', 'ann', at => $1)`, d.now)
	if n := d.count(`select count(*) from weir._doctor_workspaces(now()) where not ok`); n > 0 {
		t.Error("it complains")
	}
}
