package workspace_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// longBucket lists more than fits on a page, and notes until when each page may take.
type longBucket struct {
	blob.Bucket
	until []time.Time
}

func (b *longBucket) List(ctx context.Context, prefix, after string, limit int) ([]blob.Object, error) {
	until, bound := ctx.Deadline()
	if !bound {
		return nil, errors.New("a listing has no end")
	}
	if b.until = append(b.until, until); len(b.until)%3 == 0 {
		return b.Bucket.List(ctx, prefix, after, limit)
	}
	return make([]blob.Object, limit), nil
}

// How many archives there are says nothing about whether the bucket answers: each page of
// a list has its time.
func TestEachPageOfAListHasItsTime(t *testing.T) {
	t.Parallel()
	var bucket *longBucket
	r := newRig(t, func(r *rig, c *workspace.Config) {
		bucket = &longBucket{Bucket: r.bucket}
		c.Bucket = bucket
	})
	r.tick()
	if n := len(bucket.until); n != 3 || !bucket.until[1].After(bucket.until[0]) || !bucket.until[2].After(bucket.until[1]) {
		t.Errorf("%v", bucket.until)
	}
}

// nosyBucket looks at what is told of an operation, whenever an archive was read.
type nosyBucket struct {
	blob.Bucket
	read func()
}

func (b *nosyBucket) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, blob.Object, error) {
	body, o, err := b.Bucket.Get(ctx, key, offset, length)
	if err != nil || !strings.HasSuffix(key, ".zst") {
		return body, o, err
	}
	return nosy{body, b.read}, o, nil
}

type nosy struct {
	io.ReadCloser
	read func()
}

func (n nosy) Close() error { n.read(); return n.ReadCloser.Close() }

// To read an archive back is progress, however long that takes.
func TestReadingBackIsProgress(t *testing.T) {
	t.Parallel()
	var says []string
	var id weir.ID
	r := newRig(t, func(r *rig, c *workspace.Config) {
		c.Tell = time.Nanosecond
		c.Bucket = &nosyBucket{Bucket: r.bucket, read: func() { says = append(says, r.get(id).OpSays) }}
	})
	id = r.create("one", ladder.Standby)
	r.reach(id, ladder.Standby)
	r.want(id, ladder.Archived)
	r.reach(id, ladder.Archived)
	if len(says) != 1 || !strings.HasSuffix(says[0], "bytes are read back") {
		t.Errorf("%q", says)
	}
	r.want(id, ladder.Standby)
	r.reach(id, ladder.Standby)
	if len(says) != 2 || !strings.HasSuffix(says[1], "bytes are back") {
		t.Errorf("%q", says)
	}
}

// An archive of a format that this version does not know is not touched, and said to be so.
func TestAnArchiveOfAnotherFormat(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.create("one", ladder.Archived)
	r.reach(id, ladder.Archived)
	r.exec(`update weir.workspaces set archive_meta = archive_meta || '{"format": 2}' where id = $1`, id)
	r.want(id, ladder.Standby)
	w := r.reach(id, ladder.Error)
	if w.Error != ladder.ArchiveCorrupted || !strings.Contains(w.ErrorSays, "it is of format 2, and this version reads 1") {
		t.Errorf("%+v", w)
	}
	if _, err := r.bucket.Stat(t.Context(), w.ArchiveKey); err != nil {
		t.Error(err)
	}
}
