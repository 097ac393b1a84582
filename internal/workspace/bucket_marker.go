package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/problem"
)

// bucketMark is an object that says which bucket has the archives. Without it an empty
// folder, such as that of a disk that is not mounted, would pass for the loss of them all.
const bucketMark = prefix + ".bucket"

const markText = "Weir keeps the archives of workspaces here. As long as this object is missing, it takes this for another bucket and does nothing.\n"

// errOther is a bucket that is not the one that has the archives.
var errOther = problem.New(problem.Conflict, "bring the right one back; if the archives are lost for good, store an empty object of that name",
	"it is not the one that has the archives, for %s is not there", bucketMark)

// markBucket marks a bucket that has no mark as the one that has the archives. archived: there
// are archives already, so they must be in another one. A mark that does not come back is
// none: what is archived without it would not be found again.
func markBucket(ctx context.Context, bucket blob.Bucket, archived bool) error {
	if archived {
		return errOther
	}
	_, err := bucket.Put(ctx, bucketMark, strings.NewReader(markText), int64(len(markText)), "text/plain; charset=utf-8")
	if err == nil {
		_, err = bucket.Stat(ctx, bucketMark)
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", bucketMark, err)
	}
	return nil
}

// troubled adds to the troubles of a look what the database knows better: that the bucket
// is another one, and that nobody here runs some of the workspaces.
func (c *Controller) troubled(ctx context.Context, seen world, troubles map[string]string) error {
	archived, providers, err := c.store.stock(ctx)
	if err != nil {
		return err
	}
	for _, name := range providers {
		if c.providers[name] == nil && name != bucketName {
			troubles[name] = "no server that leads offers the provider " + name
		}
	}
	if seen.marked || troubles[bucketName] != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.LookMost)
	defer cancel()
	if err := markBucket(ctx, c.config.Bucket, archived); errors.Is(err, errOther) {
		troubles[bucketName] = fmt.Sprintf("%s: %s: %s", bucketName, errOther.What, errOther.Next)
	} else if err != nil {
		troubles[bucketName] = fmt.Sprintf("%s: %v", bucketName, err)
	}
	return nil
}
