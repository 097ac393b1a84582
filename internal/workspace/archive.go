package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/provider"
)

const (
	prefix     = "workspaces/"
	archive    = "home.tar.zst"
	metaSuffix = ".meta"
)

// errMeta is a meta that did not come back as it was stored. It may the next time.
var errMeta = errors.New("what is kept beside the archive did not come back as it was stored")

// errCorrupted is an archive that is not what was stored.
var errCorrupted = errors.New("the archive in the bucket is not what was stored")

// archiveKey is where the archive of an operation is.
func archiveKey(id, op weir.ID) string {
	return prefix + id.String() + "/" + op.String() + "/" + archive
}

// parseKey reads whose archive an object belongs to, and which. False: it is none of ours.
func parseKey(key string) (id, op weir.ID, ours bool) {
	parts := strings.Split(strings.TrimPrefix(key, prefix), "/")
	if len(parts) != 3 || parts[2] != archive && parts[2] != archive+metaSuffix {
		return id, op, false
	}
	id, err := weir.ParseID(parts[0])
	if err == nil {
		op, err = weir.ParseID(parts[1])
	}
	return id, op, err == nil && strings.TrimSuffix(key, metaSuffix) == archiveKey(id, op)
}

// keep stores an archive for the operation of w and notes it. mounted is the number on
// the volume that it is made of.
func (c *Controller) keep(ctx context.Context, w *Workspace, mounted int64, pack func(io.Writer) (home.Meta, error)) error {
	key := archiveKey(w.ID, *w.Op)
	meta, err := store(ctx, c.config.Bucket, key, func(to io.Writer) (home.Meta, error) {
		return pack(&writer{to: to, report: c.report(ctx, w, "%d bytes are stored")})
	})
	if err != nil {
		return fmt.Errorf("store archive: %w", err)
	}
	c.tell(ctx, w, "the archive is stored and read back")
	if err := c.readBack(ctx, w, key, meta); err != nil {
		return fmt.Errorf("read archive back: %w", err)
	}
	if err := seal(ctx, c.config.Bucket, key, meta); err != nil {
		return fmt.Errorf("store archive: %w", err)
	}
	counts, err := c.leads.archived(ctx, w, key, meta, mounted)
	if err != nil {
		return fmt.Errorf("note archive: %w", err)
	}
	if !counts {
		return fmt.Errorf("note archive: %w", provider.ErrStale)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[key] = true
	w.ArchiveKey = key
	return nil
}

// forget forgets what was noted before the look that begins.
func (c *Controller) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.kept)
}

// store packs into the bucket. It says what was packed, as whoever packed it says.
func store(ctx context.Context, bucket blob.Bucket, key string, pack func(io.Writer) (home.Meta, error)) (home.Meta, error) {
	read, write := io.Pipe()
	type packed struct {
		home.Meta
		error
	}
	done := make(chan packed, 1)
	go func() {
		var meta home.Meta
		err := guarded(func() (err error) {
			meta, err = pack(write)
			return err
		})
		_ = write.CloseWithError(err) // never fails; without an error it is the end
		done <- packed{meta, err}
	}()
	_, err := bucket.Put(ctx, key, read, -1, "application/zstd")
	_ = read.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // so that packing ends, too
	result := <-done
	return result.Meta, errors.Join(result.error, err)
}

// seal stores the meta, and reads it back. It comes last: without it there is no archive.
func seal(ctx context.Context, bucket blob.Bucket, key string, meta home.Meta) error {
	text, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	if _, err := bucket.Put(ctx, key+metaSuffix, bytes.NewReader(text), int64(len(text)), "application/json"); err != nil {
		return err
	}
	body, _, err := bucket.Get(ctx, key+metaSuffix, 0, -1)
	if err != nil {
		return err
	}
	back, err := io.ReadAll(io.LimitReader(body, int64(len(text))+1))
	if err = errors.Join(err, body.Close()); err == nil && !bytes.Equal(back, text) {
		return errMeta
	}
	return err
}

// readBack reads an archive, which is progress of the operation of w.
func (c *Controller) readBack(ctx context.Context, w *Workspace, key string, meta home.Meta) error {
	return readBack(ctx, c.config.Bucket, key, meta, c.config.Limits, c.report(ctx, w, "%d bytes are read back"))
}

// readBack reads what the bucket has, to its end, and compares it with what was packed.
func readBack(ctx context.Context, bucket blob.Bucket, key string, meta home.Meta, limits home.Limits, report func(n int)) error {
	body, _, err := bucket.Get(ctx, key, 0, -1)
	if err != nil {
		return err
	}
	whole := blob.Verify(body, meta.SHA256, meta.Size)
	sum, err := home.Verify(ctx, &reader{from: whole, report: report}, limits)
	if err = errors.Join(err, whole.Close()); err != nil {
		return err
	}
	if sum.Entries != meta.Entries || sum.Bytes != meta.Bytes {
		return fmt.Errorf("%w: %d entries were packed, %d came back", errCorrupted, meta.Entries, sum.Entries)
	}
	return nil
}

// tell notes that an operation gets on. If it cannot be noted, it gets on all the same.
func (c *Controller) tell(ctx context.Context, w *Workspace, says string) {
	if err := c.leads.progress(ctx, w, says); err != nil {
		c.config.Log.Debug("progress could not be noted", "workspace", w.ID, "error", err)
	}
}

// report tells now and then how much has passed.
func (c *Controller) report(ctx context.Context, w *Workspace, format string) func(n int) {
	total, tell := int64(0), c.seldom(ctx, w)
	return func(n int) {
		if total += int64(n); n > 0 {
			tell(fmt.Sprintf(format, total))
		}
	}
}

// seldom tells that an operation gets on, but not all the time.
func (c *Controller) seldom(ctx context.Context, w *Workspace) func(says string) {
	last := time.Now()
	return func(says string) {
		if now := time.Now(); now.Sub(last) > c.config.Tell {
			last = now
			c.tell(ctx, w, says)
		}
	}
}

type writer struct {
	to     io.Writer
	report func(int)
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.report(n)
	return n, err
}

type reader struct {
	from   io.Reader
	report func(int)
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.report(n)
	return n, err
}
