package workspace_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// write puts a file into a home.
func (r *rig) write(id weir.ID, name, text string) {
	r.Helper()
	if code, says := r.ask(id, http.MethodPut, "/files/"+name, text); code != http.StatusNoContent {
		r.Fatalf("%d %s", code, says)
	}
}

// holds checks a file of a home.
func (r *rig) holds(id weir.ID, name, text string) {
	r.Helper()
	if code, got := r.ask(id, http.MethodGet, "/files/"+name, ""); code != http.StatusOK || got != text {
		r.Errorf("%s: %d %q, want %q", name, code, got, text)
	}
}

// worked makes one that has run, with a file in its home, and stands by.
func (r *rig) worked(name, text string) weir.ID {
	r.Helper()
	id := r.create(name, ladder.Running)
	r.reach(id, ladder.Running)
	r.write(id, "work.txt", text)
	r.want(id, ladder.Standby)
	r.reach(id, ladder.Standby)
	return id
}

// folder is where a volume is.
func (r *rig) folder(id weir.ID) string {
	return filepath.Join(r.dir, "volumes", "ws-"+id.String()+"-home")
}

// What somebody who was late has left beside an archive goes, whole or not, once the
// archive was read back. While that is broken it stays, for it may be all that there is.
func TestALeftoverGoes(t *testing.T) {
	t.Parallel()
	var bucket *flipping
	r := newRig(t, func(r *rig, c *workspace.Config) {
		bucket = &flipping{Bucket: r.bucket}
		c.Bucket = bucket
	})
	id := r.worked("one", "kept")
	r.want(id, ladder.Archived)
	r.reach(id, ladder.Archived)
	there := func() bool { _, there := r.look().Volumes[id]; return there }

	r.ok(r.provider.Provision(t.Context(), id, 0))
	bucket.flips.Store(1)
	r.tick()
	if !there() || r.get(id).Phase != ladder.Archived {
		t.Fatalf("it has gone although the archive is broken: %+v", r.get(id))
	}
	r.tick()
	if !there() {
		t.Error("it is tried again at once")
	}
	r.wait(time.Hour + time.Second)
	r.tick()
	if there() {
		t.Error("it is left behind")
	}

	r.ok(os.MkdirAll(filepath.Join(r.folder(id), "data"), 0o700)) // by somebody who died
	if !there() {
		t.Fatal("what is not whole is not seen")
	}
	r.wait(time.Hour + time.Second)
	r.tick()
	if there() {
		t.Error("what is not whole is left behind")
	}
	if w := r.get(id); w.Phase != ladder.Archived || w.Operation != ladder.None || w.Error != "" {
		t.Errorf("%+v", w)
	}
	r.want(id, ladder.Running)
	r.reach(id, ladder.Running)
	r.holds(id, "work.txt", "kept")
}

// slowBucket does not answer who reads, while it is slow.
type slowBucket struct {
	blob.Bucket
	slow    atomic.Bool
	waiting atomic.Int32
}

func (b *slowBucket) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, blob.Object, error) {
	if b.slow.Load() {
		b.waiting.Add(1)
		<-ctx.Done()
		return nil, blob.Object{}, ctx.Err()
	}
	return b.Bucket.Get(ctx, key, offset, length)
}

// Who tidies up makes way for whatever is wanted.
func TestTidyingMakesWay(t *testing.T) {
	t.Parallel()
	var bucket *slowBucket
	r := newRig(t, func(r *rig, c *workspace.Config) {
		bucket = &slowBucket{Bucket: r.bucket}
		c.Bucket = bucket
	})
	id := r.worked("one", "kept")
	r.want(id, ladder.Archived)
	r.reach(id, ladder.Archived)
	r.ok(r.provider.Provision(t.Context(), id, 0))
	bucket.slow.Store(true)
	_, err := r.controller.Tick(t.Context())
	r.ok(err)
	testwait.Until(t, "the archive is being read", func() bool { return bucket.waiting.Load() == 1 })
	bucket.slow.Store(false)
	r.want(id, ladder.Running)
	r.reach(id, ladder.Running)
	r.holds(id, "work.txt", "kept")
}

// The archive vanishes after it was noted, while the volume is still there, and that cannot
// be told apart from one that was late. The volume is the home: nobody can give it up, and
// it is what a person gets back.
func TestTheVolumeIsTheHomeWhenItsArchiveHasGone(t *testing.T) {
	t.Parallel()
	var engine *faulty
	r := newRig(t, func(r *rig, c *workspace.Config) {
		engine = &faulty{Provider: r.provider, name: "process"}
		c.Providers = []provider.Provider{engine}
	})
	id := r.worked("one", "kept")
	r.want(id, ladder.Archived)
	engine.stays.Store(true)
	w := r.reachAhead(id, ladder.Error)
	if w.Error != ladder.RetryExceeded || w.ArchiveKey == "" || w.Seen().Volume.Reason != "Leftover" {
		t.Fatalf("%+v", w)
	}
	r.ok(r.bucket.Delete(t.Context(), w.ArchiveKey, w.ArchiveKey+".meta"))
	r.tick()
	if w := r.get(id); !w.Seen().Volume.Status {
		t.Errorf("the home is not seen: %s", w.Conditions)
	}
	if _, err := r.store.Recover(t.Context(), id, "ann", "", true); err == nil {
		t.Error("what is there can be given up")
	}
	_, err := r.store.Recover(t.Context(), id, "ann", "", false)
	r.ok(err)
	engine.stays.Store(false)
	r.reachAhead(id, ladder.Archived)
	r.want(id, ladder.Running)
	r.reach(id, ladder.Running)
	r.holds(id, "work.txt", "kept")
}

// The home is lost and its archive too; all that there is is an old volume. Who gives up
// what is lost gets that, and not an empty one; it lives on as any other.
func TestGivingUpTakesWhatIsLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.worked("one", "old")
	old := r.folder(id)
	r.ok(os.CopyFS(old+".old", os.DirFS(old)))
	r.want(id, ladder.Running)
	r.reach(id, ladder.Running)
	r.write(id, "work.txt", "new")
	r.want(id, ladder.Archived)
	w := r.reach(id, ladder.Archived)
	r.ok(r.bucket.Delete(t.Context(), w.ArchiveKey, w.ArchiveKey+".meta"))
	r.ok(os.Rename(old+".old", old))
	w = r.reach(id, ladder.Error)
	if w.Error != ladder.DataLost || w.Seen().Volume.Reason != "Leftover" {
		t.Fatalf("%+v", w)
	}
	if _, err := r.store.Recover(t.Context(), id, "ann", "", false); err != nil {
		t.Fatal(err)
	}
	if w = r.reach(id, ladder.Error); w.Error != ladder.DataLost {
		t.Fatalf("an old home passes for the last one: %+v", w)
	}
	_, err := r.store.Recover(t.Context(), id, "ann", "better than nothing", true)
	r.ok(err)
	r.reach(id, ladder.Archived) // as was wanted, and it can be archived
	r.want(id, ladder.Running)
	r.reach(id, ladder.Running)
	r.holds(id, "work.txt", "old")
}

// A home that was given up and turns up again before another one is made is the home.
func TestWhatTurnsUpAgainIsTheHome(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.worked("one", "kept")
	r.ok(os.Rename(r.folder(id), r.folder(id)+".away"))
	if w := r.reach(id, ladder.Error); w.Error != ladder.DataLost {
		t.Fatalf("%+v", w)
	}
	_, err := r.store.Recover(t.Context(), id, "ann", "", true)
	r.ok(err)
	r.ok(os.Rename(r.folder(id)+".away", r.folder(id)))
	r.reach(id, ladder.Standby)
	r.want(id, ladder.Running)
	r.reach(id, ladder.Running)
	r.holds(id, "work.txt", "kept")
}

// What a leader who was late makes after a workspace was deleted goes, too.
func TestADeletedWorkspaceIsLookedAfter(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.create("one", ladder.Standby)
	r.reach(id, ladder.Standby)
	r.want(id, ladder.Deleted)
	r.reach(id, ladder.Deleted)
	r.ok(r.provider.Provision(t.Context(), id, 9))
	r.tick()
	testwait.Until(t, "it is gone", func() bool { r.tick(); return len(r.look().Volumes) == 0 })
	r.reach(id, ladder.Deleted)
	types := []string{}
	for _, e := range mustLog(r, id) {
		types = append(types, e.Type)
	}
	slices.Reverse(types)
	if w := r.get(id); w.DeletedAt == nil || w.Error != "" || types[len(types)-1] != "completed" {
		t.Errorf("%v: %+v", types, w)
	}
}
