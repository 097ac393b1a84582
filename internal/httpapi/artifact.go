package httpapi

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// contentFor is how long a presigned address in the bucket works.
const contentFor = time.Hour

// bucket returns the bucket of artifacts and logs.
func (a *API) bucket() (blob.Bucket, error) {
	if a.config.Bucket == nil {
		return nil, problem.New(problem.NotFound, "start the server with a bucket: folder:///path or s3://host/bucket", "this server has no bucket")
	}
	return a.config.Bucket, nil
}

// contentParams document the content, which has a handler of its own.
var contentParams = []*huma.Param{
	{Name: "artifact", In: "path", Required: true, Description: "The id of the artifact.", Schema: &huma.Schema{Type: huma.TypeInteger}},
	{Name: "through", In: "query", Description: "true: give the bytes, also where the bucket could.", Schema: &huma.Schema{Type: huma.TypeBoolean}},
}

func (a *API) artifactContent() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.content(w, r); err != nil {
			a.refuse(w, r, err)
		}
	})
}

// content answers with the address of an artifact in the bucket, or with its bytes. It
// returns an error only before anything was sent.
func (a *API) content(w http.ResponseWriter, r *http.Request) error {
	bucket, err := a.bucket()
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(r.PathValue("artifact"), 10, 64)
	if err != nil || id < 1 {
		return problem.Refuse("artifact", "give its number", "is not the id of an artifact")
	}
	query, err := queryOf(r, "through")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.config.Timeout)
	defer cancel()
	artifact, err := a.config.Store.Artifact(ctx, id)
	switch {
	case err != nil:
		return err
	case artifact.Bucket != bucket.Name():
		return problem.New(problem.NotFound, "read it there", "the artifact lies in another bucket: %s", artifact.Bucket)
	case !artifact.Placed():
		return problem.New(problem.NotFound, "", "the artifact was recorded where none of its task can lie")
	}
	if query.Get("through") != "true" {
		url, err := bucket.Presign(ctx, http.MethodGet, artifact.Key, contentFor)
		if err == nil {
			return redirected(w, url)
		}
		if !errors.Is(err, blob.ErrNoPresign) {
			return err
		}
	}
	leave, err := a.carries.Take(auth.From(r.Context()))
	if err != nil {
		return err
	}
	defer leave()
	if _, err := bucket.Stat(ctx, artifact.Key); err != nil {
		return err
	}
	contentHead(w.Header(), artifact)
	object := &object{ctx: r.Context(), bucket: bucket, key: artifact.Key, size: artifact.Size}
	defer object.Close()
	http.ServeContent(&pacedAnswer{w, newPacedWriter(w)}, r, "", artifact.At, object)
	return nil
}

// contentHead keeps a browser from treating the output of a task as a page of the
// dashboard.
func contentHead(h http.Header, artifact view.Artifact) {
	h.Set("Content-Type", artifact.ContentType)
	if kind, _, err := mime.ParseMediaType(artifact.ContentType); err != nil || kind == "" {
		h.Set("Content-Type", "application/octet-stream")
	}
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(artifact.Name)}))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-cache")
	if artifact.SHA256 != "" {
		h.Set("ETag", `"`+artifact.SHA256+`"`)
	}
}

// object reads an object of a bucket from any offset.
type object struct {
	ctx    context.Context // of the request, because Read has no context argument
	bucket blob.Bucket
	key    string
	size   int64
	at     int64
	open   io.ReadCloser
}

// Read implements [io.Reader].
func (o *object) Read(b []byte) (int, error) {
	if o.at >= o.size {
		return 0, io.EOF
	}
	if o.open == nil {
		var err error
		if o.open, _, err = o.bucket.Get(o.ctx, o.key, o.at, -1); err != nil {
			return 0, err
		}
	}
	n, err := o.open.Read(b)
	o.at += int64(n)
	return n, err
}

// Seek implements [io.Seeker].
func (o *object) Seek(offset int64, whence int) (int64, error) {
	to := offset
	switch whence {
	case io.SeekCurrent:
		to += o.at
	case io.SeekEnd:
		to += o.size
	}
	if to < 0 {
		return 0, errors.New("seek before the beginning")
	}
	if to != o.at {
		if err := o.Close(); err != nil {
			return 0, err
		}
		o.at = to
	}
	return to, nil
}

// Close implements [io.Closer].
func (o *object) Close() error {
	if o.open == nil {
		return nil
	}
	open := o.open
	o.open = nil
	return open.Close()
}

// pacedAnswer writes the body of an answer at the client's pace.
type pacedAnswer struct {
	http.ResponseWriter
	body *pacedWriter
}

// Write implements [io.Writer].
func (p *pacedAnswer) Write(b []byte) (int, error) { return p.body.Write(b) }
