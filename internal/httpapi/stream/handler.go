package stream

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline"
)

// Config configures the streams. Hub is required; the zero value of all other fields
// works.
type Config struct {
	Hub *timeline.Hub
	// Subject finds the subject of a request anew. An error ends the stream, unless it
	// only means that the database is away. If nil, the subject of the request's context
	// stays.
	Subject func(*http.Request) (auth.Subject, error)
	// Allow reports whether the subject may see the event. If nil, all events but the
	// audit are visible to every subject who may read events.
	Allow func(auth.Subject, *timeline.Event) bool
	// Refuse answers a request that gets no stream. Nil means problem+json.
	Refuse func(http.ResponseWriter, *http.Request, error)
	// MaxStreams limits the streams of this server, MaxPerSubject those of one user,
	// token or node. Zero means 10,000 and 100.
	MaxStreams, MaxPerSubject int
	// Beat is the time between two heartbeats. Zero means 30 s.
	Beat time.Duration
	// Recheck is the time between two checks of the subject. Zero means 60 s.
	Recheck time.Duration
	// WriteTimeout is how long a client may take to receive one write. Zero means 10 s.
	WriteTimeout time.Duration
	// Count is notified of streams. If nil, nothing is counted.
	Count Counter
	Log   *slog.Logger
}

// Counter measures streams.
type Counter interface {
	Opened()
	Closed()
	// Dropped is called before Closed when the server ended the stream, with one of a few
	// causes: slow, revoked, stopped.
	Dropped(cause string)
	Sent(events int)
}

// nobody is a Counter that counts nothing.
type nobody struct{}

func (nobody) Opened()        {}
func (nobody) Closed()        {}
func (nobody) Dropped(string) {}
func (nobody) Sent(int)       {}

func (c Config) withDefaults() Config {
	c.MaxStreams = cmp.Or(c.MaxStreams, 10_000)
	c.MaxPerSubject = cmp.Or(c.MaxPerSubject, 100)
	c.Beat = cmp.Or(c.Beat, 30*time.Second)
	c.Recheck = cmp.Or(c.Recheck, time.Minute)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 10*time.Second)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Subject == nil {
		c.Subject = func(r *http.Request) (auth.Subject, error) { return auth.From(r.Context()), nil }
	}
	if c.Refuse == nil {
		c.Refuse = refuse
	}
	if c.Count == nil {
		c.Count = nobody{}
	}
	return c
}

// Ends returns the user whose streams may have to end after an event, because the user
// lost a right. It is for [timeline.Options.Mark].
func Ends(e *timeline.Event) string {
	if e.Kind != auditKind {
		return ""
	}
	switch e.Type {
	case "user_disabled", "user_deleted", "role_set", "token_revoked", "session_revoked", "password_set", "node_revoked":
		return e.Subject
	}
	return ""
}

// Handler serves the streams.
type Handler struct {
	config Config
	seats  *door.Seats
	shared batches
	life   context.Context
	end    context.CancelFunc
}

// openWithin is how long a request waits for the hub to open.
const openWithin = 10 * time.Second

// errClosed ends the streams of a server that stops.
var errClosed = problem.New(problem.Unreachable, "connect again: another server goes on from the same place", "the server is stopping")

// New makes a handler. Close it before the server waits for its requests to
// end: http.Server.RegisterOnShutdown.
func New(config Config) *Handler {
	config = config.withDefaults()
	life, end := context.WithCancel(context.Background())
	return &Handler{config: config, life: life, end: end, seats: door.NewSeats(config.MaxStreams, config.MaxPerSubject)}
}

// Close ends all streams now, and refuses new ones.
func (h *Handler) Close() { h.end() }

// Streams returns the number of open streams.
func (h *Handler) Streams() int { return h.seats.Taken() }

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.serve(w, r); err != nil {
		h.config.Refuse(w, r, err)
	}
}

// serve returns an error only before anything was sent.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	subject := auth.From(r.Context())
	if err := auth.Allow(subject, auth.Read, auth.Object{Kind: "event"}); err != nil {
		return err
	}
	q, err := parse(r)
	if err != nil {
		return err
	}
	leave, err := h.seats.Take(subject)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(h.life, func() { cancel(errClosed) })()

	s := &stream{handler: h, config: &h.config, request: r, fold: q.fold, out: http.NewResponseController(w), w: w}
	s.become(subject)
	if s.plain = q.everything() && h.config.Allow == nil; !s.plain {
		q.filter.Match = s.allow
	}
	open, stop := context.WithTimeout(ctx, openWithin)
	s.follower, err = h.config.Hub.Follow(open, q.after, q.filter)
	stop()
	switch {
	case err == nil:
	case errors.Is(context.Cause(ctx), errClosed):
		return errClosed
	default:
		return err
	}
	defer s.follower.Close()
	h.config.Count.Opened()
	defer h.config.Count.Closed()
	err = s.run(ctx)
	if cause := dropped(ctx, err); cause != "" {
		h.config.Count.Dropped(cause)
	}
	h.config.Log.Debug("a stream has ended", "subject", subject.By(), "because", err)
	return nil
}

// dropped returns why the server ended a stream, or "" if the client did.
func dropped(ctx context.Context, err error) string {
	var refused *problem.Problem
	switch {
	case errors.Is(context.Cause(ctx), errClosed):
		return "stopped"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "slow"
	case errors.As(err, &refused) && (refused.Kind == problem.Unauthenticated || refused.Kind == problem.Forbidden):
		return "revoked"
	}
	return ""
}
