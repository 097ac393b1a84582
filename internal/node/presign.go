package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/problem"
)

const (
	// putFor and getFor are how long an address in the bucket works: long enough
	// for a slow link, short enough to be worth little when it leaks.
	putFor, getFor = 15 * time.Minute, time.Hour
	// rereadMost is up to which size an object that a node has put into the
	// bucket itself is read back and compared. A larger one is guarded by the
	// bucket alone, which was told its MD5.
	rereadMost = 64 << 20
)

// Presign is where the node may put an artifact of a leased task itself; then
// [Desk.Commit] records it. A bucket that cannot do so is blob.ErrNoPresign.
func (d *Desk) Presign(ctx context.Context, lease Lease, meta ArtifactMeta) (string, error) {
	key, err := d.objectKey(ctx, lease, meta)
	if err != nil {
		return "", err
	}
	url, err := d.bucket.Presign(ctx, http.MethodPut, key, putFor)
	return url, wrap("presign", err)
}

// Commit records an artifact that the node has put into the bucket itself, if
// what lies there is what it says.
func (d *Desk) Commit(ctx context.Context, lease Lease, meta ArtifactMeta) error {
	key, err := d.objectKey(ctx, lease, meta)
	if err != nil {
		return err
	}
	object, err := d.bucket.Stat(ctx, key)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return problem.New(problem.Conflict, "put it there first, then commit", "the bucket has no %s of this attempt", meta.Name)
	case err != nil:
		return wrap("commit", err)
	case object.Size != meta.Size:
		return fmt.Errorf("commit %s: %w: it has %d bytes, and should have %d", meta.Name, blob.ErrCorrupt, object.Size, meta.Size)
	}
	if meta.SHA256 != "" && meta.Size <= rereadMost {
		if err := d.reread(ctx, key, meta); err != nil {
			return fmt.Errorf("commit %s: %w", meta.Name, err)
		}
	}
	return d.recordArtifact(ctx, lease, meta, key)
}

// reread compares an object with what it should be.
func (d *Desk) reread(ctx context.Context, key string, meta ArtifactMeta) error {
	object, _, err := d.bucket.Get(ctx, key, 0, -1)
	if err != nil {
		return err
	}
	checked := blob.Verify(object, meta.SHA256, meta.Size)
	_, err = io.Copy(io.Discard, checked)
	return errors.Join(err, checked.Close())
}

// PresignInput is where the node may read an input of a leased task itself.
func (d *Desk) PresignInput(ctx context.Context, lease Lease, key string) (string, error) {
	if d.bucket == nil {
		return "", ErrNoBucket
	}
	inputs, err := d.Inputs(ctx, lease)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(inputs, func(o InputObject) bool { return o.Key == key }) {
		return "", wrap("presign input", errors.Join(weir.ErrNotFound, fmt.Errorf("%q is no input of this task", key)))
	}
	url, err := d.bucket.Presign(ctx, http.MethodGet, key, getFor)
	return url, wrap("presign input", err)
}
