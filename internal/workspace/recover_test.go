package workspace_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// cycle starts a workspace, writes into it, and archives it. It gives the key.
func (r *rig) cycle(id weir.ID, text string) string {
	r.Helper()
	r.want(id, ladder.Running)
	r.reach(id, ladder.Running)
	r.write(id, "work.txt", text)
	r.want(id, ladder.Archived)
	return r.reach(id, ladder.Archived).ArchiveKey
}

// An older archive brings the home back when the newest one is broken.
func TestRecoverFromAnOlderArchive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.create("one", ladder.Archived)
	r.reach(id, ladder.Archived)
	first, second := r.cycle(id, "first"), r.cycle(id, "second")
	_, err := r.bucket.Put(t.Context(), second, strings.NewReader("broken"), 6, "")
	r.ok(err)
	r.want(id, ladder.Running)
	if w := r.reach(id, ladder.Error); w.Error != ladder.ArchiveCorrupted {
		t.Fatalf("%+v", w)
	}
	changed, err := r.store.RecoverFrom(t.Context(), id, "ann", "the one before", first)
	if r.ok(err); !changed {
		t.Error("nothing has changed")
	}
	w := r.reach(id, ladder.Running)
	r.holds(id, "work.txt", "first")
	if w.ArchiveKey != first {
		t.Errorf("%+v", w)
	}
	if e := mustLog(r, id); !strings.Contains(e[len(e)-1].Type, "created") {
		t.Errorf("%+v", e)
	}
	// What it becomes is archived as ever.
	if third := r.cycle(id, "third"); third == first || third == second {
		t.Error("an archive was written again")
	}
}

// The last archive brings the home back when the volume that was in use after it is lost.
func TestRecoverFromTheArchiveBeforeTheLoss(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.create("one", ladder.Archived)
	r.reach(id, ladder.Archived)
	key := r.cycle(id, "archived")
	r.want(id, ladder.Running)
	r.reach(id, ladder.Running)
	r.write(id, "work.txt", "lost")
	r.want(id, ladder.Standby)
	r.reach(id, ladder.Standby)
	r.ok(r.provider.Remove(t.Context(), id, r.look().Volumes[id]))
	if w := r.reach(id, ladder.Error); w.Error != ladder.DataLost {
		t.Fatalf("%+v", w)
	}
	_, err := r.store.RecoverFrom(t.Context(), id, "ann", "", key)
	r.ok(err)
	r.want(id, ladder.Running)
	r.reach(id, ladder.Running)
	r.holds(id, "work.txt", "archived")
}

// An archive of which nobody knows, of another workspace, or that nobody has verified
// brings nothing back; neither does any while something is under way, or the home is there.
func TestRecoverFromIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	keep := func(name string) (id weir.ID, key string) {
		t.Helper()
		id = d.standing(name)
		d.want(id, ladder.Archived)
		key = d.key(id, *d.through(id, ladder.Archiving, ladder.Archived))
		d.want(id, ladder.Standby)
		d.through(id, ladder.Restoring, ladder.Standby, d.get(id).Mounts)
		return id, key
	}
	id, mine := keep("one")
	_, theirs := keep("two")
	from := func(key string) (bool, error) { return d.store.RecoverFrom(t.Context(), id, "ann", "", key) }

	if _, err := from(mine); !strings.Contains(d.problem(problem.Conflict, err).What, "it has no error") {
		t.Error(err)
	}
	d.want(id, ladder.Running)
	op := d.begin(id, ladder.Starting)
	d.end(id, op, ladder.ActionFailed, "no port left")
	_, err := from(mine)
	if p := d.problem(problem.Conflict, err); !strings.HasPrefix(p.What, "STARTING is under way") {
		t.Errorf("%+v", p)
	}
	d.end(id, op, ladder.Timeout, "it hangs")
	_, err = from(mine)
	if p := d.problem(problem.Conflict, err); !strings.HasPrefix(p.What, "its home is there") {
		t.Errorf("%+v", p)
	}
	d.exec(`update weir.workspaces set error_reason = 'DataLost' where id = $1`, id)
	d.see(id, ladder.Error)
	stray := d.key(id, d.id())
	d.exec(`insert into weir.workspace_archives (key, workspace, orphan_since) values ($1, $2, now())`, stray, id)
	for _, bad := range []string{"home.tar.zst", theirs, stray, mine + ".meta", strings.ToUpper(mine)} {
		_, err := from(bad)
		if p := d.problem(problem.Invalid, err); !strings.Contains(p.What, "no such archive of it") {
			t.Errorf("%s: %+v", bad, p)
		}
	}
	if w := d.get(id); w.Error != ladder.DataLost || w.ArchiveKey != mine {
		t.Errorf("a refusal has changed something: %+v", w)
	}
	if changed, err := from(mine); err != nil || !changed {
		t.Errorf("%v, %v", changed, err)
	}
	_, err = d.store.RecoverFrom(t.Context(), d.id(), "ann", "", mine)
	d.problem(problem.NotFound, err)
	d.want(id, ladder.Deleted)
	_, err = from(mine)
	d.problem(problem.NotFound, err)
}

// condemn asks which of the archives may go; all have been stored at once.
func (d *desk) condemn(id weir.ID, keys ...string) (gone []string, err error) {
	listed := []map[string]any{}
	for _, key := range keys {
		listed = append(listed, map[string]any{"key": key, "workspace": id, "op": strings.Split(key, "/")[2], "whole": true, "at": d.now})
	}
	text, err := json.Marshal(listed)
	if err == nil {
		err = d.db.Pool.QueryRow(context.WithoutCancel(d.Context()), `select weir.workspace_orphans($1, 0, at => $2)`, text, d.now).Scan(&gone)
	}
	return gone, err
}

// A person comes back to an archive at the moment that it is collected: who is first wins,
// and never does a home come back from what is about to go.
func TestRecoverFromWhatIsCollected(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]bool{"the person is first": true, "the collector is first": false} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			id := d.standing("one")
			var keys []string
			for range 2 {
				d.want(id, ladder.Archived)
				keys = append(keys, d.key(id, *d.through(id, ladder.Archiving, ladder.Archived)))
				d.want(id, ladder.Standby)
				d.through(id, ladder.Restoring, ladder.Standby, d.get(id).Mounts)
			}
			d.end(id, nil, ladder.DataLost, "it is gone")
			d.see(id, ladder.Error)
			if gone, err := d.condemn(id, keys...); err != nil || len(gone) > 0 {
				t.Fatalf("%v, %v", gone, err)
			}
			d.wait(3 * time.Hour)
			if !first {
				if gone, err := d.condemn(id, keys...); err != nil || len(gone) != 1 || gone[0] != keys[0] {
					t.Fatalf("%v, %v", gone, err)
				}
				_, err := d.store.RecoverFrom(t.Context(), id, "ann", "", keys[0])
				d.problem(problem.Invalid, err)
				return
			}
			tx, err := d.db.Pool.Begin(t.Context())
			d.ok(err)
			_, err = tx.Exec(t.Context(), `select weir.workspace_recover($1, 'ann', archive => $2)`, id, keys[0])
			d.ok(err)
			done := make(chan []string, 1)
			go func() {
				gone, err := d.condemn(id, keys...)
				if err != nil {
					t.Error(err)
				}
				done <- gone
			}()
			testwait.Until(t, "the collector waits", func() bool {
				return d.count(`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`) > 0
			})
			d.ok(tx.Commit(t.Context()))
			if gone := <-done; len(gone) > 0 {
				t.Errorf("%v goes, and it is the home", gone)
			}
			if w := d.get(id); w.ArchiveKey != keys[0] {
				t.Errorf("%+v", w)
			}
		})
	}
}

// What nobody has looked at yet is not wrong for that.
func TestNothingSeenIsNothingWrong(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	w := d.get(d.create("one", ladder.Standby))
	if c := w.Seen(); !c.Healthy.Status || c.Volume.Status || c.Archive.Status || c.Container.Status {
		t.Errorf("%+v", c)
	}
	if c := (&workspace.Workspace{}).Seen(); !c.Healthy.Status {
		t.Errorf("%+v", c)
	}
}
