package workspace

import (
	"context"
	"fmt"
	"time"
)

// leftoverAgain is after how long something that could not be taken away is tried again.
const leftoverAgain = time.Hour

// removeLeftover takes away a volume that is not the home of an archived workspace: somebody who was
// late has left it, or an operation that ended in an error. It is no operation, for nobody
// waits for it and nothing becomes of it, and it makes way for every operation. The archive
// is read back first: the volume may be all that there is.
func (c *Controller) removeLeftover(w *Workspace, seen world, now time.Time) {
	volume, there := seen.volume(w)
	if !there || now.Before(c.leftovers[w.ID]) || !c.free(w) {
		return
	}
	begun, _ := c.take(w)
	if begun == nil {
		return
	}
	begun.spare = true
	c.leftovers[w.ID] = now.Add(leftoverAgain)
	c.spawn(w, begun, func(ctx context.Context, w *Workspace) error {
		if err := known(w); err != nil {
			return err
		}
		if err := c.readBack(ctx, w, w.ArchiveKey, *w.Archive); err != nil {
			return fmt.Errorf("read archive back: %w", err)
		}
		if rests, err := c.leads.rests(ctx, w); err != nil || !rests {
			return err
		}
		if err := c.providers[w.Provider].Remove(ctx, w.ID, volume); err != nil {
			return err
		}
		c.config.Log.Info("removed a volume that was left behind", "workspace", w.ID, "marker", volume.Marker, "mounts", volume.Mounts)
		return nil
	}, func(_ context.Context, w *Workspace, err error) {
		c.config.Log.Warn("a volume that was left behind stays", "workspace", w.ID, "error", err)
	})
}
