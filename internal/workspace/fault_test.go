package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/ladder"
	"github.com/weirhq/weir/internal/workspace/provider"
)

var errDown = errors.New("connection refused")

// downBucket does not answer while it is down.
type downBucket struct {
	blob.Bucket
	down atomic.Bool
}

func (b *downBucket) List(ctx context.Context, prefix, after string, limit int) ([]blob.Object, error) {
	if b.down.Load() {
		return nil, errDown
	}
	return b.Bucket.List(ctx, prefix, after, limit)
}

func (b *downBucket) Put(ctx context.Context, key string, r io.Reader, size int64, kind string) (blob.Object, error) {
	if b.down.Load() {
		return blob.Object{}, errDown
	}
	return b.Bucket.Put(ctx, key, r, size, kind)
}

// faulty is a provider with another name that can be down, or hang.
type faulty struct {
	provider.Provider
	name string
	down atomic.Bool
	// hangs: a look or a start does not return before its context ends.
	hangs atomic.Bool
	// archives is called while the home is packed.
	archives func()
	// stays: no volume can be removed.
	stays atomic.Bool
}

func (f *faulty) Name() string { return f.name }

func (f *faulty) Look(ctx context.Context) (provider.World, error) {
	if f.down.Load() {
		return provider.World{}, errDown
	}
	if f.hangs.Load() {
		<-ctx.Done()
		return provider.World{}, ctx.Err()
	}
	return f.Provider.Look(ctx)
}

func (f *faulty) Archive(ctx context.Context, id weir.ID, meant provider.Volume, to io.Writer) (home.Meta, error) {
	if f.archives != nil {
		f.archives()
	}
	return f.Provider.Archive(ctx, id, meant, to)
}

func (f *faulty) Remove(ctx context.Context, id weir.ID, meant provider.Volume) error {
	if f.stays.Load() {
		return errDown
	}
	return f.Provider.Remove(ctx, id, meant)
}

// The bucket is down: what was seen stands, nothing begins and nothing is deleted, not
// even a time runs out; when it is back all goes on by itself.
func TestTheBucketIsDown(t *testing.T) {
	t.Parallel()
	var bucket *downBucket
	r := newRig(t, func(r *rig, c *workspace.Config) {
		bucket = &downBucket{Bucket: r.bucket}
		c.Bucket = bucket
	})
	kept, moving := r.create("kept", ladder.Archived), r.create("moving", ladder.Standby)
	r.reach(kept, ladder.Archived)
	r.reach(moving, ladder.Standby)
	r.want(moving, ladder.Archived)
	bucket.down.Store(true)
	r.want(kept, ladder.Standby)
	r.tick()
	r.wait(24 * time.Hour)
	r.tick()
	if w := r.get(kept); w.Phase != ladder.Archived || w.Operation != ladder.None {
		t.Errorf("%+v", w)
	}
	if w := r.get(moving); w.Phase != ladder.Standby || w.Operation != ladder.None || r.look().Volumes[moving].Marker == "" {
		t.Errorf("%+v", w)
	}
	if p, err := r.store.Policy(t.Context()); err != nil || p.UnknownAt == nil || !slices.Equal(p.UnknownOf, []string{"bucket"}) || !strings.Contains(p.Unknown, "connection refused") {
		t.Errorf("%+v, %v", p, err)
	}
	if y, err := r.store.Why(t.Context(), kept); err != nil || !strings.Contains(y.Summary, "It was ARCHIVED when it could last be seen") {
		t.Errorf("%+v, %v", y, err)
	}
	bucket.down.Store(false)
	r.reach(kept, ladder.Standby)
	r.reach(moving, ladder.Archived)
	if p, err := r.store.Policy(t.Context()); err != nil || p.UnknownAt != nil {
		t.Errorf("%+v, %v", p, err)
	}
}

// flipping is a bucket that gives back other bytes than it was given, for archives.
type flipping struct {
	blob.Bucket
	flips atomic.Int32
}

func (b *flipping) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, blob.Object, error) {
	body, o, err := b.Bucket.Get(ctx, key, offset, length)
	if err != nil || !strings.HasSuffix(key, ".zst") || b.flips.Add(-1) < 0 {
		return body, o, err
	}
	text, err := io.ReadAll(body)
	if err == nil {
		text[len(text)/2] ^= 1
	}
	return io.NopCloser(bytes.NewReader(text)), o, errors.Join(err, body.Close())
}

// An archive that comes back broken when it is made is made again, and the volume stays
// meanwhile. When it is needed it is an error that stands, and nothing takes its place.
func TestR10R11ABrokenArchive(t *testing.T) {
	t.Parallel()
	var bucket *flipping
	r := newRig(t, func(r *rig, c *workspace.Config) {
		bucket = &flipping{Bucket: r.bucket}
		c.Bucket = bucket
	})
	id := r.create("one", ladder.Standby)
	r.reach(id, ladder.Standby)
	r.want(id, ladder.Archived)
	bucket.flips.Store(1)
	r.tick()
	if w := r.get(id); w.Error != ladder.ActionFailed || w.Operation != ladder.Archiving || w.ArchiveKey != "" || r.look().Volumes[id].Marker == "" {
		t.Errorf("%+v", w)
	}
	r.reachAhead(id, ladder.Archived)
	r.want(id, ladder.Standby)
	bucket.flips.Store(1)
	if w := r.reach(id, ladder.Error); w.Error != ladder.ArchiveCorrupted || r.look().Volumes[id].Marker != "" {
		t.Errorf("%+v", w)
	}
	_, err := r.store.Recover(t.Context(), id, "ann", "the bucket is mended", false)
	r.ok(err)
	r.reach(id, ladder.Standby)
}

// The bucket goes down in the middle of an archive, for longer than anybody has patience:
// the volume stays, and the archive is made when it is back.
func TestR10TheBucketGoesDownInTheMiddle(t *testing.T) {
	t.Parallel()
	var bucket *downBucket
	var slow *faulty
	r := newRig(t, func(r *rig, c *workspace.Config) {
		bucket = &downBucket{Bucket: r.bucket}
		slow = &faulty{Provider: r.provider, name: "process", archives: func() { bucket.down.Store(true) }}
		c.Bucket, c.Providers = bucket, []provider.Provider{slow}
	})
	id := r.create("one", ladder.Standby)
	r.reach(id, ladder.Standby)
	r.want(id, ladder.Archived)
	// The first object of this archive is refused, and everything after it.
	bucket.down.Store(false)
	r.tick()
	bucket.down.Store(true)
	w := r.get(id)
	if w.Operation != ladder.Archiving {
		t.Fatalf("%+v", w)
	}
	r.wait(24 * time.Hour)
	r.tick()
	if again := r.get(id); again.Operation != ladder.Archiving || *again.Op != *w.Op || again.Phase == ladder.Error || r.look().Volumes[id].Marker == "" {
		t.Errorf("%+v", again)
	}
	slow.archives = nil
	bucket.down.Store(false)
	testwait.Until(t, "it is archived", func() bool {
		r.wait(10 * time.Second) // so that it tries again
		r.tick()
		return r.get(id).Phase == ladder.Archived
	})
}

// A provider is down, or does not answer: what it runs is left as it was, and the others
// go on.
func TestAProviderIsDownOrHangs(t *testing.T) {
	t.Parallel()
	var other *faulty
	r := newRig(t, func(r *rig, c *workspace.Config) {
		other = &faulty{Provider: r.provider, name: "other"}
		// The two are one in truth: each sees all, and only its own are judged by it.
		c.Providers = append(c.Providers, other)
		c.LookMost = time.Second
	})
	theirs, _, err := r.store.Create(t.Context(), "ann", workspace.Draft{Owner: r.owner, Name: "theirs", Provider: "other", Desired: ladder.Standby})
	r.ok(err)
	r.reach(theirs, ladder.Standby)
	r.want(theirs, ladder.Running)
	for name, fault := range map[string]*atomic.Bool{"down": &other.down, "hangs": &other.hangs} {
		fault.Store(true)
		ours := r.create("ours-"+name, ladder.Standby)
		r.reach(ours, ladder.Standby)
		if w := r.get(theirs); w.Phase != ladder.Standby || w.Operation != ladder.None {
			t.Errorf("%s: %+v", name, w)
		}
		if p, err := r.store.Policy(t.Context()); err != nil || !slices.Equal(p.UnknownOf, []string{"other"}) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		fault.Store(false)
	}
	r.reach(theirs, ladder.Running)
}

// stuck is a provider whose starts never return by themselves.
type stuck struct {
	provider.Provider
	name   string
	free   atomic.Bool
	starts atomic.Int32
	ended  atomic.Int32
}

func (s *stuck) Name() string { return s.name }

func (s *stuck) Start(ctx context.Context, spec provider.Spec) error {
	if s.free.Load() {
		return s.Provider.Start(ctx, spec)
	}
	s.starts.Add(1)
	<-ctx.Done()
	s.ended.Add(1)
	return ctx.Err()
}

// An act that hangs holds up nobody else, also if as many hang as may act at once. When
// its time is over it is an error, the act is called off, and a person can try again.
func TestAnActThatHangs(t *testing.T) {
	t.Parallel()
	var bad *stuck
	r := newRig(t, func(r *rig, c *workspace.Config) {
		bad = &stuck{Provider: r.provider, name: "stuck"}
		c.Providers, c.AtOnce = append(c.Providers, bad), 1
	})
	_, err := r.store.SetPolicy(t.Context(), "ann", workspace.PolicyChange{PerUser: new(10)})
	r.ok(err)
	var theirs []weir.ID
	for _, name := range []string{"one", "two"} {
		id, _, err := r.store.Create(t.Context(), "ann", workspace.Draft{Owner: r.owner, Name: name, Provider: "stuck", Desired: ladder.Standby})
		r.ok(err)
		r.reach(id, ladder.Standby)
		theirs = append(theirs, id)
	}
	for _, id := range theirs {
		r.want(id, ladder.Running)
	}
	tick := func() {
		t.Helper()
		_, err := r.controller.Tick(t.Context())
		r.ok(err)
	}
	testwait.Until(t, "one start hangs", func() bool { tick(); return bad.starts.Load() == 1 })
	ours := r.create("ours", ladder.Standby)
	testwait.Until(t, "another goes on", func() bool { tick(); return r.get(ours).Phase == ladder.Standby })
	first, second := theirs[0], theirs[1]
	if r.get(first).Operation != ladder.Starting {
		first, second = second, first
	}
	if w := r.get(second); w.Operation != ladder.None {
		t.Errorf("it has begun before its turn: %+v", w)
	}
	r.wait(4 * time.Minute)
	tick()
	if w := r.get(first); w.Operation != ladder.Starting || w.Phase != ladder.Standby {
		t.Errorf("%+v", w)
	}
	r.wait(time.Minute + 10*time.Second)
	testwait.Until(t, "its time is over", func() bool { tick(); return r.get(first).Phase == ladder.Error })
	if w := r.get(first); w.Error != ladder.Timeout || w.ErrorSays != "STARTING has not got on for 5m0s" || w.Operation != ladder.None {
		t.Errorf("%+v", w)
	}
	testwait.Until(t, "the act is called off, and the other has its turn", func() bool { tick(); return bad.ended.Load() == 1 && r.get(second).Operation == ladder.Starting })
	bad.free.Store(true)
	_, err = r.store.Recover(t.Context(), first, "ann", "", false)
	r.ok(err)
	r.wait(6 * time.Minute) // the other hangs, and its time is over
	testwait.Until(t, "it runs", func() bool { tick(); return r.get(first).Phase == ladder.Running })
}

// A provider that panics breaks its own workspace, and nothing else.
func TestAProviderThatPanics(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig, c *workspace.Config) {
		c.Providers = []provider.Provider{&faulty{Provider: r.provider, name: "process", archives: func() { panic("no such thing") }}}
	})
	id := r.create("one", ladder.Standby)
	r.reach(id, ladder.Standby)
	r.want(id, ladder.Archived)
	if w := r.reachAhead(id, ladder.Error); w.Error != ladder.RetryExceeded || !strings.Contains(w.ErrorSays, "panic: no such thing") || r.look().Volumes[id].Marker == "" {
		t.Errorf("%+v", w)
	}
}

// Who waits for a place to act in has all the time that there is from when it has its turn.
func TestWhoWaitsForItsTurnHasItsTime(t *testing.T) {
	t.Parallel()
	var bad *stuck
	r := newRig(t, func(r *rig, c *workspace.Config) {
		bad = &stuck{Provider: r.provider, name: "process"}
		c.Providers = []provider.Provider{bad}
	})
	ids := []weir.ID{r.create("one", ladder.Running), r.create("two", ladder.Running)}
	tick := func() {
		t.Helper()
		_, err := r.controller.Tick(t.Context())
		r.ok(err)
	}
	testwait.Until(t, "both hang", func() bool { tick(); return bad.starts.Load() == 2 })
	r.config.AtOnce = 1 // for the next leader
	r.lead()
	testwait.Until(t, "one hangs", func() bool { tick(); return bad.starts.Load() == 3 })
	r.wait(5*time.Minute + 10*time.Second)
	bad.free.Store(true)
	testwait.Until(t, "one is in error, and the other runs", func() bool {
		tick()
		phases := []ladder.Phase{r.get(ids[0]).Phase, r.get(ids[1]).Phase}
		return slices.Contains(phases, ladder.Error) && slices.Contains(phases, ladder.Running)
	})
}

// What was left by a leader that is gone goes on, with all the time that there is.
func TestANewLeaderGoesOn(t *testing.T) {
	t.Parallel()
	var bad *stuck
	r := newRig(t, func(r *rig, c *workspace.Config) {
		bad = &stuck{Provider: r.provider, name: "process"}
		c.Providers = []provider.Provider{bad}
	})
	id := r.create("one", ladder.Running)
	testwait.Until(t, "a start hangs", func() bool {
		_, err := r.controller.Tick(t.Context())
		r.ok(err)
		return bad.starts.Load() == 1
	})
	op := *r.get(id).Op
	r.lead()
	bad.free.Store(true)
	r.wait(24 * time.Hour)
	w := r.reach(id, ladder.Running)
	if w.Mounts != 1 || r.look().Volumes[id].Mounts != 1 {
		t.Errorf("it was started with another number: %+v", w)
	}
	for _, e := range mustLog(r, id) {
		if e.Type == "completed" && e.Operation == ladder.Starting && *e.Op != op {
			t.Errorf("it began anew: %+v", e)
		}
	}
}

func mustLog(r *rig, id weir.ID) []workspace.Entry {
	r.Helper()
	all, err := r.store.Log(r.Context(), id, view.Page{Limit: 1000})
	r.ok(err)
	return all
}

// A term that is over changes nothing, neither in the database nor in the world.
func TestATermThatIsOverDoesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.create("one", ladder.Standby)
	r.term.over.Store(true)
	if _, err := r.controller.Tick(t.Context()); err == nil {
		t.Error("it works on")
	}
	r.controller.Wait()
	if len(r.look().Volumes) > 0 || r.get(id).Operation != ladder.None {
		t.Error("something was done")
	}
}

// A start in the middle of an archive: what it wrote is in the archive that counts.
func TestR10AStartInTheMiddleOfAnArchive(t *testing.T) {
	t.Parallel()
	var inside *faulty
	r := newRig(t, func(r *rig, c *workspace.Config) {
		inside = &faulty{Provider: r.provider, name: "process"}
		c.Providers = []provider.Provider{inside}
	})
	id := r.create("one", ladder.Running)
	r.reach(id, ladder.Running)
	r.want(id, ladder.Standby)
	r.reach(id, ladder.Standby)
	// A start of a leader that was paused has number 2.
	r.exec(`select weir.workspace_want($1, 'RUNNING')`, id)
	r.exec(`select weir.workspace_end($1, weir.workspace_begin($1, 'STARTING', generation), 'Timeout', 'nobody knows', terminal => true) from weir.workspaces where id = $1`, id)
	_, err := r.store.Recover(t.Context(), id, "ann", "", false)
	r.ok(err)
	r.want(id, ladder.Archived) // before anybody has looked again
	inside.archives = func() {
		inside.archives = nil
		r.ok(r.provider.Start(t.Context(), provider.Spec{ID: id, Name: "one", Mounts: 2}))
		testwait.Until(t, "it runs", func() bool { return r.look().Containers[id].Ready })
		if code, text := r.ask(id, http.MethodPut, "/files/late.txt", "kept"); code != http.StatusNoContent {
			t.Errorf("%d %s", code, text)
		}
	}
	w := r.reachAhead(id, ladder.Archived)
	if w.Archive.Entries < 2 || w.ArchiveMounts != w.Mounts {
		t.Errorf("%+v", w)
	}
	types := []string{}
	for _, e := range mustLog(r, id) {
		types = append(types, e.Type)
	}
	if !slices.Contains(types, "void") {
		t.Errorf("%v", types)
	}
	r.want(id, ladder.Running)
	r.reach(id, ladder.Running)
	if code, text := r.ask(id, http.MethodGet, "/files/late.txt", ""); code != http.StatusOK || text != "kept" {
		t.Errorf("%d %q", code, text)
	}
}

// An old volume that somebody left behind is not the home: the archive is.
func TestALeftoverIsNotTheHome(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.create("one", ladder.Running)
	r.reach(id, ladder.Running)
	if code, text := r.ask(id, http.MethodPut, "/files/new.txt", "kept"); code != http.StatusNoContent {
		t.Fatalf("%d %s", code, text)
	}
	r.want(id, ladder.Archived)
	r.reach(id, ladder.Archived)
	r.ok(r.provider.Provision(t.Context(), id, 0)) // by somebody who was late
	r.tick()
	if w := r.get(id); w.Phase != ladder.Archived || w.Seen().Volume.Reason != "Leftover" {
		t.Errorf("%+v", w)
	}
	r.want(id, ladder.Running)
	r.reach(id, ladder.Running)
	if code, text := r.ask(id, http.MethodGet, "/files/new.txt", ""); code != http.StatusOK || text != "kept" {
		t.Errorf("%d %q", code, text)
	}
}

func (r *rig) exec(sql string, args ...any) {
	r.Helper()
	if _, err := r.db.Pool.Exec(r.Context(), sql, args...); err != nil {
		r.Fatalf("%s: %v", sql, err)
	}
}

// reachAhead is reach for what fails on the way: time passes, so that it is tried again.
func (r *rig) reachAhead(id weir.ID, want ladder.Phase) (w workspace.Workspace) {
	r.Helper()
	testwait.Until(r, "it is "+string(want), func() bool {
		r.wait(11 * time.Second)
		r.tick()
		w = r.get(id)
		return w.Phase == want && w.Operation == ladder.None
	})
	return w
}
