package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
)

const (
	collectEvery = 4 * time.Hour
	collectMost  = 30 * time.Minute
	// orphanFor is how long nobody may have needed an archive before it goes.
	orphanFor = 2 * time.Hour
	// keepNewest is how many archives of a workspace are kept in any case.
	keepNewest = 3
	// uploadsFor is how long an upload may take before what is left of it goes.
	uploadsFor = 24 * time.Hour
	// collectAtOnce is how many archives go in one step.
	collectAtOnce = 100
)

// found is an archive in the bucket, or what there is of one.
type found struct {
	Key       string    `json:"key"`
	Workspace weir.ID   `json:"workspace"`
	Op        weir.ID   `json:"op"`
	Whole     bool      `json:"whole"`
	At        time.Time `json:"at"`
}

// collect removes archives that nobody has needed for a while. It removes nothing if the
// bucket could not be listed to its end, if it is not the one that has the archives, or if
// the database does not answer.
func (c *Controller) collect(ctx context.Context, now time.Time) (bool, error) {
	all, marked, err := c.everyArchive(ctx)
	if err != nil {
		return false, fmt.Errorf("list archives: %w", err)
	}
	if !marked { // the next look says so, or marks it
		return false, nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		return false, err
	}
	keys, err := c.leads.orphans(ctx, text)
	if err != nil {
		return false, fmt.Errorf("look for archives that nobody needs: %w", err)
	}
	for len(keys) > 0 {
		some := keys[:min(len(keys), collectAtOnce)]
		keys = keys[len(some):]
		if err := c.remove(ctx, some); err != nil {
			return false, err
		}
	}
	if _, err := c.config.Bucket.Sweep(ctx, now.Add(-uploadsFor)); err != nil {
		return false, fmt.Errorf("sweep uploads: %w", err)
	}
	return false, nil
}

// remove removes archives: first what makes them count as such, then they themselves. Who
// is cut off in between finds the rest the next time.
func (c *Controller) remove(ctx context.Context, keys []string) error {
	metas := make([]string, len(keys))
	for i, key := range keys {
		metas[i] = key + metaSuffix
	}
	if err := c.config.Bucket.Delete(ctx, metas...); err != nil {
		return fmt.Errorf("remove archives: %w", err)
	}
	if err := c.config.Bucket.Delete(ctx, keys...); err != nil {
		return fmt.Errorf("remove archives: %w", err)
	}
	n, err := c.leads.collected(ctx, keys)
	if err != nil {
		return fmt.Errorf("forget archives: %w", err)
	}
	c.config.Log.Info("removed archives that nobody needs", "archives", n)
	return nil
}

// everyArchive lists all of them, also those that are not whole. marked is as of archives.
func (c *Controller) everyArchive(ctx context.Context) (all []found, marked bool, err error) {
	all = []found{}
	at := map[string]int{}
	err = c.objects(ctx, func(o blob.Object) {
		marked = marked || o.Key == bucketMark
		id, op, ours := parseKey(o.Key)
		if !ours {
			return
		}
		key, meta := strings.CutSuffix(o.Key, metaSuffix)
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all = append(all, found{Key: key, Workspace: id, Op: op})
		}
		// The meta comes after the archive, in the list as in time.
		all[i].Whole = meta && known
		if o.ModifiedAt.After(all[i].At) {
			all[i].At = o.ModifiedAt
		}
	})
	return all, marked, err
}
