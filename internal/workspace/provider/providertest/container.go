package providertest

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace/provider"
)

func starts(r *rig) {
	id := r.fresh()
	r.wantContainer(id, false)
	r.run(id, 1)
	r.wantVolume(id, provider.Volume{Marker: provider.Fresh, Mounts: 1})
	since := r.look().Containers[id].Since
	if age := time.Since(since); age < -time.Minute || age > 10*time.Minute {
		r.Errorf("it has run since %s", since)
	}
	r.write(id, "notes/today.txt", "kept")
	// The same start, and one that somebody means who has not seen that it runs.
	r.ok(r.Provider.Start(r.Context(), spec(id, 1)))
	r.ok(r.Provider.Start(r.Context(), spec(id, 2)))
	if again := r.look().Containers[id]; !again.Since.Equal(since) {
		r.Errorf("another container runs: %s after %s", again.Since, since)
	}
	r.wantFile(id, "notes/today.txt", "kept")
	r.ok(r.Provider.Stop(r.Context(), id))
	r.run(id, 3)
	r.wantVolume(id, provider.Volume{Marker: provider.Fresh, Mounts: 3})
	r.wantFile(id, "notes/today.txt", "kept")
}

func staleStart(r *rig) {
	id := r.fresh()
	r.run(id, 2)
	r.is(r.Provider.Start(r.Context(), spec(id, 1)), provider.ErrStale)
	r.ok(r.Provider.Stop(r.Context(), id))
	r.is(r.Provider.Start(r.Context(), spec(id, 1)), provider.ErrStale)
	// It was ended: whoever began it and goes on only now is too late.
	r.is(r.Provider.Start(r.Context(), spec(id, 2)), provider.ErrStale)
	r.wantContainer(id, false)
	r.run(id, 3)
}

func noVolume(r *rig) {
	id := r.id()
	r.is(r.Provider.Start(r.Context(), spec(id, 1)), provider.ErrNoVolume)
	w := r.look()
	if _, there := w.Containers[id]; there {
		r.Error("it runs without a home")
	}
	if _, there := w.Volumes[id]; there {
		r.Error("a start has made a home")
	}
}

func crashes(r *rig) {
	id := r.fresh()
	r.run(id, 1)
	r.write(id, "notes/today.txt", "kept")
	r.Kill(r, id)
	testwait.Every(r, 50*time.Millisecond, "the container is seen to be gone", func() bool {
		_, there := r.look().Containers[id]
		return !there
	})
	// A provider may say first how it ended. The controller tries again.
	testwait.Every(r, 50*time.Millisecond, "it starts again", func() bool {
		err := r.Provider.Start(r.Context(), spec(id, 1))
		if err != nil {
			r.Log(err)
		}
		return err == nil
	})
	r.ready(id)
	r.wantFile(id, "notes/today.txt", "kept")
	r.wantVolume(id, provider.Volume{Marker: provider.Fresh, Mounts: 1})
}

func startsAtOnce(r *rig) {
	id := r.fresh()
	var group sync.WaitGroup
	for _, p := range []provider.Provider{r.Provider, r.Again, r.Provider, r.Again} {
		group.Go(func() {
			// Whoever is in the way of another may fail, and would try again.
			if err := p.Start(r.Context(), spec(id, 1)); err != nil {
				r.Log(err)
			}
		})
	}
	group.Wait()
	r.ready(id)
	r.write(id, "notes/today.txt", "kept")
	r.ok(r.Provider.Stop(r.Context(), id))
	r.wantContainer(id, false)
	r.run(id, 2)
	r.wantFile(id, "notes/today.txt", "kept")
}

func stops(r *rig) {
	id := r.fresh()
	r.ok(r.Provider.Stop(r.Context(), id))
	r.ok(r.Provider.Stop(r.Context(), newID()))
	r.run(id, 1)
	r.write(id, "notes/today.txt", "kept")
	r.ok(r.Provider.Stop(r.Context(), id))
	r.wantContainer(id, false)
	r.wantVolume(id, provider.Volume{Marker: provider.Fresh, Mounts: 1})
	r.ok(r.Provider.Stop(r.Context(), id))
	// One that has only just been started.
	r.ok(r.Provider.Start(r.Context(), spec(id, 2)))
	r.ok(r.Provider.Stop(r.Context(), id))
	r.wantContainer(id, false)
	// Whoever asked for it has died in the midst of it.
	r.run(id, 3)
	ctx, die := context.WithCancel(r.Context())
	die()
	if err := r.Provider.Stop(ctx, id); err == nil {
		r.Log("it was over before anybody could die")
	}
	r.ok(r.Again.Stop(r.Context(), id))
	r.wantContainer(id, false)
	r.run(id, 4)
	r.wantFile(id, "notes/today.txt", "kept")
}

func looks(r *rig) {
	first, second := r.fresh(), r.fresh()
	r.run(first, 1)
	over, cancel := context.WithCancel(r.Context())
	cancel()
	if w, err := r.Provider.Look(over); err == nil {
		r.Errorf("nobody waited for it, and it saw %+v", w)
	}
	heal := r.Blind(r)
	ctx, stop := context.WithTimeout(r.Context(), 2*time.Second)
	w, err := r.Provider.Look(ctx)
	stop()
	heal()
	if err == nil {
		r.Fatalf("it could not see everything, and saw %+v", w)
	}
	if len(w.Volumes)+len(w.Containers) > 0 {
		r.Errorf("beside the error there is %+v", w)
	}
	w = r.look()
	if _, there := w.Volumes[second]; !there || len(w.Volumes) != 2 || len(w.Containers) != 1 {
		r.Errorf("afterwards it sees %+v", w)
	}
}

func foreign(r *rig) {
	id, v := r.used()
	r.run(id, 2)
	v.Mounts = 2
	if w, err := r.Other.Look(r.Context()); err != nil || len(w.Volumes)+len(w.Containers) > 0 {
		r.Errorf("another installation sees %+v, %v", w, err)
	}
	r.ok(r.Other.Stop(r.Context(), id))
	r.ok(r.Other.Remove(r.Context(), id, v))
	r.is(r.Other.Start(r.Context(), spec(id, 3)), provider.ErrNoVolume)
	if _, err := r.Other.Archive(r.Context(), id, v, new(bytes.Buffer)); err == nil {
		r.Error("another installation has an archive of it")
	}
	if conn, err := r.Other.Dial(r.Context(), id); err == nil {
		_ = conn.Close() // it should not be
		r.Error("another installation has reached it")
	}
	var text strings.Builder
	if err := r.Other.Logs(r.Context(), id, 10, &text); err != nil || text.String() != "" {
		r.Errorf("another installation reads %q, %v", text.String(), err)
	}
	r.wantFile(id, "notes/today.txt", "kept")
	r.wantVolume(id, v)
}

func again(r *rig) {
	id := r.fresh()
	r.run(id, 1)
	r.write(id, "notes/today.txt", "kept")
	w, err := r.Again.Look(r.Context())
	r.ok(err)
	if w.Volumes[id] != (provider.Volume{Marker: provider.Fresh, Mounts: 1}) || !w.Containers[id].Ready {
		r.Errorf("another server sees %+v", w)
	}
	if code, text := r.ask(r.Again, id, "GET", "/files/notes/today.txt", ""); code != 200 || text != "kept" {
		r.Errorf("another server reads %d %q", code, text)
	}
	r.ok(r.Again.Stop(r.Context(), id))
	r.wantContainer(id, false)
	r.is(r.Provider.Start(r.Context(), spec(id, 1)), provider.ErrStale)
}

func dials(r *rig) {
	refused := func(id weir.ID) {
		r.Helper()
		conn, err := r.Provider.Dial(r.Context(), id)
		if err == nil {
			_ = conn.Close() // it should not be
		}
		r.is(err, provider.ErrNotRunning)
	}
	refused(newID())
	ids := []weir.ID{r.fresh(), r.fresh()}
	refused(ids[0])
	for _, id := range ids {
		r.run(id, 1)
		r.write(id, "who", id.String())
	}
	var group sync.WaitGroup
	for range 4 {
		for _, id := range ids {
			group.Go(func() { r.wantFile(id, "who", id.String()) })
		}
	}
	group.Wait()
	// A connection ends with its container.
	conn, err := r.Provider.Dial(r.Context(), ids[0])
	r.ok(err)
	defer conn.Close()
	r.ok(r.Provider.Stop(r.Context(), ids[0]))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = conn.Read(make([]byte, 1)) // it ends, whichever way
	}()
	waitFor(r, "the end of the connection", ended)
	refused(ids[0])
	r.wantFile(ids[1], "who", ids[1].String())
	// And after another start it leads to that one.
	r.run(ids[0], 2)
	r.wantFile(ids[0], "who", ids[0].String())
}

func waitFor(r *rig, what string, ended <-chan struct{}) {
	r.Helper()
	testwait.Until(r, what, func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
}

func logs(r *rig) {
	id := r.fresh()
	read := func(lines int) string {
		r.Helper()
		var text strings.Builder
		r.ok(r.Provider.Logs(r.Context(), id, lines, &text))
		return text.String()
	}
	if text := read(10); text != "" {
		r.Errorf("it never ran, and has said %q", text)
	}
	r.run(id, 1)
	testwait.Every(r, 50*time.Millisecond, "what it says is in the log", func() bool { return strings.Contains(read(10), "the workspace is served at") })
	if text := read(1); strings.Count(text, "\n") != 1 {
		r.Errorf("its last line is %q", text)
	}
	if text := read(0); text != "" {
		r.Errorf("no lines are %q", text)
	}
}

func noImage(r *rig) {
	r.is(r.Provider.Image(""), nil)
	id := r.fresh()
	bad := spec(id, 1)
	bad.Image = r.NoImage
	r.is(r.Provider.Start(r.Context(), bad), provider.ErrImage)
	r.wantContainer(id, false)
	r.wantVolume(id, provider.Volume{Marker: provider.Fresh})
	r.run(id, 1)
}
