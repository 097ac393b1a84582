package workspace_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Three tries with a growing pause, then a person: phase, operation and reason at once.
func TestThreeTriesThenAPerson(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.standing("one")
	d.want(id, ladder.Running)
	op := d.begin(id, ladder.Starting)
	for try, pause := range []struct{ least, most time.Duration }{{2500 * time.Millisecond, 5 * time.Second}, {5 * time.Second, 10 * time.Second}} {
		if !d.end(id, op, ladder.ActionFailed, "no port left") {
			t.Fatal("the failure is not noted")
		}
		w := d.get(id)
		if w.Phase != ladder.Standby || w.Operation != ladder.Starting || *w.Op != *op || w.Error != ladder.ActionFailed || w.Errors != try+1 || w.OpRetry == nil {
			t.Fatalf("after try %d: %+v", try+1, w)
		}
		if p := w.OpRetry.Sub(d.now); p < pause.least || p > pause.most {
			t.Errorf("pause %d is %s", try+1, p)
		}
		if next := w.Next(d.now, false); next == nil || next.What != "retries" || !next.At.Equal(*w.OpRetry) {
			t.Errorf("next: %+v", next)
		}
	}
	d.end(id, op, ladder.Unreachable, "it does not answer")
	w := d.get(id)
	if w.Phase != ladder.Error || w.Operation != ladder.None || w.Op != nil || w.Error != ladder.RetryExceeded || w.ErrorSays != "it does not answer" || w.Errors != 3 || !w.PhaseAt.Equal(d.now) {
		t.Errorf("%+v", w)
	}
	if e := d.entries(id)[0]; e.Type != "failed" || e.Level != "error" || e.Reason != ladder.RetryExceeded || e.Operation != ladder.Starting || *e.Op != *op {
		t.Errorf("the timeline says %+v", e)
	}
	if d.end(id, op, ladder.ActionFailed, "again") || d.end(id, op, "", "") {
		t.Error("an operation that is over ends again")
	}
}

// A reason that will not heal is an error at once. It stands, whatever is seen or wanted,
// until a person recovers it; only to be gone can be wanted.
func TestWhatWillNotHealStands(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i, reason := range ladder.Reasons {
		if !reason.Terminal() {
			continue
		}
		id := d.standing("w" + string(rune('a'+i)))
		d.want(id, ladder.Archived)
		op := d.begin(id, ladder.Archiving)
		d.end(id, op, reason, "it is broken")
		w := d.get(id)
		if w.Phase != ladder.Error || w.Operation != ladder.None || w.Error != reason || w.ArchiveOp == nil || *w.ArchiveOp != *op {
			t.Errorf("%s: %+v", reason, w)
		}
		p := d.refuses(problem.Conflict, `select weir.workspace_want($1, 'RUNNING', 'ann')`, id)
		if !strings.Contains(p.What, string(reason)) || !strings.Contains(p.Next, "recover") {
			t.Errorf("%+v", p)
		}
		// A look judges by the record, and the record says what stands.
		if _, phase, step := ladder.Decide(ladder.Record{Desired: w.Desired, Operation: w.Operation, HadHome: true, Error: w.Error}, ladder.Seen{Volume: true, Marker: ladder.Fresh}); phase != ladder.Error || step.Act != ladder.Rest {
			t.Errorf("%s: %s, %+v", reason, phase, step)
		}
		if i%2 == 0 {
			d.want(id, ladder.Deleted)
			continue
		}
		changed, err := d.store.Recover(t.Context(), id, "ann", "mended", false)
		d.ok(err)
		if w := d.get(id); !changed || w.Error != "" || w.Errors != 0 || w.ErrorSays != "" || w.Operation != ladder.None || w.ArchiveOp == nil {
			t.Errorf("recovered: %v, %+v", changed, w)
		}
		if e := d.entries(id)[0]; e.Type != "recovered" || e.By != "ann" || e.Message != "mended" {
			t.Errorf("%+v", e)
		}
		d.see(id, ladder.Standby, 0)
		if w := d.get(id); w.Phase != ladder.Standby {
			t.Errorf("%+v", w)
		}
		if changed, err := d.store.Recover(t.Context(), id, "ann", "", false); err != nil || changed {
			t.Errorf("there is nothing to recover from: %v, %v", changed, err)
		}
	}
}

// One in error can be told to rest, so that it holds no place; it keeps its error. While
// its container is seen, and to start it, a person has to see to it first.
func TestOneInErrorGivesBackItsPlace(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, err := d.store.SetPolicy(t.Context(), "ann", workspace.PolicyChange{PerUser: new(1)})
	d.ok(err)
	for _, rest := range []ladder.Phase{ladder.Standby, ladder.Archived} {
		id := d.running("w-" + strings.ToLower(string(rest)))
		d.exec(`select weir.workspace_end($1, null, 'RetryExceeded', 'no', terminal => true, wanted => $2, at => $3)`, id, d.get(id).Generation, d.now)
		d.refuses(problem.Conflict, `select weir.workspace_want($1, $2)`, id, rest)
		d.see(id, ladder.Error)
		d.refuses(problem.TooMany, `select weir.workspace_create($1, 'next', 'process')`, d.owner)
		d.want(id, rest)
		if w := d.get(id); w.Desired != rest || w.Phase != ladder.Error || w.Error != ladder.RetryExceeded {
			t.Errorf("%+v", w)
		}
		d.refuses(problem.Conflict, `select weir.workspace_want($1, 'RUNNING')`, id)
		// The place is free.
		d.exec(`select weir._workspace_room($1, null)`, d.owner)
	}
}

// Who gives up what is lost of one that has lost nothing is told so.
func TestNothingIsGivenUpWithoutAnError(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.running("one")
	_, err := d.store.Recover(t.Context(), id, "ann", "", true)
	if p := d.problem(problem.Conflict, err); !strings.Contains(p.What, "it has no error") || p.Next == "" {
		t.Errorf("%+v", p)
	}
	_, err = d.store.RecoverFrom(t.Context(), id, "ann", "", "key")
	d.problem(problem.Conflict, err)
}

// A wrong image can be mended, also in error. Only docker has images.
func TestAnotherImage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id, _, err := d.store.Create(t.Context(), "ann", workspace.Draft{Owner: d.owner, Name: "one", Provider: "docker", Image: "wrong"})
	d.ok(err)
	d.exec(`select weir.workspace_end($1, null, 'ImagePullFailed', 'no', terminal => true, wanted => $2, at => $3)`, id, d.get(id).Generation, d.now)
	for _, image := range []string{"right", ""} {
		if changed, err := d.store.Patch(t.Context(), id, "ann", workspace.Change{Image: &image}); err != nil || !changed || d.get(id).Image != image || d.get(id).Error == "" {
			t.Errorf("%q: %v, %v", image, changed, err)
		}
		if changed, err := d.store.Patch(t.Context(), id, "ann", workspace.Change{Image: &image}); err != nil || changed {
			t.Errorf("%q again: %v, %v", image, changed, err)
		}
	}
	_, err = d.store.Patch(t.Context(), id, "ann", workspace.Change{Image: new(strings.Repeat("x", 513))})
	d.problem(problem.Invalid, err)
	_, _, err = d.store.Create(t.Context(), "ann", workspace.Draft{Owner: d.owner, Name: "two", Provider: "process", Image: "any"})
	if p := d.problem(problem.Invalid, err); !strings.HasPrefix(p.What, "image: ") || !strings.Contains(p.Next, "choose docker") {
		t.Errorf("%+v", p)
	}
	near := d.standing("near")
	_, err = d.store.Patch(t.Context(), near, "ann", workspace.Change{Image: new("any")})
	if p := d.problem(problem.Invalid, err); !strings.HasPrefix(p.What, "image: ") {
		t.Errorf("%+v", p)
	}
	if changed, err := d.store.Patch(t.Context(), near, "ann", workspace.Change{Image: new("")}); err != nil || changed {
		t.Errorf("%v, %v", changed, err)
	}
}

// What was found before a person has recovered it, or wanted something else, counts no more.
func TestAnOldLookDoesNotUndoARecovery(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.standing("one")
	fail := func(generation int64) (noted bool) {
		d.scan(&noted, `select weir.workspace_end($1, null, 'DataLost', 'it is gone', terminal => true, wanted => $2, at => $3)`, id, generation, d.now)
		return noted
	}
	was := d.get(id).Generation
	if !fail(was) {
		t.Fatal("the error is not noted")
	}
	d.see(id, ladder.Error)
	_, err := d.store.Recover(t.Context(), id, "ann", "", true)
	d.ok(err)
	if fail(was) || d.get(id).Error != "" {
		t.Error("what an old look has found is noted")
	}
}

// While something is under way nothing else begins, and nothing else can be wanted.
func TestNothingElseBeginsMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.standing("one")
	d.want(id, ladder.Running)
	if d.begin(id, ladder.Starting) == nil {
		t.Fatal("it does not begin")
	}
	if d.begin(id, ladder.Archiving) != nil {
		t.Error("two operations are under way")
	}
	p := d.refuses(problem.Conflict, `select weir.workspace_want($1, 'STANDBY', 'ann')`, id)
	if !strings.HasPrefix(p.What, "STARTING is under way since ") {
		t.Errorf("%q", p.What)
	}
	d.refuses(problem.Conflict, `select weir.workspace_want($1, 'DELETED', 'ann')`, id)
	if changed, err := d.store.Want(t.Context(), id, ladder.Running, "ann", ""); err != nil || changed {
		t.Errorf("what is wanted already: %v, %v", changed, err)
	}
}

// Whoever looked before compares: if somebody else was faster, nothing changes.
func TestWhoIsLateChangesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.standing("one")
	d.want(id, ladder.Archived)
	_, err := d.store.WantFrom(t.Context(), id, ladder.Standby, ladder.Running, "proxy", "")
	d.problem(problem.Conflict, err)
	if changed, err := d.store.WantFrom(t.Context(), id, ladder.Archived, ladder.Running, "proxy", "opened"); err != nil || !changed || d.get(id).DesiredBy != "proxy" {
		t.Errorf("%v, %v", changed, err)
	}
	// An operation that was planned for what was wanted before does not begin.
	var made *weir.ID
	d.scan(&made, `select weir.workspace_begin($1, 'ARCHIVING', $2)`, id, d.get(id).Generation-1)
	if made != nil {
		t.Error("what nobody wants any more begins")
	}
	// What another operation came to says nothing about the one under way.
	op, other := d.begin(id, ladder.Starting), d.id()
	if d.end(id, &other, "", "") || d.end(id, &other, ladder.Timeout, "late") || d.end(id, nil, ladder.DataLost, "late") {
		t.Error("the end of another operation counts")
	}
	if !d.end(id, op, "", "") {
		t.Error("the operation is not under way any more")
	}
	for _, bad := range []string{`'PENDING'`, `'ERROR'`, `null`, `'running'`} {
		d.refuses(problem.Invalid, `select weir.workspace_want($1, `+bad+`)`, id)
	}
	d.refuses(problem.NotFound, `select weir.workspace_want(gen_random_uuid(), 'RUNNING')`)
	d.want(id, ladder.Deleted)
	d.refuses(problem.NotFound, `select weir.workspace_want($1, 'RUNNING')`, id)
	if changed, err := d.store.Delete(t.Context(), id, "ann", ""); err != nil || changed {
		t.Errorf("deleted twice: %v, %v", changed, err)
	}
}

// Everything that happens is told, in order.
func TestTheTimelineTellsALife(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.running("one")
	d.patch(id, `{"description": "mine"}`)
	d.busy(id, time.Hour)
	d.want(id, ladder.Archived)
	d.through(id, ladder.Stopping, ladder.Standby, 1)
	d.through(id, ladder.Archiving, ladder.Archived)
	d.want(id, ladder.Deleted)
	d.through(id, ladder.DeletingAll, ladder.Deleted)
	want := []string{
		"created", "began", "phase", "completed", "began", "phase", "completed", "changed", "busy", "wanted", "began", "phase", "completed", "began", "archived", "phase", "completed",
		"wanted", "began", "phase", "completed",
	}
	if got := d.events(id); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	w := d.get(id)
	if w.Phase != ladder.Deleted || w.DeletedAt == nil {
		t.Errorf("%+v", w)
	}
}
