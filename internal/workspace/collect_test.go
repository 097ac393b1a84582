package workspace_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// yard is a bucket with archives, and the loop that collects what nobody needs.
type yard struct {
	*desk
	bucket *downBucket
	term   *term
}

func newYard(t *testing.T) *yard {
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	y := &yard{desk: newDesk(t), bucket: &downBucket{Bucket: blobtest.Folder(t)}, term: &term{Context: ctx, end: end}}
	y.put(bucketMark)
	return y
}

func loopOf(t *testing.T, name string, config workspace.Config, m *term) loop.Loop {
	t.Helper()
	loops := workspace.Loops(config, m)
	i := slices.IndexFunc(loops, func(l loop.Loop) bool { return l.Name == name })
	if i < 0 {
		t.Fatalf("there is no loop %s", name)
	}
	return loops[i]
}

func (y *yard) collect() error {
	y.Helper()
	l := loopOf(y.T, "workspace archives", workspace.Config{Pool: y.db.Pool, Bucket: y.bucket, Now: func() time.Time { return y.now }}, y.term)
	_, err := l.Tick(y.Context(), y.now)
	return err
}

func (y *yard) put(key string) {
	y.Helper()
	_, err := y.bucket.Bucket.Put(y.Context(), key, strings.NewReader("x"), 1, "")
	y.ok(err)
}

// stored archives a workspace that stands by, with its objects, and brings it back.
func (y *yard) stored(id weir.ID) (key string) {
	y.Helper()
	y.want(id, ladder.Archived)
	key = y.key(id, *y.through(id, ladder.Archiving, ladder.Archived))
	y.put(key)
	y.put(key + ".meta")
	y.want(id, ladder.Standby)
	y.through(id, ladder.Restoring, ladder.Standby, y.get(id).Mounts)
	return key
}

func (y *yard) there(keys ...string) (n int) {
	y.Helper()
	for _, key := range keys {
		for _, part := range []string{key, key + ".meta"} {
			_, err := y.bucket.Stat(y.Context(), part)
			switch {
			case err == nil:
				n++
			case !errors.Is(err, blob.ErrNotFound):
				y.Fatal(err)
			}
		}
	}
	return n
}

// passes lets so much time pass, and collects.
func (y *yard) passes(d time.Duration) {
	y.Helper()
	y.wait(d)
	y.ok(y.collect())
}

// Of six archives the newest three stay, and the others go when nobody has needed them
// for two hours: not before, and not by one look.
func TestOldArchivesGoAfterAWhile(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.standing("one")
	var keys []string
	for range 6 {
		y.wait(time.Minute)
		keys = append(keys, y.stored(id))
		loop.Wait(t.Context(), 10*time.Millisecond, nil) // so that the next one is newer
	}
	y.passes(24 * time.Hour)
	if n := y.there(keys...); n != 12 {
		t.Fatalf("after the first look %d are left", n)
	}
	y.passes(2 * time.Hour)
	if n := y.there(keys...); n != 12 {
		t.Fatalf("after two hours %d are left", n)
	}
	y.passes(time.Second)
	if n, old := y.there(keys[3:]...), y.there(keys[:3]...); n != 6 || old != 0 {
		t.Errorf("%d of the new and %d of the old are left", n, old)
	}
	all, err := y.store.Archives(t.Context(), id)
	if y.ok(err); len(all) != 3 || !all[0].Current || all[0].Key != keys[5] || all[0].OrphanSince != nil {
		t.Errorf("%+v", all)
	}
	if n := y.count(`select count(*) from weir.events where kind = 'workspace' and type = 'collected' and subject = $1`, id.String()); n != 3 {
		t.Errorf("%d were told", n)
	}
	y.passes(24 * time.Hour)
	if n := y.there(keys[3:]...); n != 6 {
		t.Errorf("%d are left later", n)
	}
}

// What is needed stays, however old: the archive of each workspace, in error too, and what
// the last archiving wrote. What is not ours stays as well.
func TestWhatIsNeededStays(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	_, err := y.store.SetPolicy(t.Context(), "ann", workspace.PolicyChange{PerUser: new(10)})
	y.ok(err)
	// Its archive is older than three others, which nobody has verified.
	id := y.standing("old")
	needed := []string{y.stored(id)}
	var strays []string
	for range 4 {
		loop.Wait(t.Context(), 10*time.Millisecond, nil)
		stray := y.key(id, y.id())
		y.put(stray)
		y.put(stray + ".meta")
		strays = append(strays, stray)
	}
	failed := y.standing("failed")
	needed = append(needed, y.stored(failed))
	y.want(failed, ladder.Running)
	y.end(failed, y.begin(failed, ladder.Starting), ladder.DataLost, "it is gone")
	// Being archived, and failed while being archived: half of it is there.
	var halves []string
	for _, name := range []string{"under-way", "cut-off"} {
		id := y.standing(name)
		y.want(id, ladder.Archived)
		op := y.begin(id, ladder.Archiving)
		halves = append(halves, y.key(id, *op))
		if name == "cut-off" {
			y.end(id, op, ladder.Timeout, "it hangs")
		}
	}
	// On its way to be deleted, and not deleted yet.
	going := y.standing("going")
	needed = append(needed, y.stored(going))
	y.want(going, ladder.Deleted)
	y.begin(going, ladder.DeletingAll)
	others := []string{"workspaces/" + y.id().String() + "/" + y.id().String() + "/home.tar.zst", "workspaces/readme", "workspaces/" + id.String() + "/notes/home.tar.zst", "outputs/x"}
	for _, key := range slices.Concat(halves, others) {
		y.put(key)
	}
	for range 5 {
		y.passes(24 * time.Hour)
	}
	if n := y.there(needed...); n != 6 {
		t.Errorf("%d parts of what is needed are left", n)
	}
	if n := y.there(slices.Concat(halves, others)...); n != 6 {
		t.Errorf("%d of what is half there or not ours are left", n)
	}
	if n := y.there(strays...); n != 6 {
		t.Errorf("%d parts of four others are left, want the newest three", n)
	}
}

// When a workspace is gone, so are its archives, after a while.
func TestArchivesOfADeletedWorkspaceGo(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.standing("one")
	key := y.stored(id)
	y.want(id, ladder.Deleted)
	y.through(id, ladder.DeletingAll, ladder.Deleted)
	y.passes(time.Hour)
	y.passes(time.Hour)
	if n := y.there(key); n != 2 {
		t.Errorf("%d parts are left too soon", n)
	}
	y.passes(2 * time.Hour)
	if n := y.there(key); n != 0 {
		t.Errorf("%d parts are left", n)
	}
}

// An archive that somebody needs again is no orphan: its time begins anew.
func TestAnOrphanThatIsNeededAgain(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.standing("one")
	var keys []string
	for range 4 {
		keys = append(keys, y.stored(id))
		loop.Wait(t.Context(), 10*time.Millisecond, nil)
	}
	y.passes(time.Hour) // the first one is an orphan now
	y.exec(`update weir.workspaces set error_reason = 'DataLost', phase = 'ERROR', conditions = '{}' where id = $1`, id)
	_, err := y.store.RecoverFrom(t.Context(), id, "ann", "the last good one", keys[0])
	y.ok(err)
	y.passes(3 * time.Hour)
	if n := y.there(keys...); n != 8 {
		t.Errorf("%d parts are left", n)
	}
	if n := y.count(`select count(*) from weir.workspace_archives where orphan_since is not null`); n != 0 {
		t.Errorf("%d are orphans", n)
	}
}

// Without a whole list, or without the database, nothing goes.
func TestWhoCannotSeeCollectsNothing(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.standing("one")
	key := y.stored(id)
	y.want(id, ladder.Deleted)
	y.through(id, ladder.DeletingAll, ladder.Deleted)
	y.passes(0)
	y.wait(24 * time.Hour)
	for name, fault := range map[string]*atomic.Bool{"the bucket is down": &y.bucket.down, "the term is over": &y.term.over} {
		fault.Store(true)
		if err := y.collect(); err == nil || y.there(key) != 2 {
			t.Errorf("%s: %v", name, err)
		}
		fault.Store(false)
	}
	y.ok(y.collect())
	if n := y.there(key); n != 0 {
		t.Errorf("%d parts are left", n)
	}
}
