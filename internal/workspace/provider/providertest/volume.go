package providertest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"maps"
	"sync"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/provider"
)

func provisions(r *rig) {
	id := r.id()
	r.ok(r.Provider.Provision(r.Context(), id, 3))
	want := provider.Volume{Marker: provider.Fresh, Mounts: 3}
	r.wantVolume(id, want)
	r.ok(r.Provider.Provision(r.Context(), id, 3))
	r.wantVolume(id, want)
	if holds := r.unpack(r.archive(id, want)); len(holds) != 1 {
		r.Errorf("a new home holds %v", holds)
	}
	// Those who do it at once make one.
	at := r.id()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			// Whoever is in the way of another may fail, and would try again.
			if err := r.Provider.Provision(r.Context(), at, 0); err != nil {
				r.Log(err)
			}
		})
	}
	group.Wait()
	r.ok(r.Provider.Provision(r.Context(), at, 0))
	r.wantVolume(at, provider.Volume{Marker: provider.Fresh})
}

func restores(r *rig) {
	dir := r.tree()
	archive, want := r.pack(dir), describe(r, dir)
	id, as := r.id(), provider.Volume{Marker: "workspaces/a/b/home.tar.zst", Mounts: 7}
	r.ok(r.Provider.Restore(r.Context(), id, bytes.NewReader(archive), as))
	r.wantVolume(id, as)
	got := r.unpack(r.archive(id, as))
	if !maps.Equal(got, want) {
		for name := range want {
			if got[name] != want[name] {
				r.Errorf("%q\n  was %s\n  is  %s", name, want[name], got[name])
			}
		}
		r.Errorf("%d things came back of %d", len(got), len(want))
	}
}

func leavesAlone(r *rig) {
	id, v := r.used()
	r.ok(r.Provider.Provision(r.Context(), id, 9))
	r.wantVolume(id, v)
	// Whoever would fill it with something else does not know what has been done since.
	unread := &failing{from: bytes.NewReader(nil), with: errors.New("somebody read it")}
	r.is(r.Provider.Restore(r.Context(), id, unread, provider.Volume{Marker: "another", Mounts: 1}), provider.ErrStale)
	r.wantVolume(id, v)
	if holds := r.unpack(r.archive(id, v)); holds["/notes/today.txt"] == "" {
		r.Errorf("the home holds %v", holds)
	}
	// The same for one that came from an archive.
	back, as := r.id(), provider.Volume{Marker: "key", Mounts: 1}
	r.ok(r.Provider.Restore(r.Context(), back, bytes.NewReader(r.pack(r.tree())), as))
	r.ok(r.Provider.Restore(r.Context(), back, unread, as))
	r.is(r.Provider.Provision(r.Context(), back, 1), provider.ErrStale)
	r.wantVolume(back, as)
	// And nothing is filled that runs.
	r.run(id, 2)
	r.ok(r.Provider.Provision(r.Context(), id, 2))
	r.wantFile(id, "notes/today.txt", "kept")
}

// failing ends with an error where others end.
type failing struct {
	from io.Reader
	with error
}

func (f *failing) Read(b []byte) (int, error) {
	n, err := f.from.Read(b)
	if errors.Is(err, io.EOF) {
		err = f.with
	}
	return n, err
}

func cutRestore(r *rig) {
	archive := r.pack(r.tree())
	as := provider.Volume{Marker: "key", Mounts: 1}
	lost := errors.New("the bucket has gone")
	id := r.id()
	for name, from := range map[string]io.Reader{
		"the source fails":            &failing{bytes.NewReader(archive[:len(archive)/2]), lost},
		"the source fails at its end": &failing{bytes.NewReader(archive), lost}, // such as a sum that is wrong
	} {
		if err := r.Provider.Restore(r.Context(), id, from, as); !errors.Is(err, lost) {
			r.Errorf("%s: %v", name, err)
		}
		r.notWhole(id)
	}
	damaged := bytes.Clone(archive)
	damaged[len(damaged)/2] ^= 0x10
	long := make([]byte, 16<<20) // refused long before all of it was sent
	_, _ = rand.Read(long)       // never fails
	for name, text := range map[string][]byte{"long": long, "cut": archive[:len(archive)-1], "damaged": damaged, "empty": nil, "followed": append(bytes.Clone(archive), archive...)} {
		if err := r.Provider.Restore(r.Context(), id, bytes.NewReader(text), as); !errors.Is(err, home.ErrRefused) {
			r.Errorf("%s: %v", name, err)
		}
		r.notWhole(id)
	}
	// Whoever did it has died in the midst of it.
	ctx, die := context.WithCancel(r.Context())
	dying := io.MultiReader(bytes.NewReader(archive[:len(archive)/2]), readerFunc(func([]byte) (int, error) {
		die()
		<-ctx.Done()
		return 0, ctx.Err()
	}))
	if err := r.Provider.Restore(ctx, id, dying, as); err == nil {
		r.Error("a restore that was cut off says that it is done")
	}
	r.notWhole(id)
	r.is(r.Provider.Start(r.Context(), spec(id, 2)), provider.ErrNoVolume)
	r.ok(r.Again.Restore(r.Context(), id, bytes.NewReader(archive), as))
	r.wantVolume(id, as)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func archives(r *rig) {
	id, v := r.used()
	first := r.archive(id, v)
	if holds := r.unpack(first); holds["/notes/today.txt"] == "" || len(holds) != 3 {
		r.Errorf("it holds %v", holds)
	}
	r.wantVolume(id, v)
	r.archive(id, v)
	// It is all that is needed.
	back, as := r.id(), provider.Volume{Marker: "key", Mounts: 1}
	r.ok(r.Provider.Restore(r.Context(), back, bytes.NewReader(first), as))
	r.run(back, 2)
	r.wantFile(back, "notes/today.txt", "kept")
}

func staleArchive(r *rig) {
	id, v := r.used()
	refused := func(id weir.ID, meant provider.Volume, kind error) {
		r.Helper()
		wrote := 0
		_, err := r.Provider.Archive(r.Context(), id, meant, writerFunc(func(b []byte) (int, error) {
			wrote += len(b)
			return len(b), nil
		}))
		r.is(err, kind)
		if wrote > 0 {
			r.Errorf("%d bytes of an archive that is none", wrote)
		}
	}
	refused(id, provider.Volume{Marker: v.Marker, Mounts: v.Mounts + 1}, provider.ErrStale)
	refused(id, provider.Volume{Marker: "another", Mounts: v.Mounts}, provider.ErrStale)
	refused(newID(), v, provider.ErrNoVolume)
	r.run(id, 2)
	refused(id, provider.Volume{Marker: v.Marker, Mounts: 2}, provider.ErrInUse)
	r.ok(r.Provider.Stop(r.Context(), id))
	refused(id, v, provider.ErrStale)
	// An archive has begun: a start of before does not come any more.
	again := r.fresh()
	r.run(again, 1)
	r.Kill(r, again)
	r.archive(again, provider.Volume{Marker: provider.Fresh, Mounts: 1})
	r.is(r.Provider.Start(r.Context(), spec(again, 1)), provider.ErrStale)
}

func startsMidst(r *rig) {
	id, v := r.used()
	var once sync.Once
	_, err := r.Provider.Archive(r.Context(), id, v, writerFunc(func(b []byte) (int, error) {
		once.Do(func() {
			if err := r.Again.Start(r.Context(), spec(id, 2)); err != nil {
				r.Errorf("a start in the midst of an archive: %v", err)
			}
			if err := r.Again.Stop(r.Context(), id); err != nil {
				r.Error(err)
			}
		})
		return len(b), nil
	}))
	r.is(err, provider.ErrStale)
	r.is(r.Provider.Remove(r.Context(), id, v), provider.ErrStale)
	r.wantVolume(id, provider.Volume{Marker: v.Marker, Mounts: 2})
}

func cutArchive(r *rig) {
	id, v := r.used()
	lost := errors.New("the bucket has gone")
	_, err := r.Provider.Archive(r.Context(), id, v, writerFunc(func([]byte) (int, error) { return 0, lost }))
	r.is(err, lost)
	ctx, die := context.WithCancel(r.Context())
	if _, err := r.Provider.Archive(ctx, id, v, writerFunc(func(b []byte) (int, error) {
		die()
		return len(b), nil
	})); err == nil {
		r.Log("it was over before anybody could die")
	}
	die()
	r.wantVolume(id, v)
	r.archive(id, v)
}

func removes(r *rig) {
	id, v := r.used()
	for _, other := range []provider.Volume{{Marker: v.Marker, Mounts: 0}, {Marker: "another", Mounts: 1}, {}} {
		r.is(r.Provider.Remove(r.Context(), id, other), provider.ErrStale)
		r.wantVolume(id, v)
	}
	r.run(id, 2)
	v.Mounts = 2
	r.is(r.Provider.Remove(r.Context(), id, v), provider.ErrInUse)
	r.wantFile(id, "notes/today.txt", "kept")
	r.ok(r.Provider.Stop(r.Context(), id))
	r.ok(r.Provider.Remove(r.Context(), id, v))
	if w := r.look(); len(w.Volumes)+len(w.Containers) != 0 {
		r.Errorf("something is left: %+v", w)
	}
	r.ok(r.Provider.Remove(r.Context(), id, v))
	r.ok(r.Provider.Remove(r.Context(), newID(), v))
	// What comes after has nothing of what was before.
	r.ok(r.Provider.Provision(r.Context(), id, 2))
	if holds := r.unpack(r.archive(id, provider.Volume{Marker: provider.Fresh, Mounts: 2})); len(holds) != 1 {
		r.Errorf("a new home holds %v", holds)
	}
}

func removesRest(r *rig) {
	id := r.id()
	archive := r.pack(r.tree())
	lost := errors.New("the bucket has gone")
	r.is(r.Provider.Restore(r.Context(), id, &failing{bytes.NewReader(archive), lost}, provider.Volume{Marker: "key"}), lost)
	r.ok(r.Provider.Remove(r.Context(), id, provider.Volume{Marker: "whatever", Mounts: 5}))
	if _, there := r.look().Volumes[id]; there {
		r.Error("it is still there")
	}
}
