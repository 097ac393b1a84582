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
	// putFor and getFor are how long an address in the bucket works: long enough for a
	// slow link, short enough to be of little value when it leaks.
	putFor, getFor = 15 * time.Minute, time.Hour
	// carryMost is the size up to which an object that a node uploaded itself is read and
	// compared while it is moved to its place. A larger object is copied by the bucket,
	// which was given its MD5.
	carryMost = 64 << 20
)

// Presign returns an address to which the node may upload an artifact of a leased task
// itself; then [Desk.Commit] records it. The address is not the artifact's final place,
// because a recorded artifact must not change and the address stays valid for longer. For
// a bucket without addresses it returns blob.ErrNoPresign.
func (d *Desk) Presign(ctx context.Context, lease Lease, meta ArtifactMeta) (string, error) {
	key, err := d.objectKey(ctx, lease, meta)
	if err != nil {
		return "", err
	}
	url, err := d.bucket.Presign(ctx, http.MethodPut, blob.Incoming(key), putFor)
	return url, wrap("presign", err)
}

// Commit moves an artifact that the node has uploaded itself to its place and records it,
// if its content is what the node says.
func (d *Desk) Commit(ctx context.Context, lease Lease, meta ArtifactMeta) error {
	key, err := d.objectKey(ctx, lease, meta)
	if err != nil {
		return err
	}
	from := blob.Incoming(key)
	object, err := d.bucket.Stat(ctx, from)
	if errors.Is(err, blob.ErrNotFound) {
		// It is in its place already, and the answer to that call was lost.
		from = key
		object, err = d.bucket.Stat(ctx, from)
	}
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return problem.New(problem.Conflict, "put it there first, then commit", "the bucket has no %s of this attempt", meta.Name)
	case err != nil:
		return wrap("commit", err)
	case object.Size != meta.Size:
		return fmt.Errorf("commit %s: %w: it has %d bytes, and should have %d", meta.Name, blob.ErrCorrupt, object.Size, meta.Size)
	}
	if from == key {
		err = d.reread(ctx, key, meta)
	} else {
		meta.SHA256, err = d.place(ctx, from, key, meta)
	}
	if err != nil {
		return fmt.Errorf("commit %s: %w", meta.Name, err)
	}
	if err := d.recordArtifact(ctx, lease, meta, key); err != nil || from == key {
		return err
	}
	if err := d.bucket.Delete(ctx, from); err != nil {
		d.log.Info("an object that has its place was not removed where it came in; the garbage collector will", "error", err)
	}
	return nil
}

// place moves an object to its place. If the content is compared on the way, nothing is
// stored unless it matches, so an earlier object of that name stays.
func (d *Desk) place(ctx context.Context, from, key string, meta ArtifactMeta) (sha256 string, err error) {
	if meta.Size > d.carryMost {
		if err := d.bucket.Copy(ctx, from, key); err != nil {
			return "", err
		}
		object, err := d.bucket.Stat(ctx, key)
		if err == nil && object.Size != meta.Size {
			err = fmt.Errorf("%w: it has %d bytes, and should have %d", blob.ErrCorrupt, object.Size, meta.Size)
		}
		return meta.SHA256, err
	}
	body, _, err := d.bucket.Get(ctx, from, 0, -1)
	if err != nil {
		return "", err
	}
	checked := blob.Verify(body, meta.SHA256, meta.Size)
	_, sha256, err = blob.Upload(ctx, d.bucket, key, checked, meta.Size, meta.ContentType)
	return sha256, errors.Join(err, checked.Close())
}

// reread compares an object with its expected content, unless it is large.
func (d *Desk) reread(ctx context.Context, key string, meta ArtifactMeta) error {
	if meta.SHA256 == "" || meta.Size > d.carryMost {
		return nil
	}
	object, _, err := d.bucket.Get(ctx, key, 0, -1)
	if err != nil {
		return err
	}
	checked := blob.Verify(object, meta.SHA256, meta.Size)
	_, err = io.Copy(io.Discard, checked)
	return errors.Join(err, checked.Close())
}

// PresignInput returns an address from which the node may read an input of a leased task
// itself.
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
