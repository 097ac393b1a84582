package workpages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

const (
	// previewBytes is how large a text may be to be shown, imageBytes a picture.
	previewBytes = 64 << 10
	imageBytes   = 32 << 20
	// stall is how long a browser may take to read a piece.
	stall = 30 * time.Second
)

// images are what a browser shows and cannot be made to run.
var images = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// artifactsView is a list of artifacts.
type artifactsView struct {
	rows          []view.Artifact
	bucket        bool
	newest, older string
}

func (w *pages) artifactList(r *site.Request, f view.ArtifactFilter) (artifactsView, error) {
	rows, err := w.Store.Artifacts(r.Context(), f, site.NamesPage(r))
	if err != nil {
		return artifactsView{}, err
	}
	v := artifactsView{bucket: w.Bucket != nil}
	v.rows, v.newest, v.older = site.NamesPaged(r, rows, func(a view.Artifact) string { return strconv.FormatInt(a.ID, 10) })
	return v, nil
}

func artifactPath(id int64) string { return ui.Path("artifacts", strconv.FormatInt(id, 10)) }

// artifactView is one artifact with what can be shown of it.
type artifactView struct {
	view.Artifact
	// text is what it says, if it is a short text; image that it is a picture.
	text  string
	image bool
	// why says why nothing is shown.
	why string
}

func (w *pages) anArtifact(r *site.Request) (view.Artifact, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		return view.Artifact{}, problem.New(problem.NotFound, "check the address", "%q is not the id of an artifact", r.PathValue("id"))
	}
	return w.Store.Artifact(r.Context(), id)
}

func (w *pages) artifact(r *site.Request) (site.View, error) {
	a, err := w.anArtifact(r)
	if err != nil {
		return site.View{}, err
	}
	v := artifactView{Artifact: a}
	w.preview(r.Context(), &v)
	return site.View{Head: ui.Head{Title: ui.Line(a.Name)}, Plain: true, Body: artifactPage(v), Still: true}, nil
}

// preview finds out what of an artifact can be shown. What goes wrong is said on
// the page: the facts are there anyway.
func (w *pages) preview(ctx context.Context, v *artifactView) {
	bucket, err := w.bucketOf(v.Artifact)
	if err != nil {
		v.why = reason(ctx, err)
		return
	}
	head, err := beginning(ctx, bucket, v.Key, previewBytes)
	switch {
	case err != nil:
		v.why = ui.Say(ctx, "artifact.unread", reason(ctx, err))
	case imageType(v.Artifact, head) != "":
		v.image = true
	case v.Size > previewBytes:
		v.why = ui.Say(ctx, "artifact.large")
	case !utf8.Valid(head) || strings.ContainsRune(string(head), 0):
		v.why = ui.Say(ctx, "artifact.binary")
	case len(head) == 0:
		v.why = ui.Say(ctx, "artifact.empty")
	default:
		v.text = string(head)
	}
}

// reason is an error in words.
func reason(ctx context.Context, err error) string {
	p := ui.Told(ctx, err)
	if p.Next == "" {
		return ui.Sentence(p.What) + "."
	}
	return ui.Sentence(p.What) + ": " + p.Next + "."
}

// bucketOf is where an artifact lies, if it is the bucket of this server.
func (w *pages) bucketOf(a view.Artifact) (blob.Bucket, error) {
	bucket, err := w.bucket()
	if err == nil && a.Bucket != bucket.Name() {
		err = problem.New(problem.NotFound, "read it there", "the artifact lies in another bucket, %s", a.Bucket)
	}
	if err == nil && !a.Placed() {
		err = problem.New(problem.NotFound, "", "the artifact was recorded where none of its task can lie")
	}
	return bucket, err
}

// beginning reads the first bytes of an object.
func beginning(ctx context.Context, bucket blob.Bucket, key string, n int64) ([]byte, error) {
	body, _, err := bucket.Get(ctx, key, 0, n)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(body, n))
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, fmt.Errorf("read the artifact: %w", err)
	}
	return data, nil
}

// imageType is the type of a picture that is what it says it is, or empty.
func imageType(a view.Artifact, head []byte) string {
	said, _, err := mime.ParseMediaType(a.ContentType)
	if found := http.DetectContentType(head); err == nil && found == said && slices.Contains(images, found) && a.Size <= imageBytes {
		return found
	}
	return ""
}

// artifactContent serves the bytes of an artifact: a picture to be shown, and
// everything else to be kept. Nothing of it can run as a page of ours.
func (w *pages) artifactContent(rw http.ResponseWriter, r *site.Request) error {
	a, err := w.anArtifact(r)
	if err != nil {
		return err
	}
	bucket, err := w.bucketOf(a)
	if err != nil {
		return err
	}
	kind, shown := "application/octet-stream", "attachment"
	if r.URL.Query().Has("inline") {
		head, err := beginning(r.Context(), bucket, a.Key, 512)
		if err != nil {
			return err
		}
		if image := imageType(a, head); image != "" {
			kind, shown = image, "inline"
		}
	}
	body, object, err := bucket.Get(r.Context(), a.Key, 0, -1)
	if err != nil {
		return err
	}
	body = blob.Verify(body, a.SHA256, object.Size)
	defer func() { _ = body.Close() }() // all of it was read, or nobody reads it
	h := rw.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.FormatInt(object.Size, 10))
	h.Set("Content-Disposition", mime.FormatMediaType(shown, map[string]string{"filename": path.Base(a.Name)}))
	return w.carry(rw, body)
}

// carry writes what somebody reads at their pace. A body that breaks must not
// look whole.
func (w *pages) carry(rw http.ResponseWriter, body io.Reader) error {
	control := http.NewResponseController(rw)
	piece := make([]byte, 64<<10)
	for {
		n, err := body.Read(piece)
		if n > 0 {
			_ = control.SetWriteDeadline(time.Now().Add(stall)) // a connection without deadlines is a test's
			if _, err := rw.Write(piece[:n]); err != nil {
				return nil // nobody reads any more
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			w.Log.Error("a download broke off", "error", err)
			panic(http.ErrAbortHandler)
		}
	}
}

func (w *pages) bucket() (blob.Bucket, error) {
	if w.Bucket == nil {
		return nil, problem.New(problem.NotFound, "start the server with a bucket: folder:///path or s3://host/bucket", "this server has no bucket")
	}
	return w.Bucket, nil
}
