package remote

import (
	"context"
	"crypto/md5" // #nosec G501 -- what S3 asks for to find damage on the way; nothing is guarded by it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/node/wire"
	"github.com/weirhq/weir/internal/problem"
)

// standstill is how long a transfer may make no progress before the try is given up.
const standstill = 30 * time.Second

// Upload stores an object of an attempt: directly in the bucket if the bucket has
// addresses and this machine reaches them, else through the server. A body that can be
// read twice survives a broken connection.
func (t *Transport) Upload(ctx context.Context, lease node.Lease, meta node.ArtifactMeta, body io.Reader) error {
	seeker, again := body.(io.ReadSeeker)
	if !again {
		_, _, err := t.through(ctx, lease, meta, body)
		return err
	}
	damage, err := measure(seeker, &meta)
	if err != nil {
		return err
	}
	offer := wire.Offer{Lease: wire.LeaseOf(lease), Object: wire.ObjectOf(meta)}
	var place wire.Place
	if err := t.post(ctx, "artifacts/begin", offer, &place, 0); err != nil {
		return err
	}
	if place.URL != "" {
		err := t.direct(ctx, place.URL, meta, damage, seeker)
		if err == nil {
			return t.post(ctx, "artifacts/commit", offer, nil, time.Minute)
		}
		if ctx.Err() != nil {
			return err
		}
		t.log.Info("the bucket did not take an object; it goes through the server", "name", meta.Name, "error", err)
	}
	return t.persist(ctx, time.Hour, func(ctx context.Context) (bool, time.Duration, error) {
		if _, err := seeker.Seek(0, io.SeekStart); err != nil {
			return false, 0, fmt.Errorf("read %s again: %w", meta.Name, err)
		}
		return t.through(ctx, lease, meta, seeker)
	})
}

// measure reads an object once to compute its properties, and returns to its start.
func measure(r io.ReadSeeker, meta *node.ArtifactMeta) (damage string, err error) {
	sum, check := sha256.New(), md5.New() // #nosec G401 -- see the import
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("read %s: %w", meta.Name, err)
	}
	size, err := io.Copy(io.MultiWriter(sum, check), r)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", meta.Name, err)
	}
	is := hex.EncodeToString(sum.Sum(nil))
	if meta.SHA256 != "" && meta.SHA256 != is || meta.Size > 0 && meta.Size != size {
		return "", fmt.Errorf("read %s: %w: it has changed since it was looked at", meta.Name, blob.ErrCorrupt)
	}
	meta.Size, meta.SHA256 = size, is
	return base64.StdEncoding.EncodeToString(check.Sum(nil)), nil
}

// direct uploads an object into the bucket.
func (t *Transport) direct(ctx context.Context, address string, meta node.ArtifactMeta, damage string, body io.ReadSeeker) error {
	const tries = 3
	for try := 1; ; try++ {
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read %s again: %w", meta.Name, err)
		}
		err := t.put(ctx, address, meta, damage, body)
		if err == nil || try == tries || !loop.Wait(ctx, pause(try), nil) {
			return err
		}
	}
}

func (t *Transport) put(ctx context.Context, address string, meta node.ArtifactMeta, damage string, body io.Reader) error {
	ctx, moving, done := watch(ctx, body)
	defer done()
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, address, moving)
	if err != nil {
		return errors.New("the address in the bucket is none") // its text is a secret
	}
	length(r, meta.Size)
	r.Header.Set("Content-MD5", damage)
	if meta.ContentType != "" {
		r.Header.Set("Content-Type", meta.ContentType)
	}
	response, err := t.bucket.Do(r)
	if err != nil {
		return fmt.Errorf("put %s into the bucket: %w", meta.Name, withoutAddress(err))
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the connection can be used again
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("put %s into the bucket: it answered %s", meta.Name, response.Status)
	}
	return nil
}

// withoutAddress removes the address from an error, because the address gives access to
// its holder.
func withoutAddress(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		return outer.Err
	}
	return err
}

// through uploads an object to the server.
func (t *Transport) through(ctx context.Context, lease node.Lease, meta node.ArtifactMeta, body io.Reader) (again bool, after time.Duration, err error) {
	ctx, moving, done := watch(ctx, body)
	defer done()
	query := url.Values{"kind": {meta.Kind}, "name": {meta.Name}}
	if meta.SHA256 != "" {
		query.Set("sha256", meta.SHA256)
	}
	address := t.base.String() + prefix + "/agent/artifacts/" + lease.Task.String() + "/" + strconv.Itoa(lease.Attempt) + "?" + query.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, address, moving)
	if err != nil {
		return false, 0, err
	}
	length(r, meta.Size)
	r.Header.Set(wire.Fence, lease.Token)
	r.Header.Set("Content-Type", meta.ContentType)
	// The server reports a lost lease before the bytes are sent.
	r.Header.Set("Expect", "100-continue")
	response, err := t.ask(r)
	if err != nil {
		return transient(err), 0, t.unreachable(err)
	}
	defer response.Body.Close()
	return t.read(response, nil)
}

// length sets the length of the body. An empty body must be http.NoBody, or else its
// length would not be sent.
func length(r *http.Request, size int64) {
	r.ContentLength = size
	if size == 0 {
		r.Body = http.NoBody
	}
}

// Fetch opens an input: directly from the bucket if the bucket has addresses and this
// machine reaches them, else through the server.
func (t *Transport) Fetch(ctx context.Context, lease node.Lease, key string) (io.ReadCloser, error) {
	object, err := t.fetch(ctx, wire.Wanted{Lease: wire.LeaseOf(lease), Key: key})
	if errors.Is(err, errBucket) && ctx.Err() == nil {
		t.log.Info("the bucket did not give an object; it comes through the server", "error", err)
		object, err = t.fetch(ctx, wire.Wanted{Lease: wire.LeaseOf(lease), Key: key, Through: true})
	}
	return object, err
}

// errBucket means that the bucket failed, not the server.
var errBucket = errors.New("the bucket did not give the object")

func (t *Transport) fetch(ctx context.Context, wanted wire.Wanted) (object io.ReadCloser, err error) {
	text, err := json.Marshal(wanted)
	if err != nil {
		return nil, err
	}
	err = t.persist(ctx, time.Hour, func(context.Context) (bool, time.Duration, error) {
		// The object outlives the try, so it is bound to the caller's context.
		response, err := t.send(ctx, http.MethodPost, "/agent/inputs/content", text, map[string]string{"Accept": "*/*"})
		switch {
		case err != nil:
			return transient(err), 0, t.unreachable(err)
		case response.StatusCode == http.StatusOK:
			object = response.Body
			return false, 0, nil
		case response.StatusCode == http.StatusSeeOther:
			_ = response.Body.Close() // it holds nothing
			object, err = t.fromBucket(ctx, response.Header.Get("Location"))
			return false, 0, err
		}
		defer response.Body.Close()
		again, after, err := t.read(response, nil)
		if err == nil {
			err = problem.New(problem.Failed, "use the same version on both sides", "%s answered %s", t.Server(), response.Status)
		}
		return again, after, err
	})
	return object, err
}

// fromBucket reads an object without the credential.
func (t *Transport) fromBucket(ctx context.Context, address string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: its address is none", errBucket)
	}
	response, err := t.bucket.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBucket, withoutAddress(err))
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close() // its text is meant for clients of the bucket
		return nil, fmt.Errorf("%w: it answered %s", errBucket, response.Status)
	}
	return response.Body, nil
}

// watch gives up a body that has made no progress for too long, because a connection may
// break silently.
func watch(ctx context.Context, body io.Reader) (context.Context, io.Reader, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	moving := &moving{r: body}
	go func() {
		for seen := moving.steps.Load(); loop.Wait(ctx, standstill, nil); {
			now := moving.steps.Load()
			if now == seen {
				cancel(fmt.Errorf("it stood still for %s", standstill))
				return
			}
			seen = now
		}
	}()
	return ctx, moving, func() { cancel(nil) }
}

// moving counts the reads of a body.
type moving struct {
	r     io.Reader
	steps atomic.Int64
}

// Read implements [io.Reader].
func (m *moving) Read(b []byte) (int, error) {
	m.steps.Add(1)
	return m.r.Read(b)
}
