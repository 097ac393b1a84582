package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/ladder"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// errOver is an operation that is over, or whose term is: whoever acts for it stops.
var errOver = errors.New("the operation is over")

// act is one that is under way in this process.
type act struct {
	// spare: it makes way for every operation.
	spare   bool
	stopped bool
	cancel  context.CancelFunc
}

// end calls it off.
func (a *act) end() {
	if a.stopped = true; a.cancel != nil {
		a.cancel()
	}
}

// free reports whether an operation of a workspace could act now.
func (c *Controller) free(w *Workspace) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.acts[w.ID]; a != nil {
		if a.spare {
			a.end()
		}
		return false
	}
	places := c.places[w.Provider]
	return len(places) < cap(places)
}

// act does the operation of a workspace, unless that is being done. What it did, a look
// will see; only what failed is told. It reports whether time may run out for the
// operation: not while it waits for its turn.
func (c *Controller) act(ctx context.Context, w *Workspace, seen world) bool {
	begun, waited := c.take(w)
	if begun == nil {
		return !waited
	}
	if waited {
		c.tell(ctx, w, "its turn has come") // its time begins to run
	}
	volume, _ := seen.volume(w)
	c.spawn(w, begun, func(ctx context.Context, w *Workspace) error { return c.perform(ctx, w, volume) }, c.failed)
	return !waited
}

// spawn acts beside the loops, on a copy of w. What failed is told, unless it was called
// off or is over.
func (c *Controller) spawn(w *Workspace, begun *act, do func(context.Context, *Workspace) error, failed func(context.Context, *Workspace, error)) {
	mine := *w
	c.group.Add(1)
	c.leads.term.Go(func(ctx context.Context) {
		defer c.group.Done()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer c.rest(&mine)
		c.mu.Lock()
		if begun.cancel = cancel; begun.stopped {
			cancel()
		}
		c.mu.Unlock()
		err := guarded(func() error { return do(ctx, &mine) })
		if err == nil || ctx.Err() != nil || errors.Is(err, errOver) {
			return
		}
		failed(ctx, &mine, err)
	})
}

// failed tells that a try has failed.
func (c *Controller) failed(ctx context.Context, w *Workspace, err error) {
	c.config.Log.Warn("an operation of a workspace failed", "workspace", w.ID, "operation", w.Operation, "error", err)
	if p := new(panicked); errors.As(err, &p) {
		c.config.Log.Error("it was a panic", "workspace", w.ID, "panic", p.what, "stack", string(p.where))
	}
	if _, told := c.leads.fail(ctx, w, reasonOf(w.Operation, err), err.Error()); told != nil {
		c.config.Log.Warn("a failure could not be told", "workspace", w.ID, "error", told)
	}
}

// take takes a place to act in. Nil: there is none, or somebody acts already. waited: it
// had to wait for its turn.
func (c *Controller) take(w *Workspace) (begun *act, waited bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.acts[w.ID] != nil {
		return nil, false
	}
	select {
	case c.places[w.Provider] <- struct{}{}:
	default:
		c.queued[w.ID] = true
		return nil, true
	}
	waited = c.queued[w.ID]
	delete(c.queued, w.ID)
	begun = &act{}
	c.acts[w.ID] = begun
	return begun, waited
}

// stop ends an act whose operation is over.
func (c *Controller) stop(id weir.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.acts[id]; a != nil {
		a.end()
	}
}

func (c *Controller) rest(w *Workspace) {
	c.mu.Lock()
	delete(c.acts, w.ID)
	c.mu.Unlock()
	<-c.places[w.Provider]
	c.poke()
}

// poke lets the next look come soon.
func (c *Controller) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// sure is an error if the operation is over, or the term. It is asked before whatever
// cannot be undone.
func (c *Controller) sure(ctx context.Context, w *Workspace) error {
	holds, err := c.leads.holds(ctx, w)
	if err == nil && !holds {
		return errOver
	}
	return err
}

// perform does one operation, from wherever an earlier try has left it.
func (c *Controller) perform(ctx context.Context, w *Workspace, volume provider.Volume) error {
	p := c.providers[w.Provider]
	if err := c.sure(ctx, w); err != nil {
		return err
	}
	switch w.Operation {
	case ladder.Provisioning:
		return p.Provision(ctx, w.ID, w.Mounts)
	case ladder.Restoring:
		return c.restore(ctx, p, w, volume)
	case ladder.Starting:
		return p.Start(ctx, provider.Spec{ID: w.ID, Op: *w.Op, Name: w.Name, Image: w.Image, Owner: w.Owner, Mounts: w.Mounts, Tell: c.seldom(ctx, w)})
	case ladder.Stopping:
		return p.Stop(ctx, w.ID)
	case ladder.Archiving:
		return c.archive(ctx, p, w, volume)
	case ladder.CreateEmptyArchive:
		return c.keep(ctx, w, w.Mounted, func(to io.Writer) (home.Meta, error) {
			return home.Seal(to, func(to io.Writer) (home.Summary, error) { return home.Empty(to, os.Getuid(), os.Getgid(), w.CreatedAt) })
		})
	case ladder.DeletingAll:
		if err := p.Stop(ctx, w.ID); err != nil {
			return err
		}
		return p.Remove(ctx, w.ID, volume)
	}
	return fmt.Errorf("there is no operation %s", w.Operation)
}

// leftover is a volume that is not the home, and in its place. The archive is there.
func leftover(w *Workspace, volume provider.Volume) bool {
	return ladder.Leftover(w.record(), ladder.Seen{Volume: true, Marker: volume.Marker, Mounts: volume.Mounts, Archive: true})
}

// panicked is an error that was a panic. Where, is for the log.
type panicked struct {
	what  any
	where []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.what) }

// guarded turns a panic into an error: one workspace must not take the others with it.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return f()
}

// restore brings the home back from its archive.
func (c *Controller) restore(ctx context.Context, p provider.Provider, w *Workspace, volume provider.Volume) error {
	if err := known(w); err != nil {
		return err
	}
	if leftover(w, volume) {
		// It may be all that there is: it goes when the archive is known to be whole.
		if err := c.readBack(ctx, w, w.ArchiveKey, *w.Archive); err != nil {
			return fmt.Errorf("read archive: %w", err)
		}
		if err := c.sure(ctx, w); err != nil {
			return err
		}
		if err := p.Remove(ctx, w.ID, volume); err != nil {
			return err
		}
	}
	body, _, err := c.config.Bucket.Get(ctx, w.ArchiveKey, 0, -1)
	if err != nil {
		return fmt.Errorf("read archive: %w", err)
	}
	whole := blob.Verify(body, w.Archive.SHA256, w.Archive.Size)
	defer whole.Close()
	counted := &reader{from: whole, report: c.report(ctx, w, "%d bytes are back")}
	return p.Restore(ctx, w.ID, counted, provider.Volume{Marker: w.ArchiveKey, Mounts: w.Mounts})
}

// known is an error if nothing says what the archive of a workspace has to be.
func known(w *Workspace) error {
	if w.Archive == nil {
		return fmt.Errorf("%w: nothing is known of it", errCorrupted)
	}
	return w.Archive.Readable()
}

// archive stores the home, reads it back, notes it, and only then takes the volume away.
func (c *Controller) archive(ctx context.Context, p provider.Provider, w *Workspace, volume provider.Volume) error {
	if w.ArchiveKey != archiveKey(w.ID, *w.Op) {
		err := c.keep(ctx, w, volume.Mounts, func(to io.Writer) (home.Meta, error) { return p.Archive(ctx, w.ID, volume, to) })
		if err != nil {
			return err
		}
	} else if err := known(w); err != nil {
		return err
	} else if err := c.readBack(ctx, w, w.ArchiveKey, *w.Archive); err != nil {
		// It was noted a while ago, and may have gone since. It is not written again: somebody
		// who was late may have read it back, and be about to take the volume away.
		return fmt.Errorf("read archive back: %w", err)
	}
	if err := c.sure(ctx, w); err != nil {
		return err
	}
	return p.Remove(ctx, w.ID, volume)
}

// corrupt is an archive that will not get better by reading it again.
func corrupt(err error) bool {
	return errors.Is(err, home.ErrRefused) || errors.Is(err, blob.ErrCorrupt) || errors.Is(err, errCorrupted)
}

// reasonOf is what an error means for the workspace. An archive that is broken when it is
// made can be made again; when it is needed, it is too late.
func reasonOf(op ladder.Operation, err error) ladder.Reason {
	switch {
	case corrupt(err) && op == ladder.Restoring:
		return ladder.ArchiveCorrupted
	case errors.Is(err, provider.ErrImage):
		return ladder.ImagePullFailed
	case errors.Is(err, context.DeadlineExceeded):
		return ladder.Unreachable
	}
	return ladder.ActionFailed
}
