package httpapi

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/node/wire"
	"github.com/weirhq/weir/internal/problem"
)

const (
	// mostArtifact is the largest object that a bucket takes in one upload.
	mostArtifact = 5 << 30
	// stall is how long the transfer of an object may make no progress before it is
	// aborted. The whole transfer has no deadline, because a link may be slow.
	stall = 30 * time.Second
	// carriesEach limits the objects that one subject moves through the server at once.
	carriesEach, carriesMost = 16, 2_000
)

// OfferInput is an artifact that needs an address, or has been uploaded to one.
type OfferInput struct{ Body wire.Offer }

// agentBegin returns the address where the node may put an object, if the bucket has
// addresses.
func (a *API) agentBegin(ctx context.Context, in *OfferInput) (*Told[wire.Place], error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	if err := smallEnough(in.Body.Object.Size); err != nil {
		return nil, err
	}
	url, err := desk.Presign(ctx, in.Body.Lease.Node(), in.Body.Object.Node())
	if err != nil && !errors.Is(err, blob.ErrNoPresign) {
		return nil, err
	}
	return &Told[wire.Place]{Cache: "no-store", Body: wire.Place{URL: url}}, nil
}

// agentCommit records an object that the node has put into the bucket itself, if it
// matches its declared size and sum.
func (a *API) agentCommit(ctx context.Context, in *OfferInput) (*Empty, error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	return nil, damaged(desk.Commit(ctx, in.Body.Lease.Node(), in.Body.Object.Node()))
}

func (a *API) agentInputs(ctx context.Context, in *HeldInput) (*One[wire.Inputs], error) {
	desk, err := a.desk(ctx)
	if err != nil {
		return nil, err
	}
	inputs, err := desk.Inputs(ctx, in.Body.Lease.Node())
	return one(wire.InputsOf(inputs), err)
}

func smallEnough(size int64) error {
	if size > mostArtifact {
		return problem.New(problem.TooLarge, "split it", "an artifact has at most %d bytes", int64(mostArtifact))
	}
	return nil
}

// uploadParams document the upload, which has a handler of its own.
var uploadParams = []*huma.Param{
	{Name: "task", In: "path", Required: true, Description: "The task.", Schema: &huma.Schema{Type: huma.TypeString}},
	{Name: "attempt", In: "path", Required: true, Description: "Which attempt.", Schema: &huma.Schema{Type: huma.TypeInteger}},
	{Name: wire.Fence, In: "header", Required: true, Description: "The token of the lease.", Schema: &huma.Schema{Type: huma.TypeString}},
	{Name: "kind", In: "query", Description: "output (default), input or log.", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"input", "output", "log"}}},
	{Name: "name", In: "query", Required: true, Description: "The name of the artifact.", Schema: &huma.Schema{Type: huma.TypeString}},
	{Name: "sha256", In: "query", Description: "What the bytes must be, in 64 hexadecimal digits.", Schema: &huma.Schema{Type: huma.TypeString}},
}

func (a *API) agentUpload() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.upload(w, r); err != nil {
			a.refuse(w, r, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// upload copies an object from the node to the bucket. The server keeps nothing of it,
// and records nothing unless it arrived completely.
func (a *API) upload(w http.ResponseWriter, r *http.Request) error {
	desk, err := a.desk(r.Context())
	if err != nil {
		return err
	}
	lease, meta, err := uploadOf(r)
	if err != nil {
		return err
	}
	leave, err := a.carries.Take(auth.From(r.Context()))
	if err != nil {
		return err
	}
	defer leave()
	body := newPaced(w, r.Body)
	defer body.done()
	err = desk.Upload(r.Context(), lease, meta, body)
	if err != nil && body.broken {
		return withStatus(http.StatusBadRequest, problem.New(problem.Invalid, "send it again", "the object did not arrive whole"))
	}
	return damaged(err)
}

// damaged is the refusal of an object in the bucket that does not match its declaration.
func damaged(err error) error {
	if !errors.Is(err, blob.ErrCorrupt) {
		return err
	}
	p := problem.Refuse("sha256", "send it again", "what arrived is not what was said")
	p.Err = err
	return p
}

// uploadOf reads the declaration of an object from the query and the headers.
func uploadOf(r *http.Request) (node.Lease, node.ArtifactMeta, error) {
	var lease node.Lease
	var meta node.ArtifactMeta
	task, err := weir.ParseID(r.PathValue("task"))
	if err != nil {
		return lease, meta, problem.Refuse("task", "give the whole id", "is not an id")
	}
	attempt, err := strconv.Atoi(r.PathValue("attempt"))
	if err != nil || attempt < 1 || attempt > 32767 {
		return lease, meta, problem.Refuse("attempt", "attempts count from 1", "is not a number of an attempt")
	}
	query := r.URL.Query()
	meta = node.ArtifactMeta{Kind: query.Get("kind"), Name: query.Get("name"), Size: r.ContentLength, ContentType: r.Header.Get("Content-Type"), SHA256: query.Get("sha256")}
	switch {
	case meta.Kind == "":
		meta.Kind = "output"
	case meta.Kind != "input" && meta.Kind != "output" && meta.Kind != "log":
		return lease, meta, problem.Refuse("kind", "input, output or log", "there is no such kind")
	}
	if _, err := hex.DecodeString(meta.SHA256); err != nil || meta.SHA256 != "" && len(meta.SHA256) != 64 {
		return lease, meta, problem.Refuse("sha256", "64 hexadecimal digits", "is not a SHA-256")
	}
	if r.ContentLength < 0 {
		return lease, meta, withStatus(http.StatusLengthRequired, problem.New(problem.Invalid, "send Content-Length", "the size of the object is not said"))
	}
	if err := smallEnough(r.ContentLength); err != nil {
		return lease, meta, err
	}
	return node.Lease{Task: task, Attempt: attempt, Token: r.Header.Get(wire.Fence)}, meta, nil
}

// agentInput serves an input: the address in the bucket, or, if there is none or the node
// cannot reach it, the bytes themselves.
func (a *API) agentInput() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.input(w, r); err != nil {
			a.refuse(w, r, err)
		}
	})
}

// input returns an error only before anything was sent.
func (a *API) input(w http.ResponseWriter, r *http.Request) error {
	desk, err := a.desk(r.Context())
	if err != nil {
		return err
	}
	text, err := readBody(w, r, bodyLimit, time.Now().Add(a.config.Timeout))
	if err != nil {
		return err
	}
	var in wire.Wanted
	if len(text) == 0 {
		text = []byte("{}")
	}
	if err := decode(text, &in); err != nil {
		return fmt.Errorf("%w: %w", weir.ErrInvalid, err)
	}
	if !in.Through {
		url, err := desk.PresignInput(r.Context(), in.Lease.Node(), in.Key)
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
	object, err := desk.Fetch(r.Context(), in.Lease.Node(), in.Key)
	if err != nil {
		return err
	}
	defer object.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	return a.carry(w, object)
}

// redirected redirects the client to the bucket. The address gives access to anyone who
// has it.
func redirected(w http.ResponseWriter, url string) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Location", url)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// carry sends an object. A truncated object must not look complete, so an error ends the
// connection.
func (a *API) carry(w http.ResponseWriter, object io.Reader) error {
	if _, err := io.Copy(newPacedWriter(w), object); err != nil {
		a.log.Debug("an object did not arrive whole", "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}
